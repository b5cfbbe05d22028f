import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Change, guestIn, type ObservedResource, type Resource, type Survey } from '../../model/resource.ts'
import type { Obstacle } from '../../model/rules.ts'
import { ObservationFailed } from '../port.ts'
import type { Api } from './api.ts'
import { type ApiFields, nameOf, recordsOf } from './foreign.ts'
import { parseProperties } from './property-string.ts'

/** Last seen configurations of guests by id: they name the bridges. */
export type ObservedBridges = ReadonlyMap<string, ApiFields>

/**
 * Returns the nodes whose bridges the plan needs: those of a declared guest with a network card that the survey does
 * not show, and those of a guest that was read and misses a declared bridge. An unread guest decides when it is read: a
 * plan without changes asks no host.
 */
export function nodesToAsk(wanted: readonly Resource[], survey: Survey, seen: ObservedBridges): readonly string[] {
  const marked = new Map(
    survey.resources.flatMap((found) => (found.mark === undefined ? [] : [[found.mark.uid, found]])),
  )
  const online = new Set(survey.hosts.filter((host) => host.online).map(({ name }) => name))
  const nodes = wanted.flatMap(({ uid, desired, placement }) => {
    const guest = guestIn(desired)
    if (guest === undefined || guest.nics.length === 0) return []
    const there = marked.get(uid)
    if (there !== undefined) {
      const config = seen.get(there.externalId)
      if (config === undefined || isOnAll(config, guest.nics)) return []
      const bridges = bridgesIn(config)
      return guest.nics.every(({ bridge }) => bridges.has(bridge)) ? [] : [there.host]
    }
    return placement === undefined ? [guest.host] : placement.candidates.map(({ node }) => node)
  })
  return [...new Set(nodes)].filter((node) => online.has(node)).slice(0, LIMITS.examinedHosts)
}

/** Reports whether each card is on its bridge. Nearly every one is, so this runs before the configuration is parsed. */
export function isOnAll(
  config: ApiFields,
  nics: readonly { readonly slot: string; readonly bridge: string }[],
): boolean {
  return nics.every(({ slot, bridge }) => {
    const text = config[slot]
    const at = typeof text === 'string' ? text.indexOf(`,bridge=${bridge}`) : -1
    if (typeof text !== 'string' || at === -1) return false
    const end = at + ',bridge='.length + bridge.length
    return end === text.length || text[end] === ','
  })
}

/** Returns the bridges in a guest's configuration. */
export function bridgesIn(config: ApiFields): ReadonlySet<string> {
  const cards = Object.entries(config).filter(([key]) => /^net\d+$/.test(key))
  return new Set(cards.flatMap(([, text]) => parseProperties(String(text), 'model').get('bridge') ?? []))
}

/**
 * Returns the bridges and vnets in an answer of `/nodes/{node}/network`, after the declared ones. Proxmox shows a
 * bridge only to users who may use it, so an empty answer proves nothing.
 */
export function readBridges(node: string, answer: unknown, wanted: readonly Resource[]): readonly string[] | undefined {
  const there = recordsOf(answer).flatMap((entry) => nameOf(entry.iface) ?? [])
  if (there.length === 0) return undefined
  const declared = wanted.flatMap(({ desired }) => {
    if (desired.type !== 'setting') return []
    const { definition, id, scope } = desired.setting
    return definition === 'sdn-vnet' || (definition === 'bridge' && scope?.host === node) ? [id] : []
  })
  return [...new Set([...there, ...declared])].sort()
}

/** Lifetime of the cache: bridges change rarely, and a manual correction shows after this time at most. */
const KEPT_MS = 60_000

/**
 * Proxmox creates a guest on a missing bridge, and only its start fails: so the plan checks first. The answer of a host
 * is cached.
 */
