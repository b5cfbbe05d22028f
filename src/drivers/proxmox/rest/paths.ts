import { defined } from '../../../lib/defined.ts'
import type { Definition, ListReading, SettingSpec } from '../../../model/rest.ts'
import { DEFINITIONS } from '../../../proxmox/registry.ts'

/** The values for a path. */
export type PathParts = Readonly<Record<string, string>>

const PREFIX = 'settings'
/** The displayed host of a setting without one. */
export const EVERYWHERE = 'cluster'

/** Returns all values that the paths of one setting may name. */
export function placesOf(setting: Pick<SettingSpec, 'host' | 'scope'>, id?: string): PathParts {
  return {
    ...setting.scope,
    ...defined({ host: setting.host, id }),
  }
}

/** Fills in a path, with each value escaped: ids may contain slashes and come from outside. */
export function fill(path: string, places: PathParts): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'firewall' ? firewallOf(places) : encodeURIComponent(places[name] ?? ''),
  )
}

/** Returns a setting's list: `settings/nodes/still-fawn/network`. */
export function listName(definition: Definition, setting: SettingSpec): string {
  return `${PREFIX}${fill(definition.list.path, placesOf(setting))}`
}

export function isSettingList(list: string): boolean {
  return list.startsWith(`${PREFIX}/`)
}

export interface FoundList {
  readonly reading: ListReading
  /** Every definition with things in this list. */
  readonly definitions: readonly Definition[]
  readonly places: PathParts
}

/** Parses a list's name: its definitions and its place. */
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

/** Rules, aliases and sets exist for the cluster, a host and a guest. */
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
  // Exact paths first, since /cluster/firewall/options would also match any firewall's.
  return [...byPath]
    .sort(([a], [b]) => Number(a.startsWith('{')) - Number(b.startsWith('{')))
    .flatMap(([path, definitions]) => {
      const [first] = definitions
      const source = path.replace('{firewall}', FIREWALL).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
      return first === undefined ? [] : [{ pattern: new RegExp(`^${source}$`), reading: first.list, definitions }]
    })
}
