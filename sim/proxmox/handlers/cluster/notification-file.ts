import { createHash } from 'node:crypto'
import { failed } from '../../api-error.ts'
import { type Thing, textOf } from '../shelf.ts'

/** What is in no file that everybody may read. */
const SECRETS = new Set(['token', 'password', 'secret'])

const DNS = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)'
const PORT = '[0-9]{1,5}'
const HTTP_ADDRESS = new RegExp(
  `^https?://(?:(?:(?:${DNS}\\.)*${DNS}|\\[[0-9a-fA-F:.]+\\])(?::${PORT})?|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)(?:/[^\\x00-\\x1f\\x7f]*)?$`,
)
const CONTROL = /[\x00-\x1f\x7f-\x9f]/

/** All of notifications is one file, and one digest is of all of it. Its secrets are in another. */
export function digestOfFile(sections: readonly (readonly [string, Thing])[], untouched: boolean): string {
  const hash = createHash('sha256')
  // Before the first change there is no file.
  if (!untouched) hash.update(JSON.stringify(sections.map(([id, thing]) => [id, withoutSecrets(thing)])))
  return hash.digest('hex')
}

function withoutSecrets(thing: Thing): Thing {
  return Object.fromEntries(Object.entries(thing).filter(([key]) => !SECRETS.has(key)))
}

/** Says no to what cannot be written down. This is found out last of all, when the file is written. */
export function refuseUnwritable(id: string, thing: Thing): void {
  const open = Object.entries(thing).filter(([key]) => !SECRETS.has(key))
  const hidden = Object.entries(thing).filter(([key]) => key === 'token' || key === 'password')
  const why = complaintOfSection(id, open)
  if (why !== undefined) throw unwritten('notifications.cfg', why)
  const secret = controlIn(id, hidden)
  if (secret !== undefined) throw unwritten('priv/notifications.cfg', secret)
}

function unwritten(file: string, why: string) {
  const text = `writing "${file}" failed: ${why}`
  return failed(`could not serialize configuration: ${text}: ${text}`)
}

const LONGEST_NAME = 32
const LONGEST_COMMENT = 128
const LONGEST_ADDRESSEE = 64

function complaintOfSection(id: string, fields: readonly (readonly [string, unknown])[]): string | undefined {
  if (id.length > LONGEST_NAME)
    return `syntax error in section identifier: value may only be ${LONGEST_NAME} characters long`
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1))
  const faults = sorted.flatMap(([key, value]) => faultsOf(key, value))
  if (faults.length === 0) return controlIn(id, sorted)
  const verdict = faults.length === 1 ? ` - ${faults[0]}` : `:\n${faults.map((fault) => `- ${fault}`).join('\n')}`
  return `verify section '${id}' failed - parameter verification failed${verdict}`
}

function faultsOf(key: string, value: unknown): string[] {
  const say = (name: string, why: string | undefined) => (why === undefined ? [] : [`'${name}': ${why}`])
  if (key === 'comment') return say(key, lineFault(textOf(value), 0, LONGEST_COMMENT))
  if (key === 'url') return say(key, HTTP_ADDRESS.test(textOf(value)) ? undefined : NO_MATCH)
  if (key !== 'mailto' && key !== 'mailto-user') return []
  const faults = (Array.isArray(value) ? value : [value]).map((one) => lineFault(textOf(one), 2, LONGEST_ADDRESSEE))
  const first = faults.findIndex((fault) => fault !== undefined)
  return first < 0 ? [] : say(`${key}/[${first}]`, faults[first])
}

const NO_MATCH = 'value does not match the regex pattern'

function lineFault(text: string, shortest: number, longest: number): string | undefined {
  const { length } = [...text]
  if (length < shortest) return `value must be at least ${shortest} characters long`
  if (length > longest) return `value may only be ${longest} characters long`
  return CONTROL.test(text) ? NO_MATCH : undefined
}

function controlIn(id: string, fields: readonly (readonly [string, unknown])[]): string | undefined {
  const found = fields.find(([, value]) => [value].flat().some((one) => CONTROL.test(textOf(one))))
  return found && `detected unexpected control character in section '${id}' key '${found[0]}'`
}
