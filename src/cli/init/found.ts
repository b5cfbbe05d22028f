import { type Driver, ObservationFailed, type Session } from '../../drivers/port.ts'
import type { AddressUse, ObservedStorage } from '../../model/resource.ts'

/** A bridge of a host, with the network that the host has on it. */
export interface FoundBridge {
  readonly host: string
  readonly name: string
  /** The host's own address with its prefix: `192.168.4.122/24`. */
  readonly address?: string
  readonly gateway?: string
}

/** The observed parts of a connection that a first estate uses. */
export interface Found {
  /** Names of hosts that are on. */
  readonly hosts: readonly string[]
  readonly off: readonly string[]
  readonly bridges: readonly FoundBridge[]
  readonly storages: readonly ObservedStorage[]
  readonly nameServers: readonly string[]
}

/** Observes a connection without writing. Throws ObservationFailed. */
export async function lookAround(driver: Driver, session: Session, signal: AbortSignal): Promise<Found> {
  const survey = await session.survey(signal)
  const lists = (await driver.importSettings?.lists(survey, ['ProxmoxBridge', 'ProxmoxDns'], [])) ?? []
  const bridges: FoundBridge[] = []
  const nameServers = new Set<string>()
  for (const list of lists)
    for (const observed of await unlessForbidden(session.list(list, signal))) {
      const setting = await driver.importSettings?.manifest(observed)
      const { host, id, address, gateway, servers } = setting?.spec ?? {}
      if (setting?.kind === 'ProxmoxDns' && Array.isArray(servers)) for (const one of servers) nameServers.add(one)
      if (setting?.kind !== 'ProxmoxBridge' || typeof host !== 'string') continue
      bridges.push({
        host,
        name: typeof id === 'string' ? id : observed.externalId,
        ...(typeof address === 'string' ? { address } : {}),
        ...(typeof gateway === 'string' ? { gateway } : {}),
      })
    }
  const names = (online: boolean) => survey.hosts.filter((host) => host.online === online).map(({ name }) => name)
  return {
    hosts: names(true).sort(),
    off: names(false).sort(),
    bridges,
    storages: survey.storages,
    nameServers: [...nameServers],
  }
}

/** A token may see hosts but not their name servers: then a person is asked, or a default is used. */
async function unlessForbidden(list: ReturnType<Session['list']>): ReturnType<Session['list']> {
  try {
    return await list
  } catch (error) {
    if (!(error instanceof ObservationFailed) || error.refusal.connectionWide === true) throw error
    return []
  }
}

/** Returns which of these addresses answer, as seen from a host. */
export async function whoAnswers(
  session: Session,
  host: string,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<readonly AddressUse[]> {
  return (await session.addresses?.inUse(host, addresses, signal)) ?? []
}
