import { isFields } from '../../manifest.ts'
import { chartAddon, mergeValues, setValue, valueAtPath, valuesIn } from '../addon-draft.ts'
import { type AppliedTree, appliedByFlux, whatOf } from '../flux-tree.ts'
import {
  type AgentObject,
  agentObject,
  agentObjectsIn,
  draftAddons,
  type FromAgent,
  gitAddon,
  readAgentFiles,
  wordOf,
} from '../gitops.ts'
import { type LostMeaning, meaningLost } from '../meaning-lost.ts'
import type { Fields, ForeignFile, ForeignFormat, ForeignReading, ReadOptions } from '../reading.ts'

const ORDER = 'the order is not carried over; write spec.dependsOn of the Addon'
const ACCOUNT = 'croft applies as itself, not as an account with fewer rights'

const OF_RELEASE: LostMeaning = [
  ['dependsOn', ORDER],
  ['serviceAccountName', ACCOUNT],
  ['install.crds', 'croft lets K3s or Helm treat definitions as the chart says'],
  ['upgrade.crds', 'croft lets K3s or Helm treat definitions as the chart says'],
  ['install.disableHooks', 'hooks of the chart run'],
  ['upgrade.disableHooks', 'hooks of the chart run'],
  ['upgrade.preserveValues', 'only the values that are written hold'],
  ['driftDetection.ignore', 'fields that others change are left to them only where the chart does not set them'],
]

const OF_KUSTOMIZATION: LostMeaning = [
  ['dependsOn', ORDER],
  ['serviceAccountName', ACCOUNT],
]

const SOURCES = new Set(['GitRepository', 'HelmRepository', 'OCIRepository', 'HelmChart', 'Bucket'])

/** Objects of Flux. A HelmRelease becomes an add-on with its chart, a Kustomization at a commit one with its directory. */
export const flux: ForeignFormat = {
  name: 'flux',
  about: 'a repository of Flux: HelmRelease, Kustomization and the sources that they name',
  groups: /(?:^|\.)toolkit\.fluxcd\.io\//,
  read(files, options) {
    const tree = appliedByFlux(files, options.under)
    if (typeof tree === 'string') return { problem: tree }
    return tree.kustomizations.length === 0 ? readAgentFiles(files, options, judge) : readTree(tree, files, options)
  },
}

/** A repository that its own Kustomizations apply: releases as they are in the cluster, all else stays with Flux. */
function readTree(tree: AppliedTree, files: readonly ForeignFile[], options: ReadOptions): ForeignReading {
  const raw = agentObjectsIn(files)
  const notCarried = [...raw.notCarried, ...tree.notCarried]
  const followed = new Set(tree.kustomizations.map(({ what }) => what))
  const applied: AgentObject[] = []
  for (const { what, objects } of tree.kustomizations) {
    const staying: string[] = []
    for (const { object, unknown, elsewhere } of objects) {
      const name = whatOf(object)
      const own = agentObject(object)
      if (own === undefined || followed.has(name)) continue
      if (!isOfFlux(own)) staying.push(name)
      else if (own.kind === 'HelmRelease' && unknown.length > 0)
        notCarried.push({ what: name, why: variablesMissing(unknown, elsewhere) })
      else if (!tree.notCarried.some((one) => one.what === name)) {
        applied.push(own)
        continue
      }
      if (own.kind === 'ConfigMap') applied.push(own)
    }
    if (staying.length > 0)
      notCarried.push({ what, why: `what comes from no chart stays with Flux: ${staying.join(', ')}` })
  }
  const unapplied = raw.objects.filter(({ file }) => !tree.used.has(file))
  for (const one of unapplied)
    if (one.kind === 'HelmRelease' && isOfFlux(one))
      notCarried.push({
        what: `${whatOf({ ...one, metadata: one })} (${one.file})`,
        why: 'no Kustomization among the files applies it',
      })
  const rest = unapplied.filter(
    (one) => isOfFlux(one) && one.kind !== 'HelmRelease' && !followed.has(whatOf({ ...one, metadata: one })),
  )
  const judged = [...applied, ...rest].filter(isOfFlux)
  const made = draftAddons(judged, [...applied, ...raw.objects], options, judge)
  return { ...made, notCarried: [...notCarried, ...made.notCarried] }
}

function isOfFlux({ apiVersion }: AgentObject): boolean {
  return apiVersion.includes('.toolkit.fluxcd.io/')
}

function variablesMissing(unknown: readonly string[], elsewhere: readonly string[]): string {
  const from = elsewhere.length === 0 ? '' : `, which Flux takes from ${elsewhere.join(' or ')}`
  return `nobody here knows ${unknown.join(', ')}${from}; write an Addon with the values of the release (helm get values)`
}

function judge(object: AgentObject, all: readonly AgentObject[]): FromAgent | undefined {
  if (!isOfFlux(object)) return undefined
  if (object.spec.suspend === true) return { why: 'it is suspended' }
  if (object.kind === 'HelmRelease') return release(object, all)
  if (object.kind === 'Kustomization') return kustomization(object, all)
  if (!SOURCES.has(object.kind)) return { why: 'croft has no kind for it' }
  return object.kind === 'Bucket' ? { why: 'croft reads no buckets' } : { read: true }
}

