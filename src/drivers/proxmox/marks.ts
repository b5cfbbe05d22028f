import { defined } from '../../lib/defined.ts'
import type { Mark } from '../../model/resource.ts'
import { type ApiFields, decoded } from './foreign.ts'

/**
 * How croft recognises its things. The tags are in the survey and carry the uid; the description's line carries the
 * rest. People's own text is never lost.
 */
const GENERAL_TAG = 'croft'
const UID_TAG = /^croft-([0-9a-f]{16})$/
/** The same inside a list. */
const TAGGED_UID = /(?:^|[;,\s])croft-([0-9a-f]{16})(?:[;,\s]|$)/
const MARK_LINE = /^croft: (?=.*\buid=[0-9a-f]{16}\b)/

export function markTags(uid: string): readonly string[] {
  return [GENERAL_TAG, `croft-${uid}`]
}

/** Returns the tags of a list with any separator. */
export function splitTags(text: unknown): string[] {
  return typeof text === 'string' ? text.split(/[;,\s]+/).filter((tag) => tag !== '') : []
}

/**
 * Returns all tags but croft's, for comparison: lower case, sorted, without duplicates. Proxmox lowers the case itself
 * unless the datacentre is set up to keep it.
 */
export function humanTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.toLowerCase()).filter((tag) => !isOurs(tag)))].sort()
}

/** Returns people's tags in their case, then ours. */
export function printTags(tags: readonly string[], uid: string): string {
  const human = new Map<string, string>()
  for (const tag of tags) if (!isOurs(tag.toLowerCase())) human.set(tag.toLowerCase(), tag)
  const inOrder = [...human].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tag]) => tag)
  return [...inOrder, ...markTags(uid)].join(';')
}

/** Returns people's tags unchanged. */
export function withoutMarkTags(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => !isOurs(tag.toLowerCase()))
}

function isOurs(tag: string): boolean {
  return tag === GENERAL_TAG || UID_TAG.test(tag)
}

/** Returns the uid in a tag list. Two different ones contradict each other and count as none. */
export function uidOfTags(text: unknown): string | undefined {
  // Runs for every guest of every survey: most have no mark.
  const lower = typeof text === 'string' ? text.toLowerCase() : ''
  const first = lower.indexOf('croft-')
  if (first === -1) return undefined
  if (lower.indexOf('croft-', first + 1) === -1) return TAGGED_UID.exec(lower)?.[1]
  const uids = new Set(splitTags(lower).flatMap((tag) => UID_TAG.exec(tag)?.[1] ?? []))
  return uids.size === 1 ? [...uids][0] : undefined
}

export interface MarkLine {
  readonly mark: Mark
  /** The id that it was written for. A person's clone copies the line, and so shows that it is a copy. */
  readonly externalId?: string
}

/** Splits a person's text from our line, if there is one. */
export function splitDescription(text: unknown): { readonly human: string; readonly line?: MarkLine } {
  if (typeof text !== 'string') return { human: '' }
  if (!text.includes('croft: ')) return { human: text.trimEnd() }
  const lines = text.split('\n')
  const at = lines.findLastIndex((line) => MARK_LINE.test(line))
  if (at === -1) return { human: text.trimEnd() }
  const line = readLine(lines[at] ?? '')
  const human = lines
    .filter((other) => !MARK_LINE.test(other))
    .join('\n')
    .trimEnd()
  return line === undefined ? { human } : { human, line }
}

export function printDescription(human: string, mark: Mark, externalId: string): string {
  return human === '' ? printLine(mark, externalId) : `${human.trimEnd()}\n${printLine(mark, externalId)}`
}

export function printLine(mark: Mark, externalId: string): string {
  const parts = [
    ['owner', mark.owner],
    ['estate', mark.estate],
    ['deletion', mark.deletion],
    ['protect', mark.protect === true ? 'yes' : undefined],
    ['server', mark.serverOf],
    ['devices', mark.devices === undefined || mark.devices.length === 0 ? undefined : mark.devices.join(',')],
    ['seed', mark.seed],
    ['seeding', mark.seeding === undefined ? undefined : `${mark.seeding.hash}@${mark.seeding.storage}`],
    ['unseeding', mark.unseeding],
    ['id', externalId],
    ['uid', mark.uid],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${escapeValue(value)}`]))
  return `croft: ${parts.join(' ')}`
}

/**
 * Returns the mark on a thing that was read closely. A description line for this id decides, also if the tags were
 * removed. A line for another id shows a copy, which has no owner. Without a line the tag decides.
 */
export function readMark(config: ApiFields, externalId: string): Mark | undefined {
  const tagged = uidOfTags(config.tags)
  const { line } = splitDescription(config.description)
  if (line === undefined) return tagged === undefined ? undefined : { uid: tagged }
  if (line.externalId !== undefined && line.externalId !== externalId) return undefined
  // A clone that croft made from its template: it copied the tags, but the line was written for it.
  if (line.externalId === externalId) return line.mark
  if (tagged !== undefined && tagged !== line.mark.uid) return { uid: tagged }
  return line.mark
}

function readLine(text: string): MarkLine | undefined {
  const values = new Map<string, string>()
  for (const part of text.slice('croft: '.length).split(' ')) {
    const equals = part.indexOf('=')
    if (equals > 0) values.set(part.slice(0, equals), decoded(part.slice(equals + 1)))
  }
  const uid = values.get('uid')
  if (uid === undefined) return undefined
  const deletion = values.get('deletion')
  const externalId = values.get('id')
  const mark: Mark = defined({
    uid,
    owner: values.get('owner'),
    estate: values.get('estate'),
    deletion: deletion === 'Delete' || deletion === 'Orphan' ? deletion : undefined,
    protect: values.get('protect') === 'yes' ? true : undefined,
    serverOf: values.get('server'),
    devices: readDevices(values.get('devices')),
    seed: readSeed(values.get('seed')),
    seeding: readSeeding(values.get('seeding')),
    unseeding: values.get('unseeding'),
  })
  return externalId === undefined ? { mark } : { mark, externalId }
}

function readDevices(text: string | undefined): Mark['devices'] {
  const devices = text?.split(',').filter((slot) => /^[a-z]+\d{1,3}$/.test(slot)) ?? []
  return devices.length === 0 ? undefined : devices
}

function readSeed(text: string | undefined): Mark['seed'] {
  return text !== undefined && /^(?:none|[0-9a-f]{12})$/.test(text) ? text : undefined
}

function readSeeding(text: string | undefined): Mark['seeding'] {
  if (text === undefined) return undefined
  const [, hash, storage] = /^([0-9a-f]{12})@(.+)$/.exec(text) ?? []
  return hash === undefined || storage === undefined ? undefined : { hash, storage }
}

function escapeValue(value: string): string {
  return value.replace(/[\s%\u0000-\u001f]/g, encodeURIComponent)
}
