import type { StorageEntry } from '../../../world/parts.ts'
import { parseProperties } from '../../../world/properties.ts'
import { failed } from '../../api-error.ts'
import type { Call } from '../../call.ts'
import { digestOf, type Thing } from '../shelf.ts'
import { STORAGE_TYPES } from './storage-types.ts'

/** Fields of an entry that the world keeps by themselves; all others are its options. */
const OWN = new Set(['storage', 'type', 'content', 'path', 'shared', 'nodes', 'disable', 'digest', 'delete', 'node'])
/** Kept in files of their own and never shown. */
const SECRETS = new Set(['password', 'keyring'])
/** Kept in files of their own; only that they are there is shown. */
const KEYS = new Set(['encryption-key', 'master-pubkey'])

export function configRow(entry: StorageEntry): Thing {
  const row: Thing = { storage: entry.id, type: entry.type, content: entry.content.join(',') }
  for (const [key, value] of Object.entries(entry.options)) {
    if (SECRETS.has(key)) continue
    if (KEYS.has(key)) row[key] = '1'
    else if (key === 'content-dirs') row[key] = Object.fromEntries(parseProperties(String(value)).named)
    else row[key] = value
  }
  if (entry.path !== '') row.path = entry.path
  if (entry.shared) row.shared = 1
  if (entry.nodes !== undefined) row.nodes = entry.nodes.join(',')
  if (entry.disabled) row.disable = 1
  return { ...row, digest: digestOf({ ...row, ...entry.options }) }
}

/** What the call gives as options, in the types that the schema says. */
export function optionsOf(call: Call, type: string): Record<string, string | number> {
  const options: Record<string, string | number> = {}
  for (const key of Object.keys(call.params)) {
    const value = call.raw[key]
    if (!OWN.has(key)) options[key] = typeof value === 'number' ? value : (call.params[key] ?? '')
  }
  if (options.format !== undefined && STORAGE_TYPES[type]?.formats?.includes(`${options.format}`) !== true)
    delete options.format
  // That a directory is not shared may be said aloud; it is then kept.
  if (call.params.shared === '0') options.shared = 0
  return options
}

/** Content types that the kind cannot hold are left out without a word, unless nothing is left. */
export function contentFor(type: string, text: string): string[] {
  const can = STORAGE_TYPES[type]?.content ?? []
  const kept = text.split(/[,;\s]+/).filter((content) => can.includes(content))
  if (kept.includes('none') && kept.length > 1) throw failed("unable to combine 'none' with other content types")
  if (kept.length === 0 && !can.includes('none')) throw failed("storage does not support content type 'none'")
  return kept.length > 0 ? kept : ['none']
}

/** Refuses what a kind of storage does not know, and the lack of what it needs. Where it mounts a folder it knows itself. */
export function checkNew(call: Call, type: string): void {
  const kind = STORAGE_TYPES[type]
  if (kind === undefined) return
  const known = new Set([...kind.required, ...kind.optional, 'storage', 'type'])
  const foreign = Object.keys(call.params).find((key) => !known.has(key))
  if (foreign !== undefined) throw failed(`unexpected property '${foreign}'`)
  const missing = kind.required.find((key) => call.params[key] === undefined && !(kind.mounted && key === 'path'))
  if (missing !== undefined) throw failed(`missing value for required option '${missing}'`)
  if (type === 'dir' && !/^\/[-/a-zA-Z0-9_.@]+$/.test(call.params.path ?? ''))
    throw failed(`illegal path for directory storage: ${call.params.path}`)
}

/** Parameters of the call itself. */
const OF_THE_CALL = new Set(['storage', 'digest', 'delete'])

/** Refuses a change of what cannot be changed, even to what it is. */
export function checkChange(call: Call, entry: StorageEntry): void {
  const kind = STORAGE_TYPES[entry.type]
  if (kind === undefined) return
  const refuse = (text: string) => failed(`update storage failed: ${text}`)
  const changeable = kind.changeable ?? []
  const fixed = [...kind.required.filter((key) => !changeable.includes(key)), ...(kind.fixed ?? [])]
  for (const key of Object.keys(call.params)) {
    if (OF_THE_CALL.has(key)) continue
    if (fixed.includes(key)) throw refuse(`can't change value of fixed parameter '${key}'`)
    if (!changeable.includes(key) && !kind.optional.includes(key)) throw refuse(`unexpected property '${key}'`)
  }
}

/** Refuses the removal of what cannot be missing. */
export function checkRemoval(call: Call, entry: StorageEntry, drop: readonly string[]): void {
  const kind = STORAGE_TYPES[entry.type]
  if (kind === undefined) return
  const refuse = (text: string) => failed(`update storage failed: ${text}`)
  for (const key of drop) {
    if (kind.required.includes(key)) throw refuse(`unable to delete required option '${key}'`)
    if (!kind.optional.includes(key)) throw refuse(`no such option '${key}'`)
    if (kind.fixed?.includes(key)) throw refuse(`unable to delete fixed option '${key}'`)
    if (call.params[key] !== undefined) throw refuse(`cannot set and delete property '${key}' at the same time!`)
  }
}

/** An encryption key is JSON; the answer of the call that set it shows it once. */
export function keyAnswer(call: Call, type: string, verb: string): { config?: Thing } {
  if (type !== 'pbs') return {}
  const key = call.params['encryption-key']
  if (key === undefined) return { config: {} }
  try {
    if (typeof JSON.parse(key) === 'object') return { config: { 'encryption-key': key } }
  } catch {
    // Told below.
  }
  throw failed(`${verb} storage failed: Value does not seems like a valid, JSON formatted encryption key!`)
}
