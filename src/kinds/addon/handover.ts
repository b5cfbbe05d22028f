import { defined } from '../../lib/defined.ts'
import type { KubeObject } from '../../model/kube-object.ts'
import type { FieldProblem } from '../kind.ts'
import { CHARTS, valuesKey, valuesSecret } from './chart.ts'
import { PRESETS } from './presets/registry.ts'
import type { AddonDeclaration, ChartFields, HandoverFields } from './schema.ts'

const HERE = 'https://kubernetes.default.svc'

/** Objects by which another tool keeps an add-on. The last one of each list shows whether it works. */
export interface Keepers {
  /** Keeps the chart, straight from where the chart comes from. */
  readonly chart: readonly KubeObject[]
  /** Keep the other objects, from a repository; none where no repository is named. */
  readonly objects: readonly KubeObject[]
}

/** Kinds that stay with croft: their values are in no repository, or only K3s itself reads them. */
const STAYING: ReadonlySet<string> = new Set(['Secret', 'Namespace', 'HelmChart', 'HelmChartConfig'])

/** Reports whether another tool may keep this object of an add-on from a repository. */
export function isHandedOver({ kind }: KubeObject): boolean {
  return !STAYING.has(kind)
}

/**
 * Returns the keepers of an add-on. To an agent, a chart and the objects beside it are two things, so they have two
 * names. `rendered`: croft applies the chart's objects itself, without a Helm release.
 */
export function keepersOf(
  { spec, name }: AddonDeclaration,
  chart: ChartFields | undefined,
  namespace: string,
  objects: readonly KubeObject[],
  rendered = false,
): Keepers {
  const { handover } = spec
  if (handover === undefined) return { chart: [], objects: [] }
  const argo = handover.to === 'argocd'
  const handedOver = objects.filter(isHandedOver)
  const named = chart === undefined ? name : `${name}-objects`
  return {
    chart:
      chart === undefined
        ? []
        : argo
          ? [chartApplication(name, handover, chart, namespace)]
          : helmRelease(name, handover, chart, namespace, rendered),
    objects:
      handover.repository === undefined || handedOver.length === 0
        ? []
        : argo
          ? [
              application(named, handover, namespace, {
                repoURL: handover.repository,
                path: handover.path,
                targetRevision: handover.revision,
              }),
            ]
          : kustomization(named, handover, onlyNamespace(handedOver)),
  }
}

/** Returns the namespace that all objects share; Flux would move all objects to a given one. */
function onlyNamespace(objects: readonly KubeObject[]): string | undefined {
  const [first, ...others] = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))
  return others.length === 0 ? first : undefined
}

/** Returns why an add-on cannot be handed over. */
export function handoverProblems(spec: AddonDeclaration['spec']): readonly FieldProblem[] {
  const { handover, chart, preset } = spec
  if (handover === undefined) return []
  const problems: FieldProblem[] = []
  const withChart = chart !== undefined || (preset !== undefined && PRESETS[preset].chart !== undefined)
  const given = [handover.repository, handover.path].filter((one) => one !== undefined).length
  if (given === 1 || (!withChart && given === 0)) {
    const message = `${handover.to} must be told where it finds the manifests`
    problems.push({ code: 'no-repository', path: ['spec', 'handover'], message, hint: 'set repository and path' })
  }
  const { sync, values, ignoreDifferences } = handover
  const argoAlone: readonly (readonly [string, boolean])[] = [
    ['values', values !== undefined],
    ['ignoreDifferences', ignoreDifferences !== undefined],
    ['sync', sync !== undefined && (!sync.selfHeal || sync.retry !== undefined || sync.options.length > 0)],
  ]
  for (const [field, isSet] of argoAlone)
    if (handover.to === 'flux' && isSet) {
      const message = field === 'sync' ? 'Flux knows only prune of sync' : `${field} is for Argo CD alone`
      problems.push({ code: 'not-for-flux', path: ['spec', 'handover', field], message, hint: `leave ${field} out` })
    }
  if (values !== undefined && !withChart)
    problems.push({
      code: 'no-chart',
      path: ['spec', 'handover', 'values'],
      message: 'values are for a chart, and this add-on has none',
    })
  if (handover.to === 'argocd' && (chart?.valuesFrom ?? spec.valuesFrom) !== undefined) {
    const message = 'Argo CD cannot read values of a chart from a Secret'
    problems.push({
      code: 'secret-values',
      path: chart?.valuesFrom === undefined ? ['spec', 'valuesFrom'] : ['spec', 'chart', 'valuesFrom'],
      message,
      hint: 'hand it over to flux, or let the chart name a Secret of its own',
    })
  }
  return problems
}

