import { XMLParser } from 'fast-xml-parser'
import { LIMITS } from '../../lib/limits.ts'

/** One element. Keeps the order of its content, also of unknown content, which belongs to other tools. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Record<string, string>
  readonly children: XmlNode[]
}
export type XmlNode = XmlElement | { readonly text: string } | { readonly comment: string }

const ATTRIBUTES = ':@'
const TEXT = '#text'
const COMMENT = '#comment'
const CDATA = '#cdata'

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  commentPropName: COMMENT,
  cdataPropName: CDATA,
  ignoreDeclaration: true,
  ignorePiTags: true,
})

/** Returns the root element. Undefined: the document is not trustworthy or not whole. */
export function parseXml(text: string): XmlElement | undefined {
  // A document type could define entities that grow without end. libvirt never writes one.
  if (text.length > LIMITS.responseBytes || /<!(?:DOCTYPE|ENTITY)/i.test(text) || !isBounded(text)) return undefined
  try {
    return nodesOf(parser.parse(text, true)).find(isElement)
  } catch {
    return undefined
  }
}

/** The ends of parts that are no elements. */
const PASSED = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const

/**
 * Reports whether its elements are within libvirt's depth and length. The parser takes ten seconds for two megabytes of
 * attributes, and a stack frame per level.
 */
function isBounded(text: string): boolean {
  const tag = /<[^"'<>]*(?:(?:"[^"]*"|'[^']*')[^"'<>]*)*>/y
  let depth = 0
  let elements = 0
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const passed = PASSED.find(([begin]) => text.startsWith(begin, at))
    if (passed !== undefined) {
      const end = text.indexOf(passed[1], at + passed[0].length)
      if (end === -1) return false
      at = end + passed[1].length
      continue
    }
    tag.lastIndex = at
    const found = tag.exec(text)?.[0]
    if (found === undefined || found.length > LIMITS.xmlTagLength) return false
    if (found.startsWith('</')) depth -= 1
    else if (!found.endsWith('/>')) depth += 1
    elements += 1
    if (depth > LIMITS.xmlDepth || elements > LIMITS.xmlElements) return false
    at += found.length
  }
  return true
}

/** Prints an element: escapes entities, and puts elements without text on separate lines. */
export function printXml(element: XmlElement, indent = ''): string {
  const attributes = Object.entries(element.attributes).map(([name, value]) => ` ${name}='${escaped(value)}'`)
  const open = `${indent}<${element.name}${attributes.join('')}`
  const children = laidOut(element) ? element.children.filter((child) => !isBlank(child)) : element.children
  if (children.length === 0) return `${open}/>`
  if (!laidOut(element)) return `${open}>${children.map((child) => printNode(child, '')).join('')}</${element.name}>`
  const lines = children.map((child) => printNode(child, `${indent}  `))
  return [`${open}>`, ...lines, `${indent}</${element.name}>`].join('\n')
}

export function isElement(node: XmlNode): node is XmlElement {
  return 'name' in node
}

export function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>> = {},
  children: readonly XmlNode[] | string = [],
): XmlElement {
  const given = Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    name,
    attributes: Object.fromEntries(given),
    children: typeof children === 'string' ? [{ text: children }] : [...children],
  }
}

export function childrenOf(parent: XmlElement | undefined, name: string): readonly XmlElement[] {
  return (parent?.children ?? []).filter((node): node is XmlElement => isElement(node) && node.name === name)
}

/** Returns the first element at a path: `os/type`. */
export function find(parent: XmlElement | undefined, path: string): XmlElement | undefined {
  let at = parent
  for (const name of path.split('/')) at = childrenOf(at, name)[0]
  return at
}

/** Returns the element, created if missing. */
export function findOrMake(parent: XmlElement, path: string): XmlElement {
  let at = parent
  for (const name of path.split('/')) {
    let next = childrenOf(at, name)[0]
    if (next === undefined) {
      next = element(name)
      at.children.push(next)
    }
    at = next
  }
  return at
}