export function createBridgeLook(api: Api, clock: Clock) {
  const answers = new Map<string, { readonly atMs: number; readonly answer: unknown }>()
  const seen = new Map<string, ApiFields>()
  let declared: readonly Resource[] = []
  let byUid: ReadonlyMap<string, Resource> = new Map()
  const ask = async (nodes: readonly string[], signal: AbortSignal) => {
    const stale = nodes.filter((node) => (answers.get(node)?.atMs ?? -KEPT_MS) + KEPT_MS <= clock.now())
    await Promise.all(
      stale.map(async (node) => {
        const answer = await bridgesOf(api, node, signal)
        answers.set(node, { atMs: clock.now(), answer })
      }),
    )
  }
  /** Stores the bridges of a guest that was read, and asks its host if it must be on another one. */
  const saw = async (
    guest: ObservedResource | undefined,
    signal: AbortSignal,
  ): Promise<ObservedResource | undefined> => {
    if (guest?.close === undefined) return guest
    const { config } = guest.close
    seen.set(guest.externalId, config)
    const { mark } = guest
    const wanted = mark === undefined ? undefined : byUid.get(mark.uid)
    const nics = wanted === undefined ? [] : (guestIn(wanted.desired)?.nics ?? [])
    if (isOnAll(config, nics)) return guest
    const bridges = bridgesIn(config)
    if (nics.every(({ bridge }) => bridges.has(bridge))) return guest
    await ask([guest.host], signal)
    const hostBridges = readBridges(guest.host, answers.get(guest.host)?.answer, declared)
    return hostBridges === undefined ? guest : { ...guest, close: { ...guest.close, hostBridges } }
  }
  const look = async (
    take: () => Promise<Survey>,
    wanted: readonly Resource[],
    signal: AbortSignal,
  ): Promise<Survey> => {
    declared = wanted
    byUid = new Map(wanted.map((resource) => [resource.uid, resource]))
    const survey = await take()
    const nodes = nodesToAsk(wanted, survey, seen)
    await ask(nodes, signal)
    const hosts = survey.hosts.map((host) => {
      const bridges = nodes.includes(host.name)
        ? readBridges(host.name, answers.get(host.name)?.answer, wanted)
        : undefined
      return bridges === undefined ? host : { ...host, bridges }
    })
    return nodes.length === 0 ? survey : { ...survey, hosts }
  }
  return { look, saw }
}

/** A host that does not answer here is judged by the survey: its bridges are only unknown. */
async function bridgesOf(api: Api, node: string, signal: AbortSignal): Promise<unknown> {
  try {
    const path = `/nodes/${encodeURIComponent(node)}/network?type=any_bridge`
    return await api.read(path, { doing: `list the bridges of ${node}` }, signal)
  } catch (error) {
    if (error instanceof ObservationFailed) return undefined
    throw error
  }
}

/** Returns obstacles of changed cards. `asked`: the bridges of its host when it was read, if no survey has them. */
export function movedCardObstacles(
  guest: {
    readonly host: string
    readonly nics: readonly { readonly slot: string; readonly bridge: string }[]
  },
  changes: readonly Change[],
  survey: Survey,
  asked?: readonly string[],
): readonly Obstacle[] {
  const slots = new Set(changes.flatMap(({ path }) => /^nics\.(net\d+)(?:\.bridge)?$/.exec(path)?.[1] ?? []))
  return bridgeObstacles({ host: guest.host, nics: guest.nics.filter(({ slot }) => slots.has(slot)) }, survey, asked)
}

export function bridgeObstacles(
  guest: { readonly host: string; readonly nics: readonly { readonly bridge: string }[] },
  survey: Survey,
  asked?: readonly string[],
): readonly Obstacle[] {
  const bridges = survey.hosts.find(({ name }) => name === guest.host)?.bridges ?? asked
  if (bridges === undefined) return []
  const missing = [...new Set(guest.nics.map(({ bridge }) => bridge))].filter((bridge) => !bridges.includes(bridge))
  return missing.map((bridge) => ({
    message: `a network card needs bridge ${bridge}, which is not on host ${guest.host}`,
    allow:
      `${guest.host} has ${bridges.join(', ')}: choose one of them, or declare a ProxmoxBridge ${bridge}. If ${bridge} ` +
      `exists, the token cannot see it: give it SDN.Use on /sdn/zones/localnetwork/${bridge}`,
  }))
}
