import { addon } from '../../kinds/addon.ts'
import type { Kind } from '../../kinds/kind.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { isFields } from '../manifest.ts'
import type { DraftManifest } from './draft.ts'
import type { Fields } from './reading.ts'

export const ADDON = addon as Kind

/** The reason for an object that has no cluster: none was named. */
export const NO_CLUSTER = 'nothing says which Cluster it is for; name it with --cluster'

const EXACT = /^v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:[-+][0-9A-Za-z.-]+)?$/

export interface ForeignChart {
  readonly name: string
  /** Empty where the chart's name is an address of a registry. */
  readonly repository?: string
  readonly chart: string
  readonly version?: string
  readonly namespace?: string
  readonly createNamespace?: boolean
  readonly values?: Fields
}

/** Drafts an add-on with the chart. Refuses a version that is a range or absent: croft installs what Git names. */
export function chartAddon(name: string, cluster: string, of: ForeignChart): DraftManifest | { readonly why: string } {
  if (of.version === undefined || !EXACT.test(of.version))
    return {
      why: `the version of the chart is ${of.version === undefined ? 'not stated' : `${of.version}, which is not an exact one`}; write an Addon with the version that is installed`,
    }
  const oci = of.repository?.startsWith('oci://') === true
  const repository = of.repository?.replace(/\/+$/, '')
  if (!oci && !of.chart.startsWith('oci://') && (repository === undefined || repository === ''))
    return { why: 'the chart lies in no repository' }
  const chart = oci ? `${repository}/${of.chart}` : of.chart
  return {
    apiVersion: ADDON.apiVersion,
    kind: ADDON.kind,
    metadata: { name },
    spec: {
      cluster,
      ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
      ...(of.createNamespace === false ? { createNamespace: false } : {}),
      chart: {
        ...(chart.startsWith('oci://') ? {} : { repo: repository }),
        name: chart,
        version: of.version,
        ...(of.values === undefined || Object.keys(of.values).length === 0 ? {} : { values: of.values }),
      },
      // The objects exist already: adopt them instead of creating them.
      adopt: true,
    },
  }
}

/** Parses one YAML document of values. Undefined: invalid. */
export function valuesIn(text: string): Fields | undefined {
  try {
    const value: unknown = yamlLibrary().parse(text, { uniqueKeys: true, logLevel: 'silent' }) ?? {}
    return isFields(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Merges values like Helm: maps are merged, all else is replaced by the later value. */
export function mergeValues(before: Fields, later: Fields): Fields {
  const merged: Fields = { ...before }
  for (const [key, value] of Object.entries(later)) {
    const old = Object.hasOwn(merged, key) ? merged[key] : undefined
    if (key === '__proto__') continue
    if (value === null) delete merged[key]
    else merged[key] = isFields(old) && isFields(value) ? mergeValues(old, value) : value
  }
  return merged
}

/** `--set a.b=c`: a value at a path of names. Undefined: the path has places of a list, which are not followed. */
export function valueAtPath(path: string, value: unknown): Fields | undefined {
  if (/[[\]{},]/.test(path)) return undefined
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))
  if (names.some((name) => name === '' || name === '__proto__')) return undefined
  return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Fields
}

/** Parses a value of `--set` like Helm. */
export function setValue(text: string, type: unknown): unknown {
  if (type === 'string' || type === 'literal') return text
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null' || text === '') return text === '' ? '' : null
  return /^-?(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text
}
