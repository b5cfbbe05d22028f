import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { ClusterInput } from '../../model/observed-cluster.ts'
import type {
  HostGuests,
  ObservedPowerHold,
  ObservedPowerHost,
  OnOffUnknown,
  PowerMachine,
} from '../../model/observed-power.ts'
import type { PowerHost, PowerSpec } from '../../model/power.ts'
import { guestIn, type ObservedResource, type Survey } from '../../model/resource.ts'
import type { identifyAll } from '../../plan/things/identify-all.ts'
import type { Ledger, World } from '../../plan/things/world.ts'

/** A hypervisor's declared machine, as far as power is concerned. */
interface GuestPower {
  readonly observed?: ObservedResource
  readonly exists: 'yes' | 'no' | 'unknown'
  readonly declaredOff: boolean
  readonly host?: string
  readonly connection: string
  readonly name: string
}

export function declaredGuests(
  estate: Estate,
  found: ReturnType<typeof identifyAll>,
  ledger: Ledger,
): ReadonlyMap<ResourceKey, GuestPower> {
  const guests = new Map<ResourceKey, GuestPower>()
  for (const resource of estate.resources) {
    const guest = guestIn(resource.desired)
    if (guest === undefined) continue
    const identity = found.get(resource.key)?.identity
    const observed = identity?.is === 'ours' ? identity.observed : undefined
    const host = observed?.host ?? ledger.records.get(resource.key)?.host ?? guest.host
    guests.set(resource.key, {
      exists: observed !== undefined ? 'yes' : identity?.is === 'absent' ? 'no' : 'unknown',
      declaredOff: guest.power !== 'running',
      connection: resource.connection,
      name: resource.name,
      host,
      ...(observed === undefined ? {} : { observed }),
    })
  }
  return guests
}

/** The host of a Power that a guest runs on, by the hypervisor's name for it. */
function powerHost(spec: PowerSpec, connection: string, node: string | undefined): string | undefined {
  return spec.hosts.find((host) => host.connection === connection && host.node === node)?.name
}

/** Returns the role of each machine that a Power switches. */
export function rolesIn(
  spec: PowerSpec,
  guests: ReadonlyMap<ResourceKey, GuestPower>,
  cluster: ClusterInput | undefined,
  estate: Estate,
): ReadonlyMap<ResourceKey, PowerMachine['role']> {
  const nodes = nodeMachines(cluster)
  const foreign = new Set(
    (estate.clusters ?? [])
      .filter(({ name }) => name !== spec.cluster)
      .flatMap((one) => [...one.spec.servers, ...one.spec.agents])
      .flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])),
  )
  const roles = new Map<ResourceKey, PowerMachine['role']>()
  for (const [key, guest] of guests) {
    const host = powerHost(spec, guest.connection, guest.host)
    const role = nodes.has(key)
      ? 'node'
      : spec.infrastructure.includes(key)
        ? 'infrastructure'
        : spec.machines.includes(key) || (host !== undefined && !foreign.has(key))
          ? 'machine'
          : undefined
    // A machine that is declared off is as it should be in any case.
    if (role !== undefined && !(guest.declaredOff && role !== 'node')) roles.set(key, role)
  }
  return roles
}

/** Returns the machines that a Power switches, with their roles. */
export function machinesOf(
  spec: PowerSpec,
  guests: ReadonlyMap<ResourceKey, GuestPower>,
  roles: ReadonlyMap<ResourceKey, PowerMachine['role']>,
  hosts: readonly ObservedPowerHost[],
): readonly PowerMachine[] {
  return [...guests].flatMap(([key, guest]): readonly PowerMachine[] => {
    const role = roles.get(key)
    if (role === undefined) return []
    const { name, exists } = guest
    const host = powerHost(spec, guest.connection, guest.host)
    const power = powerOf(
      guest,
      hosts.find((one) => one.name === host),
    )
    return [{ key, name, role, exists, power, ...(host === undefined ? {} : { host }) }]
  })
}

/** Returns a host's guests, each in one list. Pure. */
export function guestsOn(
  host: PowerHost,
  survey: Survey | undefined,
  { resources }: Pick<Estate, 'resources'>,
  roles: ReadonlyMap<ResourceKey, PowerMachine['role']>,
): HostGuests | 'unknown' {
  if (host.connection === undefined) return { mine: [], others: [], undeclared: [] }
  if (survey === undefined) return 'unknown'
  const keys = new Map(resources.map(({ uid, key }) => [uid, key]))
  const all = survey.resources
    .filter(({ host: place, power, template }) => place === host.node && power === 'running' && template !== true)
    .filter(({ type }) => type !== 'file')
    .map(({ mark, externalId, name }) => {
      const key = mark === undefined ? undefined : keys.get(mark.uid)
      const shown = key ?? (name === undefined ? externalId : `${externalId} (${name})`)
      return { shown, list: key === undefined ? 'undeclared' : roles.has(key) ? 'mine' : 'others' } as const
    })
  const inList = (name: keyof HostGuests) => all.filter(({ list }) => list === name).map(({ shown }) => shown)
  return { mine: inList('mine'), others: inList('others'), undeclared: inList('undeclared') }
}

/** A machine cannot run on a host that is off, even if no system is left to confirm it. */
function powerOf({ observed }: GuestPower, host: ObservedPowerHost | undefined): OnOffUnknown {
  if (host?.power === 'off') return 'off'
  const power = observed?.close?.power ?? observed?.power
  return power === 'running' ? 'on' : power === 'stopped' ? 'off' : 'unknown'
}

function nodeMachines(cluster: ClusterInput | undefined): ReadonlySet<ResourceKey> {
  const { servers = [], agents = [] } = cluster?.declaration.spec ?? {}
  return new Set([...servers, ...agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])))
}

/** Returns guests with a running backup of their hypervisor. */
export function guestBackups(
  spec: PowerSpec,
  worlds: ReadonlyMap<string, World>,
  guests: ReadonlyMap<ResourceKey, GuestPower>,
  machines: readonly PowerMachine[],
): readonly ObservedPowerHold[] {
  const locked = machines.flatMap(({ key, name }): readonly ObservedPowerHold[] => {
    const observed = guests.get(key)?.observed
    return observed?.lock === 'backup' ? [{ kind: 'backup', who: name, where: observed.host }] : []
  })
  const nodes = new Set(spec.hosts.flatMap(({ node }) => node ?? []))
  const dumps = [...worlds.values()].flatMap(({ survey }) =>
    (survey?.tasks ?? [])
      .filter(({ verb, state, host }) => verb === 'vzdump' && state === 'running' && nodes.has(host))
      .map(
        ({ subject, host, startedMs }): ObservedPowerHold => ({
          kind: 'backup',
          who: subject || 'all guests',
          where: host,
          sinceMs: startedMs,
        }),
      ),
  )
  return [...locked, ...dumps]
}
