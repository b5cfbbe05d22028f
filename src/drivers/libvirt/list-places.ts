import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { ObservationFailed } from '../port.ts'
import { UUID } from './names.ts'
import { digestOf, volumeNames } from './observe.ts'
import type { PlaceConfig } from './place-rules.ts'
import { dumpPlace, type PlaceKind, viewPlace } from './place-view.ts'
import { words } from './survey.ts'
import type { Virsh } from './virsh.ts'
import { childrenOf, find, parseXml, textIn } from './xml.ts'

/** Returns all networks or pools of a host, each as after a close look, in two runs of virsh. */
export async function listPlaces(
  virsh: Virsh,
  kind: PlaceKind,
  about: {
    readonly connection: string
    readonly host: string
    readonly list: string
    readonly uri: string
    readonly atMs: number
  },
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const verb = kind === 'network' ? 'net' : 'pool'
  const doing = `list the ${kind}s of ${about.host}`
  const [all = '', running = ''] = await virsh.ask(
    [
      [`${verb}-list`, '--all', '--uuid'],
      ['list', '--uuid', '--state-running'],
    ],
    doing,
    signal,
  )
  const uuids = words(all).filter((uuid) => UUID.test(uuid))
  // Running machines use a network; a pool is used by its volumes.
  const domains = kind === 'network' ? words(running).filter((uuid) => UUID.test(uuid)) : []
  const answers = await virsh.ask(
    [
      ...uuids.flatMap((uuid) => [
        [...dumpPlace(kind, about.uri), uuid],
        [`${verb}-dumpxml`, uuid],
        [`${verb}-info`, uuid],
        kind === 'pool' ? ['vol-list', '--pool', uuid] : ['net-name', uuid],
      ]),
      ...domains.map((uuid) => ['dumpxml', uuid]),
    ],
    doing,
    signal,
    (at, refusal) => {
      // The volumes of an inactive pool cannot be seen, and an unread volume is not proven gone.
      if (kind !== 'pool' || at >= uuids.length * 4 || at % 4 !== 3) throw new ObservationFailed(refusal)
    },
  )
  const cards = answers.slice(uuids.length * 4).flatMap(networksIn)
  return uuids.flatMap((uuid, at): ObservedResource[] => {
    const [definition = '', live = '', info = '', volumes = ''] = answers.slice(at * 4, at * 4 + 4)
    const usersOf = (name: string, active: boolean) =>
      kind === 'network' ? cards.filter((card) => card === name).length : countVolumes(volumes, active)
    const config = readPlace(kind, definition, live, info, usersOf)
    if (config === undefined) return []
    const { connection, host, list, atMs } = about
    const close = { digest: config.digest, config, atMs }
    return [{ connection, type: 'setting', list, externalId: uuid, host, name: config.name, close }]
  })
}

function readPlace(
  kind: PlaceKind,
  definition: string,
  live: string,
  info: string,
  usersOf: (name: string, active: boolean) => number | undefined,
): PlaceConfig | undefined {
  const xml = parseXml(definition)
  if (xml?.name !== kind) return undefined
  const active = kind === 'network' ? /^Active:\s+yes/m.test(info) : /^State:\s+running/m.test(info)
  const now = active ? parseXml(live) : undefined
  const name = cleanText(textIn(find(xml, 'name')), LIMITS.foreignNameLength)
  return {
    place: kind,
    digest: digestOf(definition),
    name,
    active,
    autostart: /^Autostart:\s+yes/m.test(info),
    fields: viewPlace(kind, xml),
    live: now === undefined ? undefined : viewPlace(kind, now),
    users: usersOf(name, active),
  }
}

function networksIn(domain: string): readonly string[] {
  return childrenOf(find(parseXml(domain), 'devices'), 'interface').flatMap(
    (nic) => find(nic, 'source')?.attributes.network ?? [],
  )
}

/** The content of an inactive pool is invisible. */
function countVolumes(table: string, active: boolean): number | undefined {
  return active ? volumeNames(table).length : undefined
}