function chartApplication(name: string, handover: HandoverFields, chart: ChartFields, namespace: string): KubeObject {
  const oci = chart.name.startsWith('oci://')
  const { values } = handover
  const place =
    chart.git === undefined
      ? {
          repoURL: oci ? chart.name.replace(/^oci:\/\//, '').replace(/\/[^/]*$/, '') : chart.repo,
          chart: chart.name.replace(/^.*\//, ''),
          targetRevision: chart.version,
        }
      : { repoURL: chart.git.url, path: chart.git.path, targetRevision: chart.git.commit }
  const source = {
    ...place,
    helm: {
      releaseName: name,
      ...defined({ valuesObject: chart.values, valueFiles: values?.files.map((file) => `$values/${file}`) }),
    },
  }
  if (values === undefined) return application(name, handover, namespace, source)
  const second = { repoURL: values.repository, targetRevision: values.revision, ref: 'values' }
  return application(name, handover, namespace, source, second)
}

function application(
  name: string,
  handover: HandoverFields,
  namespace: string,
  ...sources: readonly [object, ...object[]]
): KubeObject {
  const { prune = false, selfHeal = true, retry, options = [] } = handover.sync ?? {}
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    // No finalizer: deleting the Application keeps its objects.
    metadata: { name, namespace: agentNamespace(handover) },
    spec: {
      project: handover.project,
      ...(sources.length === 1 ? { source: sources[0] } : { sources }),
      destination: { server: HERE, namespace },
      syncPolicy: {
        automated: { prune, selfHeal },
        syncOptions: ['ServerSideApply=true', ...options.filter((one) => !one.startsWith('ServerSideApply='))],
        ...defined({ retry }),
      },
      ...defined({ ignoreDifferences: handover.ignoreDifferences }),
    },
  }
}

function kustomization(name: string, handover: HandoverFields, namespace: string | undefined): readonly KubeObject[] {
  const metadata = { name, namespace: agentNamespace(handover) }
  const { repository, path = '', revision } = handover
  const ref = /^[0-9a-f]{40}$/.test(revision)
    ? { commit: revision }
    : /^v?[0-9]+\.[0-9]/.test(revision)
      ? { tag: revision }
      : { branch: revision }
  return [
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata,
      spec: { interval: '1m', url: repository, ref },
    },
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata,
      // Flux prunes our objects only on a person's request.
      spec: {
        interval: '10m',
        path: `./${path}`,
        prune: handover.sync?.prune ?? false,
        sourceRef: { kind: 'GitRepository', name },
        wait: true,
        ...defined({ targetNamespace: namespace }),
      },
    },
  ]
}

function helmRelease(
  name: string,
  handover: HandoverFields,
  chart: ChartFields,
  namespace: string,
  rendered: boolean,
): readonly KubeObject[] {
  const metadata = { name, namespace: agentNamespace(handover) }
  const source = chartSource(metadata, chart)
  const place =
    chart.git === undefined
      ? { chart: chart.name.replace(/^.*\//, ''), version: chart.version }
      : // A chart in Git need not change its version with each commit.
        { chart: `./${chart.git.path}`, reconcileStrategy: 'Revision' }
  return [
    source,
    {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata,
      spec: {
        interval: '10m',
        // The very release that is installed already: Helm goes on with it.
        releaseName: name,
        targetNamespace: namespace,
        storageNamespace: namespace,
        chart: { spec: { ...place, sourceRef: { kind: source.kind, name } } },
        // Helm adopts the objects as a release. Hooks of an installation have already run.
        ...(rendered ? { install: { disableHooks: true } } : {}),
        ...defined({ values: chart.values }),
        ...(chart.valuesFrom === undefined ? {} : { valuesFrom: [{ kind: 'Secret', ...valuesKey(name) }] }),
      },
    },
  ]
}

/** Returns the source from which Flux fetches a chart. */
function chartSource(metadata: KubeObject['metadata'], { git, name, repo }: ChartFields): KubeObject {
  const apiVersion = 'source.toolkit.fluxcd.io/v1'
  if (git !== undefined)
    return {
      apiVersion,
      kind: 'GitRepository',
      metadata,
      spec: { interval: '1h', url: git.url, ref: { commit: git.commit } },
    }
  const oci = name.startsWith('oci://')
  const spec = { interval: '1h', url: oci ? name.replace(/\/[^/]*$/, '') : repo, ...(oci ? { type: 'oci' } : {}) }
  return { apiVersion, kind: 'HelmRepository', metadata, spec }
}

function agentNamespace({ to, namespace }: HandoverFields): string {
  return namespace ?? (to === 'argocd' ? 'argocd' : 'flux-system')
}

/** Flux reads values only from Secrets beside its own objects: it needs a copy there, before it looks. */
export function agentSecret(
  { spec, name }: AddonDeclaration,
  chart: ChartFields | undefined,
): ReturnType<typeof valuesSecret> {
  if (spec.handover?.to !== 'flux' || chart === undefined) return undefined
  const namespace = agentNamespace(spec.handover)
  return namespace === CHARTS ? undefined : valuesSecret(name, chart, namespace)
}
