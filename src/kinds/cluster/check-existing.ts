import { isRecord } from '../../lib/is-record.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import type { ClusterFields } from './schema.ts'

/** What may be said of a cluster that croft does not run. All else is about machines, K3s or etcd. */
const OF_EXISTING: ReadonlySet<string> = new Set([
  'type',
  'description',
  'kubeconfig',
  'context',
  'inCluster',
  'charts',
  'proxy',
  'family',
  'podCidrs',
  'serviceCidrs',
  'clusterDomain',
])

const ONLY_OF_EXISTING = ['kubeconfig', 'context', 'inCluster', 'charts'] as const

/** An existing cluster: one way to it, and nothing about what it is made of. */
export function checkExisting(spec: ClusterFields, { spec: written }: RawManifest): readonly FieldProblem[] {
  const problems = Object.keys(isRecord(written) ? written : {})
    .filter((field) => !OF_EXISTING.has(field))
    .map(
      (field): FieldProblem => ({
        code: 'not-of-existing',
        path: ['spec', field],
        message: `${field} is not for a cluster of type existing: croft changes neither its nodes nor its release`,
        hint: 'remove it; or use type: k3s for a cluster that croft runs',
      }),
    )
  if ((spec.kubeconfig === undefined) === (spec.inCluster === undefined))
    problems.push({
      code: spec.kubeconfig === undefined ? 'missing-field' : 'bad-value',
      path: ['spec', spec.kubeconfig === undefined ? 'kubeconfig' : 'inCluster'],
      message:
        spec.kubeconfig === undefined
          ? 'kubeconfig is missing: it says how the cluster is reached'
          : 'kubeconfig and inCluster are two ways to the cluster; expected one',
      ...(spec.kubeconfig === undefined
        ? { hint: 'kubeconfig: {file: …}, {env: …}, {sops: …}, or inCluster: true' }
        : {}),
    })
  if (spec.context !== undefined && spec.kubeconfig === undefined)
    problems.push({
      code: 'bad-value',
      path: ['spec', 'context'],
      message: 'context is of a kubeconfig, and none is named',
    })
  return problems
}

/** A cluster that croft runs: it has a release and servers, and needs nobody's kubeconfig. */
export function checkOwn(spec: ClusterFields, { spec: written }: RawManifest): readonly FieldProblem[] {
  const given = new Set(Object.keys(isRecord(written) ? written : {}))
  const problems: FieldProblem[] = []
  if (!given.has('version'))
    problems.push({ code: 'missing-field', path: ['spec', 'version'], message: 'version is missing; it is text' })
  if (!given.has('servers'))
    problems.push({ code: 'missing-field', path: ['spec', 'servers'], message: 'servers is missing; it is a list' })
  for (const field of ONLY_OF_EXISTING)
    if (spec[field] !== undefined)
      problems.push({
        code: 'not-of-k3s',
        path: ['spec', field],
        message: `${field} is for a cluster of type existing, and croft runs this one itself`,
        hint: 'remove it, or set type: existing',
      })
  return problems
}
