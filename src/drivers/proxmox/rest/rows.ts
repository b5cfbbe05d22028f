import { LIMITS } from '../../../lib/limits.ts'
import type { ListReading } from '../../../model/rest.ts'
import { type ApiFields, cleanText, isRecord, nameOf, recordsOf } from '../foreign.ts'

/** In a row: changes that are written and not applied yet, and their subject. */
export const UNAPPLIED = 'croft:unapplied'
/** In a row: it is deleted when the changes are applied. */
export const LEAVING = 'croft:leaving'

/** Returns the things in an answer, one row each. `beside` is what stands next to the data. */
export function rowsIn(reading: ListReading, data: unknown, envelope: ApiFields): readonly ApiFields[] {
  switch (reading.rows ?? 'each') {
    case 'each':
      return recordsOf(data).filter((row) => isStaying(reading, row))
    case 'one':
      return isRecord(data) ? [data] : []
    case 'rules':
      return [ruleList(data)]
    case 'acl':
      return recordsOf(data).map(accessLine)
    case 'apt':
      return isRecord(data) ? aptRows(data) : []
    case 'pending':
      return recordsOf(data).map(pendingRow)
    case 'changes':
      return interfaceRows(recordsOf(data), envelope.changes)
  }
}

function isStaying({ leavingBy }: ListReading, row: ApiFields): boolean {
  return leavingBy === undefined || row[leavingBy] === undefined || row[leavingBy] === null
}

/** A list of rules as one thing: their order matters. */
export function ruleList(data: unknown): ApiFields {
  const rules = recordsOf(data)
  const digest = rules[0]?.digest
  return { rules, ...(typeof digest === 'string' ? { digest } : {}) }
}

/** Splits the subject into one field per type, as the write call expects. */
function accessLine(row: ApiFields): ApiFields {
  const sort = row.type === 'group' ? 'groups' : row.type === 'token' ? 'tokens' : 'users'
  return { path: row.path, roles: row.roleid, propagate: row.propagate, subject: row.ugid, [sort]: row.ugid }
}

function aptRows(data: ApiFields): readonly ApiFields[] {
  const digest = data.digest
  const lines = recordsOf(data.files).flatMap((file) =>
    recordsOf(file.repositories).map((line, index) => ({
      sort: 'file',
      key: `${nameOf(file.path) ?? ''}#${index}`,
      path: file.path,
      index,
      enabled: line.Enabled,
      digest,
    })),
  )
  const standard = recordsOf(data['standard-repos'])
    .filter(({ status }) => status !== undefined && status !== null)
    .map((one) => ({ sort: 'standard', key: one.handle, enabled: one.status, digest }))
  return [...lines, ...standard]
}

/** Merges pending values, which the answer lists separately, over current ones. */
function pendingRow(row: ApiFields): ApiFields {
  const { pending, state, ...now } = row
  const coming = isRecord(pending) ? pending : {}
  const merged: Record<string, unknown> = { ...now }
  for (const [name, value] of Object.entries(coming)) {
    // A pending deletion is listed as "deleted".
    if (value === 'deleted') delete merged[name]
    else merged[name] = value
  }
  return {
    ...merged,
    cidr: merged.cidr ?? merged.subnet,
    ...(state === undefined || state === null ? {} : { [UNAPPLIED]: nameOf(state) ?? 'changed' }),
    ...(state === 'deleted' ? { [LEAVING]: true } : {}),
  }
}

/** Interfaces of a host. Pending changes show only in a difference beside the rows. */
function interfaceRows(rows: readonly ApiFields[], changes: unknown): readonly ApiFields[] {
  const pending = pendingInterfaces(changes)
  if (pending === undefined) return rows
  const shown = new Set(rows.map((row) => row.iface))
  const marked = rows.map((row) =>
    pending.unclear || pending.names.includes(String(row.iface)) ? { ...row, [UNAPPLIED]: pending.shown } : row,
  )
  const leaving = pending.removed
    .filter((iface) => !shown.has(iface))
    .map((iface) => ({ iface, [UNAPPLIED]: pending.shown, [LEAVING]: true }))
  return [...marked, ...leaving]
}

/** The subject of a difference between the current interfaces file and the pending one. */
interface PendingInterfaces {
  /** Interfaces that are changed, added or removed. */
  readonly names: readonly string[]
  readonly removed: readonly string[]
  /** Some changed lines are too far from an interface's name. */
  readonly unclear: boolean
  /** The difference as text. */
  readonly shown: string
}

const HEADING = /^(?:auto|allow-\S+|iface)\s+(\S+)/

/** Parses the unified diff that Proxmox returns with the interfaces of a host. Undefined without one. */
export function pendingInterfaces(changes: unknown): PendingInterfaces | undefined {
  if (typeof changes !== 'string' || changes === '') return undefined
  const names = new Set<string>()
  const removed = new Set<string>()
  const added = new Set<string>()
  let current: string | undefined
  let unclear = true
  let lines = 0
  for (const line of changes.slice(0, LIMITS.responseBytes).split('\n')) {
    if (/^(?:---|\+\+\+) /.test(line)) continue
    if (line.startsWith('@@')) {
      current = undefined
      continue
    }
    const text = line.slice(1)
    const heading = HEADING.exec(text)?.[1]
    if (heading !== undefined) current = heading
    if (!/^[+-]/.test(line) || text.trim() === '') continue
    if (lines++ === 0) unclear = false
    if (current === undefined) unclear = true
    else names.add(current)
    if (heading !== undefined && text.startsWith('iface')) (line.startsWith('-') ? removed : added).add(heading)
  }
  const gone = [...removed].filter((name) => !added.has(name))
  const shown = cleanText([...names].join(', '), LIMITS.foreignNameLength)
  return { names: [...names], removed: gone, unclear, shown: shown === '' ? 'changes' : shown }
}
