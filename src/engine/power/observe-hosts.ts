import type { PowerDriver } from '../../drivers/power-port.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { HostGuests, ObservedPower, ObservedPowerHost } from '../../model/observed-power.ts'
import type { PowerSpec } from '../../model/power.ts'
import type { PlanInput } from '../../plan/planner.ts'
import type { FactsByConnection } from '../connection-facts.ts'
import type { PowerObserveDeps } from './deps.ts'
import { fresh } from './kept-answers.ts'
import type { PowerNotes } from './notes.ts'
import { guestsOn } from './observe-machines.ts'

const NO_GUESTS: HostGuests = { mine: [], others: [], undeclared: [] }

/** Returns boxes as their hypervisor shows them, or their management controller or SSH. */
export async function observeHosts(
  spec: PowerSpec,
  { worlds, estate }: Pick<PlanInput, 'worlds' | 'estate'>,
  roles: Parameters<typeof guestsOn>[3],
  notes: PowerNotes | undefined,
  driver: PowerDriver,
  deps: PowerObserveDeps,
  signal: AbortSignal,
): Promise<readonly ObservedPowerHost[]> {
  return Promise.all(
    spec.hosts.map(async (host): Promise<ObservedPowerHost> => {
      const survey = host.connection === undefined ? undefined : worlds.get(host.connection)?.survey
      const node = survey?.hosts.find(({ name }) => name === host.node)
      const stoppedBy = notes?.stopped[host.name]
      const seen = guestsOn(host, survey, estate, roles)
      // A host that went down cannot be asked: its guests were observed before.
      const guests = seen === 'unknown' && stoppedBy !== undefined ? NO_GUESTS : seen
      if (host.own) {
        // croft runs here. If an earlier process told it to go down, it did, and was started again.
        const power = stoppedBy !== undefined && stoppedBy !== deps.epoch ? 'off' : 'on'
        return { name: host.name, power, guests }
      }
      if (node !== undefined) return { name: host.name, power: node.online ? 'on' : 'off', guests }
      const ask = () => driver.hostPower(host, signal)
      const asked = await fresh(deps.powerMemory.hosts, host.name, LIMITS.hostLookMs, deps.clock, ask)
      const power = asked.power === 'unknown' && stoppedBy !== undefined ? 'off' : asked.power
      return { ...asked, name: host.name, power, guests }
    }),
  )
}

/** Returns the HA managers of guests to switch, which would restart them. */
export async function observeHa(
  spec: PowerSpec,
  estate: Estate,
  factsByConnection: FactsByConnection,
  signal: AbortSignal,
): Promise<ObservedPower['ha']> {
  if (!spec.ha) return []
  const connections = new Set([
    ...spec.hosts.flatMap(({ connection }) => connection ?? []),
    ...estate.resources.filter(({ key }) => isNodeOf(key, spec, estate)).map(({ connection }) => connection),
  ])
  const all = await Promise.all(
    [...connections].map(async (connection) => {
      const site = factsByConnection.get(connection)?.session.site
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
