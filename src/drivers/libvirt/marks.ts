import { defined } from '../../lib/defined.ts'
import type { Mark } from '../../model/resource.ts'
import {
  childrenOf,
  element,
  find,
  findOrMake,
  isElement,
  removeChild,
  setText,
  textIn,
  type XmlElement,
} from './xml.ts'

/*
 * The mark is croft's own element in the domain's metadata, which libvirt keeps and ignores. The description repeats it
 * in one line for people. Both leave other tools' texts alone.
 */
const NAMESPACE = 'https://croft.dev/libvirt/1'
const NAME = 'croft:machine'
const LINE = /^Kept by croft: .*$/

/** Returns the mark on a domain. A mark for another UUID shows a copied domain, which has no owner. */
export function readMark(domain: XmlElement): Mark | undefined {
  const node = markNode(domain)
  if (node === undefined) return undefined
  const { uid, id, owner, estate, deletion, protect, server, seed } = node.attributes
  if (uid === undefined || !/^[0-9a-f]{16}$/.test(uid) || id !== textIn(find(domain, 'uuid')).trim()) return undefined
  return {
    uid,
    ...defined({ owner, estate }),
    ...(deletion === 'Delete' || deletion === 'Orphan' ? { deletion } : {}),
    ...(protect === 'yes' ? { protect: true as const } : {}),
    ...defined({ serverOf: server }),
    ...(seed !== undefined && /^[0-9a-f]{12}$/.test(seed) ? { seed } : {}),
  }
}

/** Returns the mark as one line of a plan, which is parsed again when it is written. */
export function printMark(mark: Mark): string {
  const { uid, owner, estate, deletion, protect, serverOf, seed } = mark
  return JSON.stringify({ uid, owner, estate, deletion, protect, serverOf, seed })
}

/** Reports whether only Git changed, so that it is no drift: the estate got a uid, or protects it. */
export function isSaidByGit(from: unknown, to: unknown): boolean {
  if (typeof from !== 'string' || typeof to !== 'string') return false
  const { estate, protect, serverOf } = parseMark(to)
  const { estate: _, protect: __, serverOf: ___, ...rest } = parseMark(from)
  return printMark({ ...rest, ...defined({ estate, protect, serverOf }) }) === to
}

export function parseMark(text: string): Mark {
  return JSON.parse(text) as Mark
}

export function writeMark(domain: XmlElement, mark: Mark, uuid: string): void {
  const metadata = findOrMake(domain, 'metadata')
  const before = markNode(domain)
  const tags = childrenOf(before, 'croft:tag')
  if (before !== undefined) removeChild(metadata, before)
  const { uid, owner, estate, deletion, serverOf: server, seed } = mark
  const protect = mark.protect === true ? 'yes' : undefined
  metadata.children.push(
    element(NAME, { 'xmlns:croft': NAMESPACE, uid, id: uuid, owner, estate, deletion, protect, server, seed }, tags),
  )
  writeDescription(domain, readDescription(domain), mark)
}

/** Removes the mark from the metadata and our line from the description; people's text stays. */
export function removeMark(domain: XmlElement): void {
  const [metadata, node] = [find(domain, 'metadata'), markNode(domain)]
  if (metadata !== undefined && node !== undefined) removeChild(metadata, node)
  const description = find(domain, 'description')
  if (description === undefined) return
  const human = readDescription(domain)
  if (human === '') removeChild(domain, description)
  else setText(description, human)
}

/** Returns people's text. */
export function readDescription(domain: XmlElement): string {
  return textIn(find(domain, 'description'))
    .split('\n')
    .filter((line) => !LINE.test(line))
    .join('\n')
    .trimEnd()
}

export function writeDescription(domain: XmlElement, human: string, mark: Mark | undefined = readMark(domain)): void {
  const estate = mark?.estate === undefined ? '' : ` of estate ${mark.estate}`
  const line = mark === undefined ? [] : [`Kept by croft: ${mark.owner ?? mark.uid}${estate}`]
  const text = [...(human === '' ? [] : [human]), ...line].join('\n')
  if (text !== '') setText(descriptionNode(domain), text)
}

export function readTags(domain: XmlElement): readonly string[] {
  return childrenOf(markNode(domain), 'croft:tag').map((tag) => textIn(tag))
}

export function writeTags(domain: XmlElement, tags: readonly string[]): void {
  const node = markNode(domain)
  if (node === undefined) return
  node.children.splice(0, node.children.length, ...tags.map((tag) => element('croft:tag', {}, tag)))
}

/** Accepts any prefix of the namespace that a person or tool may have chosen. */
function markNode(domain: XmlElement): XmlElement | undefined {
  const all = childrenOf(find(domain, 'metadata'), NAME)
  return all.find((node) => node.attributes['xmlns:croft'] === NAMESPACE)
}

/** libvirt requires it before the rest. */
function descriptionNode(domain: XmlElement): XmlElement {
  const there = find(domain, 'description')
  if (there !== undefined) return there
  const made = element('description')
  const after = domain.children.findIndex((node) => isElement(node) && (node.name === 'uuid' || node.name === 'name'))
  domain.children.splice(after + 1, 0, made)
  return made
}
