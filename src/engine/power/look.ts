import { LookFailed } from '../../drivers/port.ts'
import type { ClusterShown, PowerDriver } from '../../drivers/power-port.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Shell } from '../../lib/shell.ts'
import type { Estate } from '../../model/estate.ts'
import type { ResourceKey } from '../../model/key.ts'
import type {
  ClusterPower,
  ObservedPower,
  PowerNode,
  PowerSeen,
  SeenHold,
  SeenHost,
  SeenMachine,
} from '../../model/observed-power.ts'
import type { PowerDeclaration, PowerSpec } from '../../model/power.ts'
import type { PowerLook } from '../../model/power-look.ts'
import { guestIn } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import { sightings } from '../../plan/plan.ts'
import { coordinatePower } from '../../plan/power/coordinate.ts'
import type { Ledger, World } from '../../plan/world.ts'
import type { Store } from '../../store/port.ts'
import type { LookedAt } from '../clusters/look.ts'
import type { ClusterSessions } from '../clusters/sessions.ts'
import { type Looking, lookClosely, worldOf } from '../look.ts'
import { type PowerMemory, stillHolding } from './memory.ts'
import { type PowerNotes, readPowerDone, readPowerNotes, readPowerOrders } from './notes.ts'

/** A Power that was looked at, with the ways that its steps need. */
export interface PowerLooked {
  readonly look: PowerLook
  readonly notes: PowerNotes | undefined
  readonly cluster?: LookedAt
  readonly shells: ReadonlyMap<string, Shell>
}

export interface PowerLookDeps {
  readonly clock: Clock
  readonly store: Pick<Store, 'getValue'>
  readonly sessions: ClusterSessions
  readonly power: (() => Promise<PowerDriver>) | undefined
  readonly powerMemory: PowerMemory
  /** Undefined while only a plan is made. */
  readonly epoch?: number
}

interface Seen {
  readonly worlds: ReadonlyMap<string, World>
  readonly lookings: ReadonlyMap<string, Looking>
}

/** Looks at every declared Power and decides what each needs next. */
export async function lookAtPowers(
  estate: Estate,
  seen: Seen,
  ledger: Ledger,
  rules: ReadonlyMap<string, Rules>,
  clusters: readonly LookedAt[],
  deps: PowerLookDeps,
  signal: AbortSignal,
): Promise<readonly PowerLooked[]> {
  const powers = estate.powers ?? []
  if (powers.length === 0) return []
  if (deps.power === undefined) throw new Error('a Power is declared, and nothing here can switch anything')
  const driver = await deps.power()
  await askPower(estate, powers, seen, ledger, rules, deps.powerMemory, signal)
  const worlds = new Map([...seen.worlds, ...[...seen.lookings].map(([name, one]) => [name, worldOf(one)] as const)])
  const found = sightings({ estate, worlds, ledger, rules })
  return Promise.all(
    powers.map(async (declaration): Promise<PowerLooked> => {
      const { spec, name } = declaration
      const { clock, powerMemory } = deps
      const [ordered, done, notes] = await Promise.all([
        readPowerOrders(deps.store, name),
        readPowerDone(deps.store, name),
        readPowerNotes(deps.store, name),
      ])
      const orders = { ...ordered, holds: stillHolding(name, ordered.holds, powerMemory, clock) }
      const cluster = clusters.find(({ look }) => look.declaration.name === spec.cluster)
      const guests = guestsOf(estate, found, ledger)
      const hosts = await lookAtHosts(spec, seen, estate, notes, driver, deps, signal)
      const shown = cluster === undefined ? undefined : await showCluster(cluster, spec, driver, deps, signal)
      const machines = machinesOf(spec, guests, cluster, hosts, estate)
      const shells = new Map(
        [...(cluster?.surroundings.nodes ?? [])].flatMap(([node, { shell }]) =>
          shell === undefined ? [] : [[node, shell] as const],
        ),
      )
      const wants = ordered.wanted?.state === 'off' || spec.state === 'off' || spec.schedule !== undefined
      const people = wants && spec.holds.people ? await peopleOf(name, shells, driver, deps, signal) : []
      const ups = spec.ups === undefined ? undefined : await upsOf(spec.ups.name, driver, deps, signal)
      const ha = await lookAtHa(spec, estate, seen, signal)
      const observed: ObservedPower = {
        ...(cluster === undefined ? {} : { cluster: clusterPower(cluster, shown, machines, hosts, spec, driver) }),
        machines,
        hosts,
        ha,
        holds: [...people, ...(shown?.holds ?? []), ...guestBackups(spec, seen, guests, machines)],
        ...(ups === undefined ? {} : { ups }),
        hooks: notes?.hooks ?? {},
        checks: {},
        waitedMs: waitedMs(declaration.key, powerMemory, clock),
      }
      const decision = coordinatePower(spec, observed, orders, done, clock.now())
      const energy = powerMemory.energy.get(declaration.key)?.energy
      const look: PowerLook = {
        declaration,
        observed,
        orders,
        decision,
        ...(done === undefined ? {} : { done }),
        ...(energy === undefined ? {} : { energy }),
      }
      powerMemory.looks.set(declaration.key, look)
      return { look, notes, shells, ...(cluster === undefined ? {} : { cluster }) }
    }),
  )
}

