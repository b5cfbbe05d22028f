import type { Guest, World } from '../../../world/types.ts'
import type { Call } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'

export const CLUSTER_PLACE = '/cluster/firewall'

/** Which firewall a call is about: the path up to and with the word itself. That of a guest goes with it to other hosts. */
export function place(call: Call): string {
  return call.path.replace(/^\/nodes\/[^/]+(?=\/(?:qemu|lxc)\/)/, '').replace(/\/firewall(\/.*)?$/, '/firewall')
}

const guestPlace = ({ type, vmid }: Guest) => `/${type}/${vmid}/firewall`

/** A guest that goes leaves no rules for the next one with its id. */
export function forgetFirewall(world: World, guest: Guest): void {
  for (const name of shelvesOf(world, guestPlace(guest))) world.shelves.delete(name)
}

/** A copy has the rules, names and sets of its source. */
export function copyFirewall(world: World, from: Guest, to: Guest): void {
  forgetFirewall(world, to)
  for (const name of shelvesOf(world, guestPlace(from))) {
    const copy = structuredClone(world.shelves.get(name) ?? new Map())
    world.shelves.set(name.replace(guestPlace(from), guestPlace(to)), copy)
  }
}

function shelvesOf(world: World, at: string): string[] {
  return [...world.shelves.keys()].filter((name) => name === at || name.startsWith(`${at}/`))
}

/** There is a file for it: rules, options or names. */
export function isWritten(world: World, at: string): boolean {
  return shelvesOf(world, at).some((name) =>
    [...(world.shelves.get(name) ?? [])].some(([key, thing]) =>
      Array.isArray(thing.list) ? thing.list.length > 0 : key !== 'options' || Object.keys(thing).length > 0,
    ),
  )
}

export function isGuest(at: string): boolean {
  return /\/(qemu|lxc)\/\d+\/firewall$/.test(at)
}

export type Names = 'aliases' | 'ipset' | 'groups'

export function names(world: World, at: string, kind: Names): Map<string, Thing> {
  return shelf(world, `${at}/${kind}`)
}

export function members(world: World, at: string, set: string): Map<string, Thing> {
  return shelf(world, `${at}/ipset/${set}`)
}

/** Returns the alias of that name. `dc/` and `guest/` say where to look; without a prefix, both are searched. */
export function findAlias(world: World, at: string, text: string): Thing | undefined {
  return find(world, at, 'aliases', text)
}

export function findSet(world: World, at: string, text: string): Thing | undefined {
  return find(world, at, 'ipset', text)
}

function find(world: World, at: string, kind: Names, text: string): Thing | undefined {
  const [scope, written = ''] = /^(dc|guest)\//.test(text) ? text.split('/', 2) : [undefined, text]
  const name = kind === 'aliases' ? written.toLowerCase() : written
  const guest = scope === 'dc' || !isGuest(at) ? undefined : names(world, at, kind).get(name)
  if (guest !== undefined || scope === 'guest') return guest
  return names(world, CLUSTER_PLACE, kind).get(name)
}
