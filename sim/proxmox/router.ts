import type { WireRequest, WireResponse } from '../../src/lib/wire.ts'
import type { Identity } from '../world/access.ts'
import { PowerLost } from '../world/locks.ts'
import type { World } from '../world/types.ts'
import { ApiError, badParameter, badParameters, failed, notSimulated, unknownNode } from './api-error.ts'
import { authenticate } from './authenticate.ts'
import { Answer, type Call } from './call.ts'
import { type Decoded, decodeRequest, PlainRefusal } from './decode.ts'
import { ROUTES } from './handlers/index.ts'
import { isOpen, requirePermission } from './permit.ts'
import { checkParams, findOperation, type Operation, withLists } from './validate/index.ts'

/** A request that was understood far enough to know which workers serve it. */
export interface Routed {
  readonly decoded: Decoded
  readonly operation: Operation | undefined
  readonly pathParams: Readonly<Record<string, string>>
}

/** Undefined: no path of the API. Throws nothing: what is wrong with the form is kept for `answer`. */
export function route(request: WireRequest): Routed | PlainRefusal | undefined {
  try {
    const decoded = decodeRequest(request)
    if (decoded === undefined) return undefined
    const found = findOperation(decoded.method, decoded.path)
    return { decoded, operation: found?.operation, pathParams: found?.pathParams ?? {} }
  } catch (error) {
    if (error instanceof PlainRefusal) return error
    throw error
  }
}

export async function answer(world: World, request: WireRequest, routed: Routed): Promise<WireResponse> {
  const { dialect } = routed.decoded
  try {
    const result = await serve(world, request, routed)
    if (result instanceof Unauthorized) return { status: 401, reason: result.text, headers: EMPTY_CLOSE, body: '' }
    return ok(dialect, result)
  } catch (error) {
    return refusal(dialect, error)
  }
}

class Unauthorized {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The order of the real daemon: who, what, may they, which node, are the parameters good, then the work. */
function serve(world: World, request: WireRequest, routed: Routed): unknown {
  const { decoded, operation, pathParams } = routed
  const who = authenticate(world, request, decoded.method)
  const open = operation !== undefined && isOpen(operation)
  if (typeof who === 'string' && !open) return new Unauthorized(who)
  const identity = typeof who === 'string' ? { id: '', user: '', token: undefined } : who
  return carryOut(world, identity, { ...decoded, operation, pathParams })
}

interface Asked extends Pick<Decoded, 'method' | 'path' | 'params' | 'file'> {
  readonly operation: Operation | undefined
  readonly pathParams: Readonly<Record<string, string>>
}

function carryOut(world: World, identity: Identity, asked: Asked): unknown {
  const { operation, pathParams } = asked
  const key = `${asked.method} ${operation?.path ?? asked.path}`
  const handler = ROUTES.get(key)
  if (operation === undefined && handler === undefined) {
    throw new ApiError(501, `Method '${asked.method} ${asked.path}' not implemented`)
  }
  const twice = Object.keys(asked.params)
    .sort()
    .find((name) => pathParams[name] !== undefined && asked.params[name] !== pathParams[name])
  if (twice !== undefined)
    throw badParameter(twice, 'duplicate parameter (already defined in URI) with conflicting values!')
  const given = Object.assign(Object.create(null), asked.params, pathParams)
  if (operation !== undefined) {
    requirePermission(world, identity, operation, asked.path, given)
    requireNode(world, operation, given)
    // `localhost` is the node that was asked.
    if (pathParams.node === 'localhost') given.node = world.hosts.keys().next().value
  }
  if (!world.quorate && asked.method !== 'GET') throw failed('cluster not ready - no quorum?')
  let values: Readonly<Record<string, unknown>> = given
  if (operation !== undefined && !UNCHECKED.has(key)) {
    const checked = checkParams(operation, withLists(operation, given), known(world))
    if ('errors' in checked) throw badParameters(checked.errors)
    values = checked.values
  }
  // What is wrong with a call is told even where nothing would come of a right one.
  if (handler === undefined) throw notSimulated(`'${key}'`)
  const call: Call = {
    world,
    who: identity,
    method: asked.method,
    path: asked.path,
    params: texts(values),
    raw: values,
    perform: (method, path, params) => {
      const found = findOperation(method, path)
      const inner = { method, path, params, operation: found?.operation, pathParams: found?.pathParams ?? {} }
      return carryOut(world, identity, inner)
    },
    ...(asked.file ? { file: asked.file } : {}),
  }
  return handler(call)
}

function known(world: World): { cpuModels: ReadonlySet<string> } {
  return { cpuModels: new Set(world.shelves.get('cpu-models')?.keys()) }
}

/** The node named in the call answers. */
const ASKED_FROM = /^GET \/cluster\/mapping\/(?:dir|pci|usb)$/

/** These accept all parameters: their list is not kept. */
const UNCHECKED: ReadonlySet<string> = new Set(
  ['/access/ticket', '/cluster/firewall', '/cluster/firewall/macros', '/cluster/firewall/options'].map(
    (path) => `GET ${path}`,
  ),
)

/** A call for another node is passed on to it; what comes back when that cannot be done is not the node's answer. */
function requireNode(world: World, operation: Operation, given: Readonly<Record<string, unknown>>): void {
  const by = ASKED_FROM.test(`${operation.method} ${operation.path}`) ? 'check-node' : operation.proxyTo
  const name = by === undefined ? undefined : given[by]
  // Whom to pass it on to is looked for before anything else of the call.
  if (by === 'node' && name === undefined) throw badParameter('node', 'proxyto parameter does not exist')
  if (typeof name !== 'string' || name === 'localhost') return
  const host = world.hosts.get(name)
  if (host === undefined) throw unknownNode(name)
  if (host.power === 'off') throw new PlainRefusal(595, 'No route to host', '')
}

/** Converts parameters to text, as Proxmox does with every type. */
function texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const result: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) continue
    if (typeof value === 'boolean') result[name] = value ? '1' : '0'
    else if (Array.isArray(value)) result[name] = value.join(',')
    else result[name] = typeof value === 'object' ? JSON.stringify(value) : `${value as string | number}`
  }
  return result
}

