import { isFields } from '../../manifest.ts'
import { chartAddon } from '../addon-draft.ts'
import { type AgentObject, type FromAgent, gitAddon, readAgentFiles, wordOf } from '../gitops.ts'
import type { Fields, ForeignFormat } from '../reading.ts'

const SOURCES = new Set(['GitRepository', 'HelmRepository', 'OCIRepository', 'HelmChart', 'Bucket'])

/** Objects of Flux. A HelmRelease becomes an add-on with its chart, a Kustomization at a commit one with its directory. */
export const flux: ForeignFormat = {
  name: 'flux',
  about: 'a repository of Flux: HelmRelease, Kustomization and the sources that they name',
  read: (files, options) => readAgentFiles(files, options, judge),
}

function judge(object: AgentObject, all: readonly AgentObject[]): FromAgent | undefined {
  if (!object.apiVersion.includes('.toolkit.fluxcd.io/')) return undefined
  if (object.spec.suspend === true) return { why: 'it is suspended' }
  if (object.kind === 'HelmRelease') return release(object, all)
  if (object.kind === 'Kustomization') return kustomization(object, all)
  if (!SOURCES.has(object.kind)) return { why: 'croft has no kind for it' }
  return object.kind === 'Bucket' ? { why: 'croft reads no buckets' } : { read: true }
}

function release(object: AgentObject, all: readonly AgentObject[]): FromAgent {
  const { spec } = object
  const without: string[] = []
  if (Array.isArray(spec.valuesFrom))
    without.push('valuesFrom names objects of the cluster; put their values into chart.values or chart.valuesFrom')
  if (Array.isArray(spec.postRenderers)) without.push('postRenderers have no field here')
  if (isFields(spec.kubeConfig)) return { why: 'it is for another cluster, by spec.kubeConfig' }
  const chart = isFields(spec.chart) && isFields(spec.chart.spec) ? spec.chart.spec : undefined
  const reference = isFields(spec.chartRef) ? spec.chartRef : chart?.sourceRef
  const source = isFields(reference) ? found(reference, object, all) : undefined
  if (source === undefined)
    return {
      why: `its source ${isFields(reference) ? `${String(reference.kind)} ${String(reference.name)} ` : ''}is not among the files`,
    }
  if (source.kind === 'GitRepository')
    return { why: 'its chart lies in a Git repository; push it to a registry or a chart repository' }
  const url = wordOf(source.spec.url) ?? ''
  const tag = isFields(source.spec.ref) ? (wordOf(source.spec.ref.tag) ?? wordOf(source.spec.ref.semver)) : undefined
  const isOci = source.kind === 'OCIRepository'
  const version = isOci ? tag : wordOf(chart?.version)
  const namespace = wordOf(spec.targetNamespace) ?? object.namespace
  const name =
    wordOf(spec.releaseName) ??
    (wordOf(spec.targetNamespace) === undefined ? object.name : `${wordOf(spec.targetNamespace)}-${object.name}`)
  return {
    without,
    addons: [
      {
        name,
        manifest: (own, cluster) =>
          chartAddon(own, cluster, {
            name,
            chart: isOci ? url : (wordOf(chart?.chart) ?? ''),
            ...(isOci ? {} : { repository: url }),
            ...(version === undefined ? {} : { version }),
            ...(namespace === undefined ? {} : { namespace }),
            ...(isFields(spec.values) ? { values: { ...spec.values } as Fields } : {}),
          }),
      },
    ],
  }
}

function kustomization(object: AgentObject, all: readonly AgentObject[]): FromAgent {
  const { spec } = object
  if (isFields(spec.kubeConfig)) return { why: 'it is for another cluster, by spec.kubeConfig' }
  const source = isFields(spec.sourceRef) ? found(spec.sourceRef, object, all) : undefined
  if (source === undefined) return { why: 'its source is not among the files' }
  if (source.kind !== 'GitRepository')
    return { why: `its source is of kind ${source.kind}, and croft builds directories of Git repositories` }
  for (const field of ['patches', 'images', 'postBuild', 'components', 'decryption', 'namePrefix', 'nameSuffix'])
    if (spec[field] !== undefined)
      return { why: `${field} changes what the directory says; move it into a kustomization.yaml` }
  const ref = isFields(source.spec.ref) ? source.spec.ref : {}
  const revision = wordOf(ref.commit) ?? wordOf(ref.tag) ?? wordOf(ref.branch)
  return {
    addons: [
      {
        name: object.name,
        manifest: (own, cluster) =>
          gitAddon(own, cluster, {
            url: wordOf(source.spec.url) ?? '',
            revision,
            path: wordOf(spec.path) ?? '',
            namespace: wordOf(spec.targetNamespace),
          }),
      },
    ],
  }
}

function found(
  reference: Readonly<Record<string, unknown>>,
  from: AgentObject,
  all: readonly AgentObject[],
): AgentObject | undefined {
  const namespace = wordOf(reference.namespace) ?? from.namespace
  return all.find(
    (one) =>
      one.kind === reference.kind &&
      one.name === reference.name &&
      (namespace === undefined || one.namespace === undefined || one.namespace === namespace),
  )
}