export function textIn(node: XmlElement | undefined): string {
  return (node?.children ?? []).map((child) => ('text' in child ? child.text : '')).join('')
}

export function setText(node: XmlElement, text: string): void {
  node.children.splice(0, node.children.length, { text })
}

export function removeChild(parent: XmlElement, child: XmlNode): void {
  const at = parent.children.indexOf(child)
  if (at >= 0) parent.children.splice(at, 1)
}

function printNode(node: XmlNode, indent: string): string {
  if (isElement(node)) return printXml(node, indent)
  if ('comment' in node) return `${indent}<!--${node.comment.replaceAll('--', '- -')}-->`
  return escaped(node.text)
}

/** White space between elements has no meaning for libvirt; beside text it has. */
function laidOut(parent: XmlElement): boolean {
  return parent.children.every((child) => isElement(child) || 'comment' in child || isBlank(child))
}

function isBlank(node: XmlNode): boolean {
  return 'text' in node && node.text.trim() === ''
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&apos;',
  '"': '&quot;',
}

function escaped(text: string): string {
  // XML 1.0 cannot represent other control characters.
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>'"]/g, (character) => ESCAPES[character] ?? '')
    .replaceAll('\r', '&#13;')
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', apos: "'", quot: '"' }

function resolved(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}

function nodesOf(parsed: unknown): XmlNode[] {
  if (!Array.isArray(parsed)) return []
  return parsed.flatMap((entry: Readonly<Record<string, unknown>>): XmlNode[] => {
    const name = Object.keys(entry).find((key) => key !== ATTRIBUTES)
    if (name === undefined) return []
    const content = entry[name]
    if (name === TEXT) return [{ text: resolved(String(content)) }]
    if (name === COMMENT) return [{ comment: plainText(content) }]
    if (name === CDATA) return [{ text: plainText(content) }]
    const attributes = (entry[ATTRIBUTES] ?? {}) as Readonly<Record<string, unknown>>
    const read = Object.entries(attributes).map(([key, value]) => [key, resolved(String(value))])
    return [{ name, attributes: Object.fromEntries(read) as Record<string, string>, children: nodesOf(content) }]
  })
}

function plainText(content: unknown): string {
  return Array.isArray(content)
    ? content.map((part: Readonly<Record<string, string>>) => part[TEXT] ?? '').join('')
    : ''
}

/** The pools and networks of a host that a domain's XML depends on. */
export interface HostPlaces {
  /** Pools by name, with the place of their volumes. */
  readonly pools: ReadonlyMap<string, Pool>
  /** Networks that libvirt manages; any other name is a bridge of the host. */
  readonly networks: ReadonlySet<string>
  /** Pools that are not active. */
  readonly off?: readonly string[]
}

export interface Pool {
  readonly type: string
  readonly path: string
}

const BLOCK_POOLS: ReadonlySet<string> = new Set(['logical', 'zfs', 'disk', 'iscsi', 'iscsi-direct', 'scsi', 'mpath'])

export function isBlockPool(pool: Pool | undefined): boolean {
  return pool !== undefined && BLOCK_POOLS.has(pool.type)
}

export function volumePath(places: HostPlaces, pool: string, volume: string): string | undefined {
  const path = places.pools.get(pool)?.path
  return path === undefined ? undefined : `${path.replace(/\/$/, '')}/${volume}`
}

/** Returns the pool and volume of a path. */
export function placeOf(
  places: HostPlaces,
  path: string,
): { readonly pool: string; readonly volume: string } | undefined {
  const slash = path.lastIndexOf('/')
  const directory = path.slice(0, slash)
  for (const [pool, { path: root }] of places.pools)
    if (root.replace(/\/$/, '') === directory) return { pool, volume: path.slice(slash + 1) }
  return undefined
}