const COMMON = { 'Cache-Control': 'max-age=0', Pragma: 'no-cache', Server: 'pve-api-daemon/3.0' }
const JSON_OPEN = { ...COMMON, Connection: 'Keep-Alive', 'Content-Type': 'application/json;charset=UTF-8' }
const JSON_CLOSE = { ...JSON_OPEN, Connection: 'close' }
const TEXT_CLOSE = { ...COMMON, Connection: 'close', 'Content-Type': 'text/plain' }
const EMPTY_CLOSE = { ...COMMON, Connection: 'close' }

function ok(dialect: Decoded['dialect'], result: unknown): WireResponse {
  const whole = result instanceof Answer ? { data: result.data ?? null, ...result.envelope } : { data: result ?? null }
  const body = JSON.stringify(dialect === 'extjs' ? { ...whole, success: 1 } : whole)
  return { status: 200, reason: 'OK', headers: JSON_OPEN, body }
}

function refusal(dialect: Decoded['dialect'], error: unknown): WireResponse {
  if (error instanceof PlainRefusal) return plain(error)
  if (error instanceof PowerLost) return plain(new PlainRefusal(596, 'Broken pipe', ''))
  const known = error instanceof ApiError ? error : failed(error instanceof Error ? error.message : String(error))
  const { status, errors } = known
  const message = status === 501 ? known.message : `${known.message}\n`
  const whole = { data: null, message, ...(errors ? { errors } : {}) }
  if (dialect === 'extjs') {
    return { status: 200, reason: 'OK', headers: JSON_OPEN, body: JSON.stringify({ ...whole, success: 0, status }) }
  }
  return { status, reason: oneLine(known.message), headers: JSON_CLOSE, body: JSON.stringify(whole) }
}

export function plain(error: PlainRefusal): WireResponse {
  const headers = error.body === '' ? EMPTY_CLOSE : TEXT_CLOSE
  return { status: error.status, reason: oneLine(error.message), headers, body: error.body }
}

/** A status line ends where the text breaks. */
function oneLine(text: string): string {
  return (text.split(/[\r\n]/, 1)[0] ?? '').replace(/[\x00-\x1f\x7f]+/g, ' ')
}
