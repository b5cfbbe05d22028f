import type { ResourceKey } from '../../../model/declaration.ts'
import type { Estate } from '../../../model/estate.ts'
import { type Candidate, guestIn, type LoadSample, type Placement, type Resource } from '../../../model/resource.ts'
import type { Ledger, World } from '../world.ts'
import { movedByGit, movingHere } from './follow.ts'
import { type Demand, demandOf, freeMemory, gib, type Room, roomsOf, shortageOf, withPromise } from './room.ts'

export interface PlaceInput {
  readonly worlds: ReadonlyMap<string, World>
  readonly ledger: Ledger
  /** Load samples of hosts by `connection/node`, as far as they were read. */
  readonly loads?: ReadonlyMap<string, readonly LoadSample[]>
  readonly nowMs: number
}

/**
 * Chooses a host for every machine that leaves the choice to croft: the current host, else the host where its creation
 * started, else the least crowded host that is allowed and has room. The same world gives the same answer.
 */
export function place(estate: Estate, input: PlaceInput): Estate {
  const { worlds, ledger } = input
  const open = estate.resources.filter(({ placement }) => placement !== undefined)
  const placed = new Map<ResourceKey, Resource>()
  const yard = open.length === 0 ? undefined : yardOf(estate, input)
  if (yard !== undefined) {
    for (const resource of open) {
      const settled = settledHost(resource, input)
      if (settled === undefined) continue
      placed.set(resource.key, stay(resource, settled, input))
      occupy(yard, resource, settled.node)
    }
    const left = open.filter(({ key }) => !placed.has(key)).sort((a, b) => (a.key < b.key ? -1 : 1))
    for (const resource of left) {
      const choice = choose(resource, yard, input)
      placed.set(resource.key, choice.resource)
      if (choice.node !== undefined) occupy(yard, choice.resource, choice.node, demandOf(choice.resource.desired))
    }
  }
  const chosen = estate.resources.map(
    (resource) => placed.get(resource.key) ?? movedByGit(resource, worlds.get(resource.connection), ledger),
  )
  const isThere = ({ connection, uid }: Resource) => worlds.get(connection)?.marked.has(uid) === true
  const needed = new Set(chosen.flatMap(({ needs }) => needs))
  const wanted = new Set(chosen.filter((resource) => !isThere(resource)).flatMap(({ needs }) => needs))
  // An existing machine does not need its image, but a copy that was downloaded for it is kept.
  const kept = ({ key, justInCase }: Resource) =>
    justInCase !== true || wanted.has(key) || (needed.has(key) && ledger.records.has(key))
  return { ...estate, resources: chosen.filter(kept) }
}

/** Machines without a chosen host: only for them does croft read how busy the hosts are. */
export function unplaced(estate: Estate, input: Pick<PlaceInput, 'worlds' | 'ledger'>): readonly Resource[] {
  return estate.resources.filter(
    (resource) => resource.placement !== undefined && settledHost(resource, input) === undefined,
  )
}

interface Yard {
  readonly rooms: Map<string, Room>
  /** Nodes with members of a group, by group, with their number. */
  readonly groups: Map<string, Map<string, number>>
}

const at = (connection: string, node: string) => `${connection}/${node}`

/** Returns the hosts with their guests and with what the other declarations will create there. */
function yardOf(estate: Estate, { worlds, ledger }: PlaceInput): Yard {
  const rooms = new Map<string, Room>()
  for (const { survey } of worlds.values())
    if (survey !== undefined) for (const room of roomsOf(survey)) rooms.set(at(room.connection, room.node), room)
  const yard = { rooms, groups: new Map() }
  for (const resource of estate.resources) {
    if (resource.placement !== undefined || guestIn(resource.desired) === undefined) continue
    const there = worlds.get(resource.connection)?.marked.has(resource.uid) ?? true
    const host = ledger.intentions.get(resource.key)?.host ?? guestIn(resource.desired)?.host ?? ''
    if (!there) promise(yard, resource.connection, host, demandOf(resource.desired))
  }
  return yard
}

/** Returns its current host, or the host of its creation. */
function settledHost(
  resource: Resource,
  { worlds, ledger }: Pick<PlaceInput, 'worlds' | 'ledger'>,
): { readonly node: string; readonly there: boolean } | undefined {
  const seen = worlds.get(resource.connection)?.marked.get(resource.uid)?.[0]
  if (seen !== undefined) return { node: seen.host, there: true }
  const adopted = resource.policy.adopt ?? guestIn(resource.desired)?.vmid?.toString()
  const adoptee = adopted === undefined ? undefined : worlds.get(resource.connection)?.guests.get(adopted)
  if (adoptee !== undefined) return { node: adoptee.host, there: true }
  const begun = ledger.intentions.get(resource.key)?.host
  return begun === undefined ? undefined : { node: begun, there: false }
}

function stay(
  resource: Resource,
  { node, there }: { readonly node: string; readonly there: boolean },
  input: PlaceInput,
): Resource {
  const placement = resource.placement as Placement
  const aim = placement.candidates.find((one) => one.host === placement.pinned)
  if (aim !== undefined && aim.node !== node) {
    const why = `its devices are on ${aim.host}`
    return movingHere(on(resource, aim, why), why, input.worlds.get(resource.connection))
  }
  const candidate = placement.candidates.find((one) => one.node === node)
  if (candidate !== undefined) return on(resource, candidate, there ? 'it is there already' : 'it is being made there')
  const why = placement.unfit.find((one) => one.host === node)?.why ?? 'no Host declares it'
  return refused(
    resource,
    `it is on ${node}, where it cannot stay as declared: ${why}`,
    `bind there what it names, or move it: croft move ${resource.name} HOST`,
  )
}

