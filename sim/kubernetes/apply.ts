import { isRecord } from '../../src/lib/is-record.ts'
import {
  entryOf,
  fromFieldsV1,
  isSame,
  keyOfEntry,
  leaves,
  readable,
  toFieldsV1,
  type Writer,
} from './managed-fields.ts'
import type { KubeObject, ManagedFields, Tree } from './object.ts'
import { ApiStatus } from './status.ts'

/**
 * Server-side apply: what the manager sent becomes true, what it sent before and no longer sends goes unless another
 * owns it, and a field that another owns with another value is a conflict unless it is forced.
 */
export function applyTo(live: KubeObject | undefined, sent: Tree, writer: Writer, force: boolean): KubeObject {
  const wanted = leaves(sent)
  const entries = live?.metadata.managedFields ?? []
  const mine = entries.find((entry) => isSame(entry, writer))
  const others = entries.filter((entry) => entry !== mine)
  const now = live === undefined ? new Map<string, unknown>() : leaves(live)
  const fought = conflicts(others, wanted, now)
  if (fought.length > 0 && !force) throw conflictStatus(fought)
  const lost = new Set(fought.map(({ path }) => path))
  const kept = others.flatMap((entry) => {
    const owned = [...fromFieldsV1(entry.fieldsV1)].filter((path) => !lost.has(path))
    return owned.length === 0 ? [] : [{ ...entry, fieldsV1: toFieldsV1(owned) }]
  })
  const elsewhere = new Set(kept.flatMap((entry) => [...fromFieldsV1(entry.fieldsV1)]))
  const dropped = [...(mine === undefined ? [] : fromFieldsV1(mine.fieldsV1))].filter(
    (path) => !wanted.has(path) && !elsewhere.has(path),
  )
  let merged: unknown = live ?? {}
  for (const path of dropped) merged = without(merged, path.split('\u0000'), '')
  merged = merge(merged, sent, '')
  const object = merged as KubeObject
  const owned = new Set(wanted.keys())
  const unchanged =
    mine !== undefined && same(fromFieldsV1(mine.fieldsV1), owned) && JSON.stringify(live) === JSON.stringify(object)
  const entry = unchanged && mine !== undefined ? mine : entryOf(writer, owned)
  // Who keeps nothing is not named.
  const managedFields = owned.size === 0 ? kept : [...kept, entry]
  return { ...object, metadata: { ...object.metadata, managedFields } }
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((one) => b.has(one))
}

interface Conflict {
  readonly path: string
  readonly entry: ManagedFields
}

function conflicts(
  others: readonly ManagedFields[],
  wanted: ReadonlyMap<string, unknown>,
  now: ReadonlyMap<string, unknown>,
): readonly Conflict[] {
  return others.flatMap((entry) =>
    [...fromFieldsV1(entry.fieldsV1)]
      .filter((path) => wanted.has(path) && JSON.stringify(wanted.get(path)) !== JSON.stringify(now.get(path)))
      .map((path) => ({ path, entry })),
  )
}

function conflictStatus(fought: readonly Conflict[]): ApiStatus {
  const causes = fought.map(({ path, entry }) => {
    const where = entry.subresource === undefined ? '' : ` with subresource "${entry.subresource}"`
    return {
      reason: 'FieldManagerConflict',
      message: `conflict with "${entry.manager}"${where} using ${entry.apiVersion}`,
      field: readable(path),
    }
  })
  const [only] = causes
  const text =
    causes.length === 1 && only !== undefined
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${grouped(causes)}`
  return new ApiStatus(409, 'Conflict', text, { causes })
}

function grouped(causes: readonly { readonly message: string; readonly field: string }[]): string {
  const byManager = new Map<string, string[]>()
  for (const { message, field } of causes) byManager.set(message, [...(byManager.get(message) ?? []), field])
  return [...byManager]
    .map(([message, fields]) => `${message.replace(/^conflict with/, 'conflicts with')}:\n- ${fields.join('\n- ')}`)
    .join('\n')
}

function merge(target: unknown, sent: unknown, field: string): unknown {
  if (isRecord(sent)) {
    const result: Record<string, unknown> = isRecord(target) ? { ...target } : {}
    for (const [key, value] of Object.entries(sent)) {
      if (value === null) delete result[key]
      else result[key] = merge(result[key], value, key)
    }
    return result
  }
  if (!Array.isArray(sent) || !Array.isArray(target)) return sent
  if (field === 'finalizers') return [...new Set([...(target as unknown[]), ...(sent as unknown[])])]
  if (sent.length === 0 || sent.some((entry) => keyOfEntry(field, entry) === undefined)) return sent
  const result: unknown[] = [...(target as unknown[])]
  for (const entry of sent as unknown[]) {
    const key = keyOfEntry(field, entry)
    const at = result.findIndex((one) => keyOfEntry(field, one) === key)
    if (at < 0) result.push(entry)
    else result[at] = merge(result[at], entry, '')
  }
  return result
}

function without(value: unknown, steps: readonly string[], field: string): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return undefined
  if (Array.isArray(value)) {
    const matches = (entry: unknown) =>
      step.startsWith('v:') ? `v:${JSON.stringify(entry)}` === step : keyOfEntry(field, entry) === step
    return (value as unknown[])
      .map((entry) => (matches(entry) ? (rest.length === 0 ? undefined : without(entry, rest, '')) : entry))
      .filter((entry) => entry !== undefined && !(isRecord(entry) && Object.keys(entry).length === 0))
  }
  if (!isRecord(value)) return value
  const key = step.slice(2)
  if (!(key in value)) return value
  const { [key]: inner, ...others } = value
  const left = rest.length === 0 ? undefined : without(inner, rest, key)
  const empty = left === undefined || (isRecord(left) && Object.keys(left).length === 0)
  return empty ? others : { ...others, [key]: left }
}
