import type { Random } from '../src/lib/random.ts'
import { WireFailure, type WireRequest, type WireResponse } from '../src/lib/wire.ts'
import type { Site } from '../src/model/site.ts'
import { type ClusterExperiments, createClusterExperiments } from './cluster-experiments.ts'
import { answerDoor } from './experiment-door.ts'
import { createExperiments, type Experiments } from './experiments.ts'
import { createFaults, type Fault, type Faults, failedResponse, spoiled } from './faults.ts'
import { PlainRefusal } from './proxmox/decode.ts'
import { answer, plain, type Routed, route } from './proxmox/router.ts'
import type { SimClock } from './sim-clock.ts'
import { createStats, type Stats } from './stats.ts'
import { createWorkers } from './workers.ts'
import { between } from './world/chance.ts'
import { createWorld, DEFAULT_TIMING } from './world/create-world.ts'
import { fillSite } from './world/fill-site.ts'
import type { Timing } from './world/parts.ts'
import {
  allTokens,
  fillEmpty,
  fillGuests,
  fillHomelab,
  fillHosts,
  fillRecording,
  hostNames,
  type Preset,
} from './world/presets.ts'
import type { World } from './world/types.ts'

export interface DatacentreOptions {
  readonly clock: SimClock
  readonly random: Random
  /** Default `homelab`. */
  readonly preset?: Preset
  /** Names, or how many. */
  readonly hosts?: readonly string[] | number
  /** This many running guests, from VMID 1000. */
  readonly vms?: number
  /** A described site instead of a preset. */
  readonly site?: Site
  readonly timing?: Partial<Timing>
  /** How many calls each of the two daemons serves at once. Default 3. */
  readonly workers?: number
}

/** A call that changed something, or was meant to and was taken. */
export interface Write {
  readonly atMs: number
  readonly method: string
  /** Without `/api2/json`, with its query. */
  readonly path: string
  readonly params: Readonly<Record<string, unknown>>
  /** The `data` of the answer: the UPID, mostly. */
  readonly result: unknown
}

/** A simulated Proxmox cluster: the same code behind HTTPS and in-process. */
export interface Datacentre extends Experiments, ClusterExperiments {
  /** One exchange. Rejects with a WireFailure when no answer comes. */
  handle(request: WireRequest): Promise<WireResponse>
  readonly world: World
  readonly faults: Faults
  /** Every accepted write, in order; the newest hundred thousand. */
  readonly writes: readonly Write[]
  stats(): Stats
  resetStats(): void
  /** By token id: `root@pam!croft`. */
  readonly tokens: Readonly<Record<string, string>>
  /** Ready for an Authorization header after `PVEAPIToken=`. */
  readonly token: string
}

/** A simulator that serves for days forgets the oldest. */
const WRITES_KEPT = 100_000

/** How long the front daemon waits for the one behind it. */
const PROXY_TIMEOUT_MS = 30_000

/** Times in which the recordings can be replayed quickly, with every list fresh. */
const RECORDING_TIMING: Partial<Timing> = {
  allocateMs: [1, 3],
  freeMs: [0, 1],
  startMs: [20, 40],
  bootMs: [60, 60],
  shutdownMs: [0, 0],
  shortTaskMs: 20,
  importBytesPerSecond: 4_000_000_000,
  cloneBytesPerSecond: 40_000_000_000,
  statusCycleMs: 0,
  statusCacheMs: 0,
}