function choose(resource: Resource, yard: Yard, input: PlaceInput): { resource: Resource; node?: string } {
  const placement = resource.placement as Placement
  const world = input.worlds.get(resource.connection)
  if (world?.survey === undefined) return { resource }
  const reasons = placement.unfit.map(({ host, why }) => `${host} ${why}`)
  const fitting: { candidate: Candidate; rank: readonly (number | string)[]; why: string }[] = []
  const before = input.ledger.records.get(resource.key)?.host
  for (const candidate of placement.candidates) {
    const room = yard.rooms.get(at(resource.connection, candidate.node))
    const demand = demandOf(candidate.desired)
    const against = objection(resource, candidate, room, demand, yard, input)
    if (against !== undefined || room === undefined) {
      reasons.push(`${candidate.host} ${against ?? 'is not there'}`)
      continue
    }
    const companions = count(yard, placement.spread, resource.connection, candidate.node)
    const free = freeMemory(room)
    const share =
      free === undefined || room.memoryBytes === undefined ? 0 : (free - demand.memoryBytes) / room.memoryBytes
    fitting.push({
      candidate,
      // The previous choice comes first, so that a plan is the same a minute later.
      rank: [before === candidate.node ? 0 : 1, companions, -share, candidate.host],
      why:
        placement.spread !== undefined && companions === 0
          ? `nothing else of ${placement.spread} is there, and ${gib(free ?? 0)} of memory are free`
          : `${gib(free ?? 0)} of memory are free`,
    })
  }
  const [best] = fitting.sort((a, b) => inRank(a.rank, b.rank))
  if (best !== undefined) return { resource: on(resource, best.candidate, best.why), node: best.candidate.node }
  return {
    resource: refused(
      resource,
      reasons.length === 0
        ? 'no host is declared that could hold it'
        : `no host can take it: ${reasons.sort().join('; ')}`,
      'make room on one of them, add a host, or ask for less',
    ),
  }
}

function objection(
  resource: Resource,
  candidate: Candidate,
  room: Room | undefined,
  demand: Demand,
  yard: Yard,
  { loads, nowMs }: PlaceInput,
): string | undefined {
  if (candidate.barred !== undefined) return candidate.barred
  if (room === undefined) return 'is not among the hosts of its connection'
  const { apart } = resource.placement as Placement
  if (apart !== undefined && count(yard, apart, resource.connection, candidate.node) > 0)
    return `holds another one of ${apart}, and no two of them may be on one host`
  const busy = candidate.busy
  const samples = loads?.get(at(resource.connection, candidate.node)) ?? []
  const since = busy === undefined ? undefined : busySince(samples, busy, nowMs)
  if (busy !== undefined && since !== undefined)
    return `has been busier than ${Math.round(busy.above * 100)} % for ${Math.floor((nowMs - since) / 60_000)} minutes`
  return shortageOf(room, demand)
}

function on(resource: Resource, candidate: Candidate, why: string): Resource {
  const placement = resource.placement as Placement
  return {
    ...resource,
    desired: candidate.desired,
    needs: candidate.needs,
    placement: { ...placement, chosen: { host: candidate.host, why } },
  }
}

function refused(resource: Resource, reason: string, allow: string): Resource {
  return { ...resource, placement: { ...(resource.placement as Placement), refused: { reason, allow } } }
}

function occupy(yard: Yard, resource: Resource, node: string, demand?: Demand): void {
  const { spread, apart } = resource.placement as Placement
  for (const group of new Set([spread, apart])) {
    if (group === undefined) continue
    const nodes = yard.groups.get(group) ?? new Map<string, number>()
    const where = at(resource.connection, node)
    nodes.set(where, (nodes.get(where) ?? 0) + 1)
    yard.groups.set(group, nodes)
  }
  if (demand !== undefined) promise(yard, resource.connection, node, demand)
}

function promise(yard: Yard, connection: string, node: string, demand: Demand): void {
  const room = yard.rooms.get(at(connection, node))
  if (room !== undefined) yard.rooms.set(at(connection, node), withPromise(room, demand))
}

function count(yard: Yard, group: string | undefined, connection: string, node: string): number {
  return group === undefined ? 0 : (yard.groups.get(group)?.get(at(connection, node)) ?? 0)
}

function inRank(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index] as number | string
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

/** The span of one averaged sample. */
const SPAN_MS = 60_000

/**
 * Returns since when a host has been busy without a pause, if long enough to keep new machines away. One quiet minute
 * ends that; a missing sample does not count.
 */
export function busySince(
  samples: readonly LoadSample[],
  limit: { readonly above: number; readonly forMs: number },
  nowMs: number,
): number | undefined {
  let since: number | undefined
  for (const { atMs, load } of [...samples].sort((a, b) => a.atMs - b.atMs)) {
    if (atMs > nowMs) break
    if (load <= limit.above) since = undefined
    else since ??= atMs - SPAN_MS
  }
  const last = samples.reduce((latest, { atMs }) => (atMs <= nowMs ? Math.max(latest, atMs) : latest), 0)
  // Old samples prove nothing about now.
  if (since === undefined || nowMs - last > limit.forMs) return undefined
  return nowMs - since >= limit.forMs ? since : undefined
}