function waitedMs(key: string, { waits }: PowerMemory, clock: Clock): Readonly<Record<string, number>> {
  const now = clock.monotonicMs()
  const own = [...waits].filter(([name]) => name.startsWith(`${key} `))
  return Object.fromEntries(own.map(([name, sinceMs]) => [name.slice(key.length + 1), now - sinceMs]))
}

interface GuestSeen {
  readonly sighting?: Sighting
  readonly exists: 'yes' | 'no' | 'unknown'
  readonly declaredOff: boolean
  readonly host?: string
  readonly connection: string
  readonly name: string
}

function guestsOf(
  estate: Estate,
  found: ReturnType<typeof sightings>,
  ledger: Ledger,
): ReadonlyMap<ResourceKey, GuestSeen> {
  const guests = new Map<ResourceKey, GuestSeen>()
  for (const resource of estate.resources) {
    const guest = guestIn(resource.desired)
    if (guest === undefined) continue
    const identity = found.get(resource.key)?.identity
    const sighting = identity?.is === 'ours' ? identity.sighting : undefined
    const host = sighting?.host ?? ledger.records.get(resource.key)?.host ?? guest.host
    guests.set(resource.key, {
      exists: sighting !== undefined ? 'yes' : identity?.is === 'absent' ? 'no' : 'unknown',
      declaredOff: guest.power !== 'running',
      connection: resource.connection,
      name: resource.name,
      host,
      ...(sighting === undefined ? {} : { sighting }),
    })
  }
  return guests
}

/** The host of a Power that a guest runs on, by the hypervisor's name for it. */
function powerHost(spec: PowerSpec, connection: string, node: string | undefined): string | undefined {
  return spec.hosts.find((host) => host.connection === connection && host.node === node)?.name
}

function machinesOf(
  spec: PowerSpec,
  guests: ReadonlyMap<ResourceKey, GuestSeen>,
  cluster: LookedAt | undefined,
  hosts: readonly SeenHost[],
  estate: Estate,
): readonly SeenMachine[] {
  const nodes = nodeMachines(cluster)
  const foreign = new Set(
    (estate.clusters ?? [])
      .filter(({ name }) => name !== spec.cluster)
      .flatMap((one) => [...one.spec.servers, ...one.spec.agents])
      .flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])),
  )
  const machines: SeenMachine[] = []
  for (const [key, guest] of guests) {
    const host = powerHost(spec, guest.connection, guest.host)
    const role = nodes.has(key)
      ? 'node'
      : spec.infrastructure.includes(key)
        ? 'infrastructure'
        : spec.machines.includes(key) || (host !== undefined && !foreign.has(key))
          ? 'machine'
          : undefined
    // What is declared to be off is as it should be, whatever happens here.
    if (role === undefined || (guest.declaredOff && role !== 'node')) continue
    machines.push({
      key,
      name: guest.name,
      role,
      exists: guest.exists,
      power: powerOf(
        guest,
        hosts.find(({ name }) => name === host),
      ),
      ...(host === undefined ? {} : { host }),
    })
  }
  return machines
}

/** A machine cannot run on a host that is off, whether or not somebody is left who could say so. */
function powerOf({ sighting }: GuestSeen, host: SeenHost | undefined): PowerSeen {
  if (host?.power === 'off') return 'off'
  const power = sighting?.close?.power ?? sighting?.power
  return power === 'running' ? 'on' : power === 'stopped' ? 'off' : 'unknown'
}

function nodeMachines(cluster: LookedAt | undefined): ReadonlySet<ResourceKey> {
  const { servers = [], agents = [] } = cluster?.look.declaration.spec ?? {}
  return new Set([...servers, ...agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])))
}

async function showCluster(
  { look }: LookedAt,
  spec: PowerSpec,
  driver: PowerDriver,
  deps: PowerLookDeps,
  signal: AbortSignal,
): Promise<ClusterShown | undefined> {
  if (look.observed.api !== 'yes') return undefined
  const client = await (await deps.sessions.of(look.declaration)).kubernetes?.()
  return client === undefined ? undefined : driver.lookAtCluster(client, look.declaration.spec, spec, signal)
}

