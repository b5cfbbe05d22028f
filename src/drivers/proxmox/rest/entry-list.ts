import type { Field, SettingValue } from '../../../model/rest.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import type { EntryPath, SubCall } from './rule-list.ts'
import { partsOf } from './sent.ts'
import { plain, same } from './values.ts'

type SettingEntry = Readonly<Record<string, SettingValue>>

export function plainEntries(field: Field, entries: unknown): readonly SettingEntry[] {
  return plain(field, entries ?? []) as readonly SettingEntry[]
}

/** Returns the calls that turn one set into another: additions first, then deletions. */
export function entryCalls(
  field: Field,
  seen: readonly SettingEntry[],
  wanted: readonly SettingEntry[],
): readonly SubCall[] {
  const calls: SubCall[] = []
  const before = new Map(seen.map((entry) => [entry.cidr, entry]))
  const after = new Set(wanted.map((entry) => entry.cidr))
  for (const entry of wanted) {
    const there = before.get(entry.cidr)
    if (there === undefined) {
      calls.push({ method: 'POST', below: '', params: partsOf(field, entry), summary: `add ${valueText(entry.cidr)}` })
    } else if (!same(there, entry)) {
      const { cidr: _, ...rest } = entry
      const params = { comment: '', ...partsOf(field, rest) }
      calls.push({ method: 'PUT', below: below(entry), params, summary: `change ${valueText(entry.cidr)}` })
    }
  }
  for (const entry of seen) {
    if (after.has(entry.cidr)) continue
    calls.push({ method: 'DELETE', below: below(entry), params: {}, summary: `remove ${valueText(entry.cidr)}` })
  }
  return calls
}

function below(entry: SettingEntry): EntryPath {
  return `/${encodeURIComponent(valueText(entry.cidr))}` as EntryPath
}
