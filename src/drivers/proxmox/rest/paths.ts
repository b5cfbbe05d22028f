import { defined } from '../../../lib/defined.ts'
import type { Definition, ListReading, SettingSpec } from '../../../model/rest.ts'
import { DEFINITIONS } from '../../../proxmox/registry.ts'

/** What a path is filled with. */
export type PathParts = Readonly<Record<string, string>>

const PREFIX = 'settings'
/** Where a setting of no particular host is, for people. */
export const EVERYWHERE = 'cluster'

/** Everything that the paths of one setting may name. */
export function placesOf(setting: Pick<SettingSpec, 'host' | 'scope'>, id?: string): PathParts {
  return {
    ...setting.scope,
    ...defined({ host: setting.host, id }),
  }
}

/** A path with its names put in, each escaped: ids may hold slashes and come from the outside. */
export function fill(path: string, places: PathParts): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'firewall' ? firewallOf(places) : encodeURIComponent(places[name] ?? ''),
  )
}

/** `settings/nodes/still-fawn/network`: the list that shows a setting. */
export function listName(definition: Definition, setting: SettingSpec): string {
  return `${PREFIX}${fill(definition.list.path, placesOf(setting))}`
}

export function isSettingList(list: string): boolean {
  return list.startsWith(`${PREFIX}/`)
}

export interface FoundList {
  readonly reading: ListReading
  /** Every definition whose things are in this list. */
  readonly definitions: readonly Definition[]
  readonly places: PathParts
}

/** What a list's name says: which definitions it belongs to, and where it is. */
export function findList(list: string): FoundList | undefined {
  const path = list.slice(PREFIX.length)
  for (const { pattern, reading, definitions } of LISTS) {
    const match = pattern.exec(path)
    if (match === null) continue
    const places: Record<string, string> = {}
    for (const [name, text] of Object.entries(match.groups ?? {}))
      if (text !== undefined) places[name] = decodeURIComponent(text)
    return { reading, definitions, places }
  }
  return undefined
}

const FIREWALL = '(?:/cluster/firewall|/nodes/(?<host>[^/]+)(?:/qemu/(?<vmid>\\d+)|/lxc/(?<container>\\d+))?/firewall)'

/** The same rules, aliases and sets hang on the cluster, on a host and on a guest. */
function firewallOf({ host, vmid, container }: PathParts): string {
  if (host === undefined) return '/cluster/firewall'
  const node = `/nodes/${encodeURIComponent(host)}`
  if (vmid !== undefined) return `${node}/qemu/${encodeURIComponent(vmid)}/firewall`
  return container === undefined ? `${node}/firewall` : `${node}/lxc/${encodeURIComponent(container)}/firewall`
}

const LISTS = listsOf(DEFINITIONS)

function listsOf(all: readonly Definition[]) {
  const byPath = new Map<string, Definition[]>()
  for (const definition of all)
    byPath.set(definition.list.path, [...(byPath.get(definition.list.path) ?? []), definition])
  // Exact paths first: /cluster/firewall/options is not one of any firewall.
  return [...byPath]
    .sort(([a], [b]) => Number(a.startsWith('{')) - Number(b.startsWith('{')))
    .flatMap(([path, definitions]) => {
      const [first] = definitions
      const source = path.replace('{firewall}', FIREWALL).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
      return first === undefined ? [] : [{ pattern: new RegExp(`^${source}$`), reading: first.list, definitions }]
    })
}