function clusterPower(
  { look }: LookedAt,
  shown: ClusterShown | undefined,
  machines: readonly SeenMachine[],
  hosts: readonly SeenHost[],
  spec: PowerSpec,
  driver: PowerDriver,
): ClusterPower {
  const { observed, declaration } = look
  const seen = new Map(observed.nodes.map((node) => [node.name, node]))
  const declared = [...declaration.spec.servers, ...declaration.spec.agents]
  const nodes = declared.map((node): PowerNode => {
    const one = seen.get(node.name)
    const kube = shown?.nodes.get(node.name)
    const key = 'key' in node.machine ? node.machine.key : undefined
    const machine = machines.find((candidate) => candidate.key === key)
    const box = 'host' in node.machine ? node.machine.host : machine?.host
    const boxed = hosts.find(({ name }) => name === box)
    const service = one === undefined || one.k3s === 'unknown' ? 'unknown' : one.k3s.service
    const k3s = service === 'failed' ? 'starting' : service
    const back = kube?.mark === undefined || kube.rebooted || k3s === 'running'
    const blocked = driver.drainBlockedBy(node.name)
    return {
      name: node.name,
      role: node.role,
      onDemand: node.power === 'onDemand',
      ...(key === undefined ? {} : { machine: key }),
      ...(box === undefined || !spec.hosts.some(({ name }) => name === box) ? {} : { host: box }),
      power: machine?.power ?? boxed?.power ?? (k3s === 'unknown' ? 'unknown' : 'on'),
      kube: shown === undefined ? 'unknown' : kube === undefined ? 'absent' : kube.ready ? 'ready' : 'not-ready',
      back,
      unschedulable: kube?.unschedulable ?? false,
      tainted: kube?.tainted ?? false,
      ...(kube?.mark === undefined ? {} : { mark: kube.mark }),
      podsToMove: kube?.podsToMove ?? 'unknown',
      ...(blocked === undefined ? {} : { drainBlockedBy: blocked }),
      k3s: machine?.power === 'off' ? 'stopped' : k3s,
    }
  })
  const members = observed.members === 'unknown' ? [] : observed.members.filter(({ learner }) => !learner)
  const up = members.filter((member) => member.up === 'yes').length
  return {
    api: shown === undefined && observed.api === 'yes' ? 'unknown' : observed.api,
    // An API that answers object calls has a majority behind it.
    quorum: observed.api === 'yes' || (members.length > 0 && up > members.length / 2) ? 'yes' : 'no',
    workloads: shown?.workloads ?? 'unknown',
    attachments: shown?.attachments ?? 'unknown',
    nodes,
    wanting: shown?.wanting ?? {},
    dns: shown?.dns ?? { up: 'unknown', message: '' },
    storage: shown?.storage ?? { up: 'unknown', message: '' },
  }
}

async function lookAtHosts(
  spec: PowerSpec,
  { worlds }: Seen,
  estate: Estate,
  notes: PowerNotes | undefined,
  driver: PowerDriver,
  deps: PowerLookDeps,
  signal: AbortSignal,
): Promise<readonly SeenHost[]> {
  const declared = new Set(estate.resources.map(({ uid }) => uid))
  return Promise.all(
    spec.hosts.map(async (host): Promise<SeenHost> => {
      const survey = host.connection === undefined ? undefined : worlds.get(host.connection)?.survey
      const node = survey?.hosts.find(({ name }) => name === host.node)
      const told = notes?.stopped[host.name]
      if (host.own) {
        // croft runs here. Told to go down in an earlier life, it has been, and somebody has started it since.
        const power = told !== undefined && told !== deps.epoch ? 'off' : 'on'
        return { name: host.name, power, strangers: [] }
      }
      const strangers = (survey?.sightings ?? [])
        .filter((one) => one.host === host.node && one.power === 'running' && one.template !== true)
        .filter(({ mark, type }) => type !== 'file' && (mark === undefined || !declared.has(mark.uid)))
        .map(({ externalId, name }) => (name === undefined ? externalId : `${externalId} (${name})`))
      if (node !== undefined) return { name: host.name, power: node.online ? 'on' : 'off', strangers }
      const asked = await driver.hostPower(host, signal)
      const power = asked.power === 'unknown' && told !== undefined ? 'off' : asked.power
      return { ...asked, name: host.name, power, strangers }
    }),
  )
}

async function lookAtHa(
  spec: PowerSpec,
  estate: Estate,
  seen: Seen,
  signal: AbortSignal,
): Promise<ObservedPower['ha']> {
  if (!spec.ha) return []
  const connections = new Set([
    ...spec.hosts.flatMap(({ connection }) => connection ?? []),
    ...estate.resources.filter(({ key }) => isNodeOf(key, spec, estate)).map(({ connection }) => connection),
  ])
  const all = await Promise.all(
    [...connections].map(async (connection) => {
      const site = seen.lookings.get(connection)?.session.site
      return site === undefined ? [] : [{ connection, armed: await site.highAvailability(signal) }]
    }),
  )
  return all.flat()
}

