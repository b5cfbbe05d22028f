import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { ClusterInput } from '../../model/observed-cluster.ts'
import type { PowerSeen, SeenHold, SeenHost, SeenMachine } from '../../model/observed-power.ts'
import type { PowerSpec } from '../../model/power.ts'
import { guestIn, type Sighting } from '../../model/resource.ts'
import type { identifyAll } from '../../plan/things/identify-all.ts'
import type { Ledger, World } from '../../plan/things/world.ts'

/** A declared machine of a hypervisor, as far as power is concerned. */
interface GuestSeen {
  readonly sighting?: Sighting
  readonly exists: 'yes' | 'no' | 'unknown'
  readonly declaredOff: boolean
  readonly host?: string
  readonly connection: string
  readonly name: string
}

export function guestsOf(
  estate: Estate,
  found: ReturnType<typeof identifyAll>,
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

/** The machines that a Power switches, each with its part in it. */
export function machinesOf(
  spec: PowerSpec,
  guests: ReadonlyMap<ResourceKey, GuestSeen>,
  cluster: ClusterInput | undefined,
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

function nodeMachines(cluster: ClusterInput | undefined): ReadonlySet<ResourceKey> {
  const { servers = [], agents = [] } = cluster?.declaration.spec ?? {}
  return new Set([...servers, ...agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])))
}

/** Guests that are being backed up by their hypervisor. */
export function guestBackups(
  spec: PowerSpec,
  worlds: ReadonlyMap<string, World>,
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
