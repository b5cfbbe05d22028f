import { type KubeObject, RELEASE } from '../../model/kube-object.ts'
import type { SecretReference } from '../../model/secret.ts'
import { existingCluster } from '../cluster/existing.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { AddonDeclaration, AddonSpec, ChartFields } from './schema.ts'

/* A chart that the person's own Helm installs on a cluster that croft does not run. */

export function installOf(spec: AddonSpec): 'apply' | 'helm' {
  return (spec.chart === undefined ? spec.install : spec.chart.install) ?? 'apply'
}

/** The release as one object of the add-on: everything that decides what Helm makes, secret values aside. */
export function releaseObject(
  name: string,
  namespace: string,
  chart: ChartFields,
): { readonly object: KubeObject; readonly secrets?: Readonly<Record<string, SecretReference>> } {
  const { git, repo, version, values = {}, valuesFrom } = chart
  const object: KubeObject = {
    ...RELEASE,
    metadata: { name, namespace },
    spec: {
      chart: git?.path ?? chart.name,
      version,
      ...(repo === undefined || chart.name.startsWith('oci://') ? {} : { repo }),
      ...(git === undefined ? {} : { git: { url: git.url, commit: git.commit } }),
      values,
    },
  }
  return valuesFrom === undefined ? { object } : { object, secrets: { values: secretReferenceOf(valuesFrom) } }
}

/** Returns fields that need Helm, if another tool installs the chart. */
export function releaseProblems(
  declaration: AddonDeclaration,
  chart: ChartFields,
  lookup: Lookup,
): readonly FieldProblem[] {
  const { spec } = declaration
  const at = spec.chart === undefined ? ['spec'] : ['spec', 'chart']
  const problems: FieldProblem[] = []
  const refuse = (path: FieldProblem['path'], message: string, hint: string) =>
    problems.push({ code: 'install-helm', path, message, hint })
  if (existingCluster(lookup, spec.cluster) === undefined)
    refuse(
      [...at, 'install'],
      `install: helm is for a Cluster of type existing; charts of ${spec.cluster} are installed by the Helm controller of its K3s`,
      'leave install out',
    )
  else if (lookup.isBounded?.(declaration) === true)
    refuse(
      [...at, 'install'],
      'Helm would get the credentials of the cluster, which croft gives it for no source with a grant',
      'leave install out, or let the source of the administrator declare it',
    )
  if (spec.handover !== undefined)
    refuse(
      ['spec', 'handover'],
      'a release of your own Helm is not handed over',
      'say install: apply, or leave handover out',
    )
  if (chart.failurePolicy === 'reinstall')
    refuse([...at, 'failurePolicy'], 'croft never uninstalls a release because it failed', 'leave failurePolicy out')
  if (chart.bootstrap && spec.chart !== undefined)
    refuse([...at, 'bootstrap'], 'bootstrap is for the Helm controller of K3s', 'leave bootstrap out')
  if (spec.skipHooks.length > 0)
    refuse(['spec', 'skipHooks'], 'Helm runs all hooks of the chart', 'leave skipHooks out, or say install: apply')
  return problems
}
