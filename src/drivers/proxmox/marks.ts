import type { Mark } from '../../model/sighting.ts'
import type { Foreign } from './foreign.ts'

/**
 * How croft recognises what it made. The tags are seen in bulk and carry the uid; the description's line carries the
 * rest. What people wrote beside them is never lost.
 */
const GENERAL_TAG = 'croft'
const UID_TAG = /^croft-([0-9a-f]{16})$/
const MARK_LINE = /^croft: (?=.*\buid=[0-9a-f]{16}\b)/

export function markTags(uid: string): readonly string[] {
  return [GENERAL_TAG, `croft-${uid}`]
}

/** Tags as Proxmox stores them: lower case, whatever separator a person used. */
export function splitTags(text: unknown): string[] {
  if (typeof text !== 'string') return []
  return text
    .toLowerCase()
    .split(/[;,\s]+/)
    .filter((tag) => tag !== '')
}

/** Everything but our own tags, sorted and without repetition. */
export function humanTags(tags: readonly string[]): string[] {
  const human = tags.map((tag) => tag.toLowerCase()).filter((tag) => tag !== GENERAL_TAG && !UID_TAG.test(tag))
  return [...new Set(human)].sort()
}

export function printTags(human: readonly string[], uid: string): string {
  return [...humanTags(human), ...markTags(uid)].join(';')
}

/** The uid in a tag list. Two different ones are a contradiction and count as none. */
export function uidOfTags(text: unknown): string | undefined {
  // Asked for every guest of every survey: most have no mark at all.
  if (typeof text !== 'string' || !text.toLowerCase().includes('croft-')) return undefined
  const uids = new Set(splitTags(text).flatMap((tag) => UID_TAG.exec(tag)?.[1] ?? []))
  return uids.size === 1 ? [...uids][0] : undefined
}

export interface MarkLine {
  readonly mark: Mark
  /** The id it was written for. A person's clone carries the line along, and so gives itself away. */
  readonly externalId?: string
}

/** What a person wrote, and our line when there is one. */
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
    ['id', externalId],
    ['uid', mark.uid],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${escapeValue(value)}`]))
  return `croft: ${parts.join(' ')}`
}

/**
 * The mark on a thing that was looked at closely. The tag decides the uid; without it our line does (someone took the
 * tags away). A line that was written for another id shows a copy, which is nobody's.
 */
export function readMark(config: Foreign, externalId: string): Mark | undefined {
  const tagged = uidOfTags(config.tags)
  const { line } = splitDescription(config.description)
  if (line === undefined) return tagged === undefined ? undefined : { uid: tagged }
  if (line.externalId !== undefined && line.externalId !== externalId) return undefined
  if (tagged !== undefined && tagged !== line.mark.uid) return { uid: tagged }
  return line.mark
}

function readLine(text: string): MarkLine | undefined {
  const values = new Map<string, string>()
  for (const part of text.slice('croft: '.length).split(' ')) {
    const equals = part.indexOf('=')
    if (equals > 0) values.set(part.slice(0, equals), unescapeValue(part.slice(equals + 1)))
  }
  const uid = values.get('uid')
  if (uid === undefined) return undefined
  const owner = values.get('owner')
  const estate = values.get('estate')
  const deletion = values.get('deletion')
  const externalId = values.get('id')
  const mark: Mark = {
    uid,
    ...(owner === undefined ? {} : { owner }),
    ...(estate === undefined ? {} : { estate }),
    ...(deletion === 'Delete' || deletion === 'Orphan' ? { deletion } : {}),
  }
  return externalId === undefined ? { mark } : { mark, externalId }
}

function escapeValue(value: string): string {
  return value.replace(/[\s%\u0000-\u001f]/g, encodeURIComponent)
}

function unescapeValue(value: string): string {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