export function createDatacentre(options: DatacentreOptions): Datacentre {
  const { clock, random } = options
  const preset = options.preset ?? 'homelab'
  const recording = preset === 'recording'
  const timing = { ...DEFAULT_TIMING, ...(recording ? RECORDING_TIMING : {}), ...options.timing }
  const world = createWorld({ clock, random, timing, statusDaemon: !recording })
  if (options.site !== undefined) fillSite(world, options.site)
  else if (recording) fillRecording(world)
  else if (preset === 'empty') fillEmpty(world, hostNames(options.hosts))
  else if (preset === 'hosts') fillHosts(world, hostNames(options.hosts))
  else fillHomelab(world, hostNames(options.hosts))
  if (options.vms !== undefined) fillGuests(world, options.vms)

  const faults = createFaults(clock, random)
  const stats = createStats(world.storageBusyMs)
  const writes: Write[] = []
  const front = createWorkers(clock, options.workers ?? 3)
  const behind = createWorkers(clock, options.workers ?? 3)
  const tokens = allTokens(world)
  const [firstToken, firstSecret] = Object.entries(tokens)[0] ?? ['', '']

  async function handle(request: WireRequest): Promise<WireResponse> {
    if (request.path.startsWith('/sim')) return answerDoor(datacentre, request)
    if (![...world.hosts.values()].some((host) => host.power === 'on')) throw refusedConnection()
    const routed = route(request)
    const place =
      routed !== undefined && !(routed instanceof PlainRefusal)
        ? (routed.operation?.path ?? routed.decoded.path)
        : request.path
    stats.begin(request.method, place)
    let bytes = 0
    try {
      const response = await struckBy(faults.strike(request.method, request.path), () => served(request, routed))
      bytes = response.body.length
      return response
    } finally {
      stats.end(bytes)
    }
  }

  /** Serves the request unless a fault comes before it, and spoils the answer if one comes after. */
  async function struckBy(struck: readonly Fault[], serve: () => Promise<WireResponse>): Promise<WireResponse> {
    if (struck.length === 0) return serve()
    for (const fault of struck) {
      if (fault.kind === 'delay') await clock.sleep(fault.delayMs ?? 1000)
      if (fault.kind === 'drop-before') throw lost(fault.sent ?? 'maybe')
      if (fault.kind === 'fail') return failedResponse(fault)
      if (fault.kind === 'lost-worker') world.losesWorkers += 1
    }
    const response = await serve()
    for (const fault of struck) {
      if (fault.kind === 'drop-after') throw lost('maybe')
      if (fault.kind === 'html' || fault.kind === 'truncated' || fault.kind === 'empty') return spoiled(response, fault)
    }
    return response
  }

  async function served(request: WireRequest, routed: Routed | PlainRefusal | undefined): Promise<WireResponse> {
    if (routed === undefined) return plain(new PlainRefusal(404, 'no such file', ''))
    if (routed instanceof PlainRefusal) return plain(routed)
    const workers = routed.operation?.privileged ? behind : front
    const taken = workers.take(PROXY_TIMEOUT_MS)
    if (taken !== true && !(await taken)) return plain(new PlainRefusal(596, 'Connection timed out', ''))
    try {
      const latencyMs = between(random, timing.callMs)
      if (latencyMs > 0) await clock.sleep(latencyMs)
      const response = await answer(world, request, routed)
      note(routed, request, response)
      return response
    } finally {
      workers.give()
    }
  }

  function note(routed: Routed, request: WireRequest, response: WireResponse): void {
    const { decoded } = routed
    if (decoded.method === 'GET' || response.status >= 400 || decoded.path === '/access/ticket') return
    if (writes.length >= WRITES_KEPT) writes.splice(0, WRITES_KEPT / 10)
    writes.push({
      atMs: clock.now(),
      method: decoded.method,
      path: request.path.replace(/^\/api2\/(json|extjs)/, ''),
      params: decoded.params,
      result: (JSON.parse(response.body) as { data?: unknown }).data ?? null,
    })
  }

  const datacentre: Datacentre = {
    ...createExperiments(world),
    ...createClusterExperiments(world),
    handle,
    world,
    faults,
    writes,
    stats: () => stats.current(),
    resetStats: () => stats.reset(),
    tokens,
    token: `${firstToken}=${firstSecret}`,
  }
  return datacentre
}

function lost(sent: 'no' | 'maybe'): WireFailure {
  return sent === 'no' ? refusedConnection() : new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
}

function refusedConnection(): WireFailure {
  return new WireFailure('no', 'ECONNREFUSED', 'connection refused')
}