function isNodeOf(key: ResourceKey, spec: PowerSpec, estate: Estate): boolean {
  const cluster = estate.clusters?.find(({ name }) => name === spec.cluster)?.spec
  return [...(cluster?.servers ?? []), ...(cluster?.agents ?? [])].some(
    ({ machine }) => 'key' in machine && machine.key === key,
  )
}

/** Guests that are being backed up by their hypervisor. */
function guestBackups(
  spec: PowerSpec,
  { worlds }: Seen,
  guests: ReadonlyMap<ResourceKey, GuestSeen>,
  machines: readonly SeenMachine[],
): readonly SeenHold[] {
  const locked = machines.flatMap(({ key, name }): readonly SeenHold[] => {
    const sighting = guests.get(key)?.sighting
    return sighting?.lock === 'backup' ? [{ kind: 'backup', who: name, where: sighting.host }] : []
  })
  const nodes = new Set(spec.hosts.flatMap(({ node }) => node ?? []))
  const dumps = [...worlds.values()].flatMap(({ survey }) =>
    (survey?.tasks ?? [])
      .filter(({ verb, state, host }) => verb === 'vzdump' && state === 'running' && nodes.has(host))
      .map(
        ({ subject, host, startedMs }): SeenHold => ({
          kind: 'backup',
          who: subject || 'all guests',
          where: host,
          sinceMs: startedMs,
        }),
      ),
  )
  return [...locked, ...dumps]
}

async function peopleOf(
  power: string,
  shells: ReadonlyMap<string, Shell>,
  driver: PowerDriver,
  { clock, powerMemory }: PowerLookDeps,
  signal: AbortSignal,
): Promise<readonly SeenHold[]> {
  const known = powerMemory.people.get(power)
  if (known !== undefined && clock.monotonicMs() - known.atMs < LIMITS.peopleLookMs) return known.found
  const found = await driver.people(shells, signal)
  powerMemory.people.set(power, { atMs: clock.monotonicMs(), found })
  return found
}

async function upsOf(
  name: string,
  driver: PowerDriver,
  { clock, powerMemory }: PowerLookDeps,
  signal: AbortSignal,
): Promise<ObservedPower['ups']> {
  const known = powerMemory.ups.get(name)
  if (known !== undefined && clock.monotonicMs() - known.atMs < LIMITS.upsLookMs) return known.reading ?? 'unknown'
  const reading = await driver.readUps(name, signal)
  powerMemory.ups.set(name, { atMs: clock.monotonicMs(), reading })
  return reading ?? 'unknown'
}

/**
 * A survey's power is up to ten seconds old. Machines that are on their way down, or up, by an order are asked
 * themselves: their tier must not wait for a cache.
 */
async function askPower(
  estate: Estate,
  powers: readonly PowerDeclaration[],
  seen: Seen,
  ledger: Ledger,
  rules: ReadonlyMap<string, Rules>,
  memory: PowerMemory,
  signal: AbortSignal,
): Promise<void> {
  const moving = new Set<ResourceKey>()
  const off = new Set<ResourceKey>()
  for (const { key } of powers) {
    const look = memory.looks.get(key)
    const last = look?.decision
    if (last?.wanted.state === 'on' && last.phase !== 'On') {
      // What a survey says of a host that has just come up is what was before it went down.
      for (const machine of look?.observed.machines ?? []) if (machine.power !== 'on') moving.add(machine.key)
    }
    for (const step of last?.steps ?? []) if (step.machine !== undefined) moving.add(step.machine)
    for (const machine of Object.keys(last?.machines ?? {})) off.add(machine as ResourceKey)
  }
  if (moving.size + off.size === 0) return
  const found = sightings({ estate, worlds: seen.worlds, ledger, rules })
  for (const [name, looking] of seen.lookings) {
    const ids = estate.resources.flatMap((resource) => {
      if (resource.connection !== name || !(moving.has(resource.key) || off.has(resource.key))) return []
      const identity = found.get(resource.key)?.identity
      if (identity?.is !== 'ours') return []
      const { externalId, power } = identity.sighting
      return moving.has(resource.key) || power !== 'stopped' ? [externalId] : []
    })
    await inParallel(ids, looking.connection.limits.reads, async (externalId) => {
      try {
        await lookClosely(looking, externalId, { power: true }, signal)
      } catch (error) {
        if (!(error instanceof LookFailed)) throw error
      }
    })
  }
}
