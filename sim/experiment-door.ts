import type { WireRequest, WireResponse } from '../src/lib/wire.ts'
import { serveClusterDoor } from './cluster-door.ts'
import type { ClusterExperiments } from './cluster-experiments.ts'
import type { Experiments } from './experiments.ts'
import type { Fault, Faults } from './faults.ts'
import type { Stats } from './stats.ts'

interface Door
  extends Pick<
      Experiments,
      'state' | 'patchGuest' | 'removeGuest' | 'addGuest' | 'hostPower' | 'hostLoad' | 'setQuorum' | 'hideGuests'
    >,
    ClusterExperiments {
  readonly faults: Faults
  readonly writes: readonly unknown[]
  stats(): Stats
  resetStats(): void
}

/** The simulator's own door, for experiments: nothing here exists on a real Proxmox, and it asks for no token. */
export function answerDoor(datacentre: Door, request: WireRequest): WireResponse {
  const path = request.path.split('?')[0] ?? ''
  try {
    const answer = serve(datacentre, request.method, path, () => bodyOf(request))
    return answer === undefined ? reply(404, { error: `there is no ${request.method} ${path}` }) : reply(200, answer)
  } catch (error) {
    return reply(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

function serve(datacentre: Door, method: string, path: string, body: () => Record<string, unknown>): unknown {
  switch (`${method} ${path}`) {
    case 'GET /sim/stats':
      return datacentre.stats()
    case 'DELETE /sim/stats':
      datacentre.resetStats()
      return datacentre.stats()
    case 'GET /sim/state':
      return datacentre.state()
    case 'GET /sim/writes':
      return datacentre.writes
    case 'GET /sim/faults':
      return datacentre.faults.list()
    case 'POST /sim/faults':
      datacentre.faults.add(faultOf(body()))
      return datacentre.faults.list()
    case 'DELETE /sim/faults':
      datacentre.faults.clear()
      return []
    case 'POST /sim/quorum':
      datacentre.setQuorum(body().quorate !== false)
      return { ok: true }
  }
  const guest = /^\/sim\/guests\/(\d+)$/.exec(path)?.[1]
  if (guest !== undefined) return onGuest(datacentre, method, Number(guest), body)
  const host = /^\/sim\/hosts\/([^/]+)$/.exec(path)?.[1]
  if (host !== undefined && method === 'POST') {
    const { power, load } = body()
    if (typeof load === 'number' && load >= 0 && load <= 1) datacentre.hostLoad(decodeURIComponent(host), load)
    if (typeof load === 'number' && power === undefined) return { ok: true }
    if (power !== 'on' && power !== 'off') throw new Error('power must be "on" or "off"')
    datacentre.hostPower(decodeURIComponent(host), power)
    return { ok: true }
  }
  return serveClusterDoor(datacentre, method, path, body)
}

function onGuest(datacentre: Door, method: string, vmid: number, body: () => Record<string, unknown>): unknown {
  if (method === 'PATCH') datacentre.patchGuest(vmid, body())
  else if (method === 'DELETE') datacentre.removeGuest(vmid)
  else if (method === 'POST') {
    const { node, status, ...config } = body()
    const texts = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, String(value)]))
    datacentre.addGuest(vmid, String(node), texts, status === 'running')
  } else return undefined
  return { ok: true }
}

const KINDS = ['fail', 'delay', 'drop-before', 'drop-after', 'html', 'truncated', 'empty', 'lost-worker']

function faultOf(body: Record<string, unknown>): Fault {
  if (typeof body.kind !== 'string' || !KINDS.includes(body.kind))
    throw new Error(`kind must be one of ${KINDS.join(', ')}`)
  if (body.match !== undefined && typeof body.match !== 'string')
    throw new Error('match must be a regular expression as text')
  return body as unknown as Fault
}

function bodyOf(request: WireRequest): Record<string, unknown> {
  const { body } = request
  const text = body === undefined ? '' : typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  const value: unknown = JSON.parse(text === '' ? '{}' : text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('a JSON object is wanted')
  return value as Record<string, unknown>
}

function reply(status: number, value: unknown): WireResponse {
  const headers = { 'Content-Type': 'application/json;charset=UTF-8' }
  return { status, reason: status === 200 ? 'OK' : 'Bad Request', headers, body: JSON.stringify(value) }
}