function release(object: AgentObject, all: readonly AgentObject[]): FromAgent {
  const { spec } = object
  const without = [...meaningLost(spec, OF_RELEASE)]
  const values = valuesOf(object, all)
  if (values === undefined)
    without.push('valuesFrom names objects of the cluster; put their values into chart.values or chart.valuesFrom')
  if (JSON.stringify(spec).includes('ENC[AES'))
    return { why: 'it is encrypted with sops; decrypt it first, and keep its secrets in valuesFrom of the Addon' }
  if (Array.isArray(spec.postRenderers)) without.push('postRenderers have no field here')
  if (isFields(spec.kubeConfig)) return { why: 'it is for another cluster, by spec.kubeConfig' }
  const chart = isFields(spec.chart) && isFields(spec.chart.spec) ? spec.chart.spec : undefined
  const reference = isFields(spec.chartRef) ? spec.chartRef : chart?.sourceRef
  const source = isFields(reference) ? found(reference, object, all) : undefined
  if (source === undefined)
    return {
      why: `its source ${isFields(reference) ? `${String(reference.kind)} ${String(reference.name)} ` : ''}is not among the files`,
    }
  if (Array.isArray(chart?.valuesFiles))
    without.push('chart.spec.valuesFiles names files inside the chart; put their values into chart.values')
  const url = wordOf(source.spec.url) ?? ''
  const tag = isFields(source.spec.ref) ? (wordOf(source.spec.ref.tag) ?? wordOf(source.spec.ref.semver)) : undefined
  const isOci = source.kind === 'OCIRepository'
  const version = isOci ? tag : wordOf(chart?.version)
  const namespace = wordOf(spec.targetNamespace) ?? object.namespace
  if (namespace === undefined)
    return { why: 'its namespace comes from the Kustomization that applies it; import the whole repository' }
  const name =
    wordOf(spec.releaseName) ??
    (wordOf(spec.targetNamespace) === undefined ? object.name : `${wordOf(spec.targetNamespace)}-${object.name}`)
  const given = values ?? (isFields(spec.values) ? { ...spec.values } : {})
  if (source.kind === 'GitRepository') {
    const place = { url, revision: revisionOf(source), path: wordOf(chart?.chart) ?? '', namespace, values: given }
    return { without, addons: [{ name, manifest: (own, cluster) => gitAddon(own, cluster, place) }] }
  }
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
            namespace,
            values: given,
          }),
      },
    ],
  }
}

/** Merges values as Flux does: `valuesFrom` in order, then `values`. Undefined: a source is missing from the files. */
function valuesOf({ spec, namespace }: AgentObject, all: readonly AgentObject[]): Fields | undefined {
  let joined: Fields = {}
  for (const from of Array.isArray(spec.valuesFrom) ? spec.valuesFrom.filter(isFields) : []) {
    const map = all.find(
      (one) =>
        from.kind === 'ConfigMap' &&
        one.kind === 'ConfigMap' &&
        one.name === from.name &&
        (namespace === undefined || one.namespace === namespace),
    )
    const text = map?.data?.[wordOf(from.valuesKey) ?? 'values.yaml']
    if (typeof text !== 'string') return undefined
    const path = wordOf(from.targetPath)
    const more = path === undefined ? valuesIn(text) : valueAtPath(path, setValue(text, undefined))
    if (more === undefined) return undefined
    joined = mergeValues(joined, more)
  }
  return isFields(spec.values) ? mergeValues(joined, { ...spec.values }) : joined
}

function kustomization(object: AgentObject, all: readonly AgentObject[]): FromAgent {
  const { spec } = object
  if (isFields(spec.kubeConfig)) return { why: 'it is for another cluster, by spec.kubeConfig' }
  const source = isFields(spec.sourceRef) ? found(spec.sourceRef, object, all) : undefined
  if (source === undefined)
    return {
      why: `its source ${isFields(spec.sourceRef) ? `${String(spec.sourceRef.kind)} ${String(spec.sourceRef.name)} ` : ''}is not among the files, nor is its directory ${wordOf(spec.path) ?? './'}`,
    }
  if (source.kind !== 'GitRepository')
    return { why: `its source is of kind ${source.kind}, and croft builds directories of Git repositories` }
  for (const field of ['patches', 'images', 'postBuild', 'components', 'decryption', 'namePrefix', 'nameSuffix'])
    if (spec[field] !== undefined)
      return { why: `${field} changes what the directory says; move it into a kustomization.yaml` }
  const revision = revisionOf(source)
  return {
    without: meaningLost(spec, OF_KUSTOMIZATION),
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

/** Returns the revision of a Git repository; a commit takes precedence, as in Flux. */
function revisionOf({ spec }: AgentObject): string | undefined {
  const ref = isFields(spec.ref) ? spec.ref : {}
  return wordOf(ref.commit) ?? wordOf(ref.name) ?? wordOf(ref.semver) ?? wordOf(ref.tag) ?? wordOf(ref.branch)
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
