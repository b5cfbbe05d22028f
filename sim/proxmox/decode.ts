import type { WireRequest } from '../../src/lib/wire.ts'

/** A request with its wire form taken off. */
export interface Decoded {
  readonly method: string
  /** Without `/api2/json` and the query. */
  readonly path: string
  /** `extjs` answers 200 to everything and puts the status inside. */
  readonly dialect: 'json' | 'extjs'
  readonly params: Record<string, unknown>
  readonly file?: { readonly name: string; readonly bytes: Uint8Array }
}

/** An answer in plain text, from the part of the daemon that has not yet looked at what was asked. */
export class PlainRefusal extends Error {
  readonly status: number
  readonly body: string
  constructor(status: number, message: string, body = message) {
    super(message)
    this.name = 'PlainRefusal'
    this.status = status
    this.body = body
  }
}

const MAX_POST_BYTES = 512 * 1024
const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE'])

/** Throws a PlainRefusal. Undefined: not a path of the API. */
export function decodeRequest(request: WireRequest): Decoded | undefined {
  const mark = request.path.indexOf('?')
  const rawPath = mark < 0 ? request.path : request.path.slice(0, mark)
  const place = /^\/api2\/(json|extjs)(\/.*)?$/.exec(rawPath)
  if (place === null) return undefined
  if (!METHODS.has(request.method)) throw new PlainRefusal(501, `method '${request.method}' not available`, '')
  const path = decodedPath(place[2] ?? '/').replace(/(.)\/$/, '$1')
  const dialect = place[1] === 'extjs' ? 'extjs' : 'json'
  const params: Record<string, unknown> = {}
  if (mark >= 0) addForm(params, request.path.slice(mark + 1))
  const body = request.body
  const empty = body === undefined || body.length === 0
  if (!empty && (request.method === 'GET' || request.method === 'DELETE')) {
    throw new PlainRefusal(501, `Unexpected content for method '${request.method}'`)
  }
  if (empty) return { method: request.method, path, dialect, params }
  const type = header(request, 'content-type') ?? ''
  if (type.startsWith('multipart/form-data') && isUpload(request.method, path)) {
    const file = addMultipart(params, type, typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
    return { method: request.method, path, dialect, params, ...(file ? { file } : {}) }
  }
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  if (text.length > MAX_POST_BYTES) throw new PlainRefusal(501, 'for data too large')
  if (type.startsWith('application/json')) addJson(params, text)
  else if (type === '' || type.startsWith('application/x-www-form-urlencoded')) addForm(params, text)
  else throw new PlainRefusal(506, `upload 'Content-Type '${type}' not implemented`)
  return { method: request.method, path, dialect, params }
}

/** Files are taken in one place; anywhere else their type of content is as foreign as any. */
function isUpload(method: string, path: string): boolean {
  return method === 'POST' && /^\/nodes\/[^/]+\/storage\/[^/]+\/upload$/.test(path)
}

export function header(request: WireRequest, name: string): string | undefined {
  const exact = request.headers[name]
  if (exact !== undefined) return exact
  for (const [key, value] of Object.entries(request.headers)) if (key.toLowerCase() === name) return value
  return undefined
}

/**
 * The daemon cuts each pair at every `=` and drops what follows the second: a value that holds one must be escaped.
 * A name that comes twice becomes a list, which most parameters refuse.
 */
function addForm(params: Record<string, unknown>, text: string): void {
  for (const pair of text.split(/[&;]/)) {
    if (pair === '') continue
    const [rawName = '', rawValue = ''] = pair.split('=')
    const name = decoded(rawName)
    const value = decoded(rawValue)
    const known = Object.hasOwn(params, name) ? params[name] : undefined
    if (known === undefined) set(params, name, value)
    else set(params, name, Array.isArray(known) ? [...known, value] : [known, value])
  }
}

function set(params: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(params, name, { value, enumerable: true, configurable: true, writable: true })
}

function decoded(text: string): string {
  return decodedPath(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

function decodedPath(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function addJson(params: Record<string, unknown>, text: string): void {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const message = `'"' expected, at character offset 1 (before "${text.slice(1, 21)}")`
    throw new PlainRefusal(500, message, `${message}\n`)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) set(params, name, one)
}

/** Fields into the parameters; the one part with a file name is what was uploaded. */
function addMultipart(params: Record<string, unknown>, type: string, body: Uint8Array): Decoded['file'] {
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1] ?? ''
  const text = Buffer.from(body).toString('latin1')
  let file: Decoded['file']
  for (const part of text.split(`--${boundary}`)) {
    const end = part.indexOf('\r\n\r\n')
    const head = part.slice(0, end)
    const name = /[; ]name="([^"]*)"/.exec(head)?.[1]
    if (end < 0 || name === undefined) continue
    const content = part.slice(end + 4).replace(/\r\n$/, '')
    const filename = /filename="([^"]*)"/.exec(head)?.[1]
    if (filename === undefined) set(params, name, content)
    else {
      set(params, name, filename)
      file = { name: filename, bytes: Buffer.from(content, 'latin1') }
    }
  }
  return file
}
