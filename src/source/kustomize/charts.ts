import { z } from 'zod'
import { chartPlaceFor } from '../../kinds/addon/rendered-chart.ts'
import { defined } from '../../lib/defined.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { isFields } from '../manifest.ts'
import { PatchFailed } from './json-patch.ts'

const words = z.array(z.string().max(500)).max(100).nullish()

/** One entry of `helmCharts`. */
export const helmChartSchema = z.strictObject({
  name: z.string().min(1).max(200),
  version: z.string().optional(),
  digest: z.string().optional(),
  repo: z.string().optional(),
  releaseName: z.string().optional(),
  namespace: z.string().optional(),
  valuesFile: z.string().optional(),
  additionalValuesFiles: words,
  valuesInline: z.record(z.string(), z.unknown()).nullish(),
  valuesMerge: z.enum(['merge', 'override', 'replace']).optional(),
  includeCRDs: z.boolean().optional(),
  skipHooks: z.boolean().optional(),
  skipTests: z.boolean().optional(),
  apiVersions: words,
  kubeVersion: z.string().optional(),
  nameTemplate: z.string().optional(),
  debug: z.boolean().optional(),
  devel: z.boolean().optional(),
})

export type HelmChartEntry = z.output<typeof helmChartSchema>

const EXACT = /^v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$/

/**
 * Returns the place of a chart's objects, for Helm to render with kustomize's settings. `read` returns the text of a
 * values file. Throws PatchFailed for a chart that would render differently each time.
 */
export function chartPlaceOfEntry(entry: HelmChartEntry, read: (path: string) => string): string {
  const refuse = (why: string): never => {
    throw new PatchFailed(`the chart ${entry.name.slice(0, 100)}: ${why}`)
  }
  const { repo = '', version = '', releaseName = '' } = entry
  if (repo === '')
    refuse('charts of a directory are not rendered; name its repo and version, or commit what it renders')
  if (!EXACT.test(version)) refuse(`version is ${version === '' ? 'missing' : version}; write the exact version`)
  if (releaseName === '') refuse('releaseName is missing, and Helm would make one up each time')
  for (const field of ['digest', 'nameTemplate', 'devel'] as const)
    if (entry[field] !== undefined && entry[field] !== false) refuse(`${field} is not followed; leave it out`)
  const oci = repo.startsWith('oci://')
  const tidy = repo.replace(/\/+$/, '')
  return chartPlaceFor({
    ...(oci ? {} : { repo: tidy }),
    chart: oci ? `${tidy}/${entry.name}` : entry.name,
    version,
    release: releaseName,
    namespace: entry.namespace ?? 'default',
    values: valuesOf(entry, read, refuse),
    ...defined({ kubeVersion: entry.kubeVersion }),
    ...(entry.apiVersions == null ? {} : { apiVersions: entry.apiVersions }),
    output: {
      crds: entry.includeCRDs ?? false,
      tests: !(entry.skipTests ?? false),
      hooks: !(entry.skipHooks ?? false),
    },
  })
}

/** Merges the values files in order, and the inline values as `valuesMerge` says. */
function valuesOf(entry: HelmChartEntry, read: (path: string) => string, refuse: (why: string) => never): string {
  const { valuesFile, valuesMerge = 'override', additionalValuesFiles } = entry
  const inline = entry.valuesInline ?? {}
  const given = Object.keys(inline).length > 0
  const more = additionalValuesFiles ?? []
  if (!given && more.length === 0) return valuesFile === undefined ? '' : read(valuesFile)
  // kustomize takes a null out of the values before Helm can see it.
  if (given && hasNull(inline)) refuse('valuesInline holds a null, which kustomize leaves out; leave it out too')
  const file =
    valuesFile === undefined || (given && valuesMerge === 'replace')
      ? {}
      : given
        ? joinable(read(valuesFile), refuse)
        : parsed(read(valuesFile), refuse)
  if (given && valuesMerge === 'merge' && valuesFile === undefined)
    refuse('valuesMerge: merge lets the values of the chart itself win; name a valuesFile, or leave it out')
  const first = valuesMerge === 'merge' ? merged(inline, file) : merged(file, inline)
  return JSON.stringify(more.map((path) => parsed(read(path), refuse)).reduce(merged, first))
}

type HelmValues = Readonly<Record<string, unknown>>

/** `words`: allow words like `yes`, which kustomize reads as text. */
function parsed(text: string, refuse: (why: string) => never, words = false): HelmValues {
  const values = readAs(text, 'yaml-1.1')
  if (values === undefined) return refuse('a values file is not a YAML map')
  const other = differing(values, readAs(text, 'core'), words, '')
  if (other !== undefined)
    refuse(`${other} of a values file means one thing to kustomize and another to Helm; write it in quotes, or plainly`)
  return values
}

function readAs(text: string, schema: 'yaml-1.1' | 'core'): HelmValues | undefined {
  try {
    const value: unknown = yamlLibrary().parse(text, { schema, merge: true, logLevel: 'silent' }) ?? {}
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a values file that is merged with inline values. kustomize parses it itself, with `yes` as a word, and drops
 * nulls before Helm can see them; alone, the same file goes to Helm.
 */
function joinable(text: string, refuse: (why: string) => never): HelmValues {
  const values = parsed(text, refuse, true)
  if (hasNull(values)) refuse('its values file holds a null, which kustomize drops beside valuesInline; leave it out')
  return values
}

/** Returns the path of a value that YAML 1.1 and 1.2 read differently. Helm and kustomize read 0400 as octal. */
function differing(one: unknown, other: unknown, words: boolean, path: string): string | undefined {
  if (isNested(one) && isNested(other))
    return Object.keys(one)
      .map((key) => differing(one[key], other[key], words, path === '' ? key : `${path}.${key}`))
      .find((found) => found !== undefined)
  const alike = typeof one === 'number' && typeof other === 'number'
  return one === other || alike || (typeof one === 'boolean' && !words) ? undefined : path
}

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}

/** Merges values files like Helm: maps are merged, all else is replaced, also by null. */
function merged(before: HelmValues, later: HelmValues): HelmValues {
  const all: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(later)) {
    const old = Object.hasOwn(all, key) ? all[key] : undefined
    Object.defineProperty(all, key, {
      value: isFields(old) && isFields(value) ? merged(old, value) : value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return all
}

function hasNull(value: unknown): boolean {
  if (value === null) return true
  return isFields(value) && Object.values(value).some(hasNull)
}
