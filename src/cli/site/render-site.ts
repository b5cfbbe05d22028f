import type { Origin } from '../../model/declaration.ts'
import type { Site } from '../../model/site.ts'

/** One part of a simulated site, and `file:line` of the declaration that needs it. */
export interface MadePart {
  readonly what: string
  readonly name: string
  readonly from?: string
}

/** Everything of a site, host by host, then what belongs to the whole datacentre. Pure. */
export function partsOfSite(site: Site, shown: (file: string) => string): readonly MadePart[] {
  const part = (what: string, name: string, from: Origin | undefined): MadePart =>
    from === undefined ? { what, name } : { what, name, from: `${shown(from.file)}:${from.line}` }
  return [
    ...site.hosts.flatMap(({ name: host, from, bridges, cards, pci, usb }) => [
      part('host', host, from),
      ...bridges.map((one) => part('bridge', `${host}/${one.name}`, one.from)),
      ...cards.map((one) => part('card', `${host}/${one.name}`, one.from)),
      ...pci.map((one) => part('PCI device', `${host}/${one.name} (${one.id})`, one.from)),
      ...usb.map((one) => part('USB device', `${host}/${one.name} (${one.id})`, one.from)),
    ]),
    ...site.storages.map(({ name, type, hosts, bytes, from }) => {
      const room = bytes === undefined ? '' : `, ${Math.round(bytes / 2 ** 30)} GiB`
      return part('storage', `${name} (${type}${room}${hosts === undefined ? '' : `, on ${hosts.join(', ')}`})`, from)
    }),
    ...site.pools.map(({ name, from }) => part('pool', name, from)),
    ...site.guests.map(({ vmid, type, host, name, template, from }) => {
      const sort = template === true ? 'template' : type === 'qemu' ? 'VM' : 'container'
      return part(sort, `${host}/${vmid} ${name}`, from)
    }),
    ...site.files.map(({ host, storage, name, from }) => part('file', `${host}/${storage}:${name}`, from)),
  ]
}

/** Renders the parts as a table. */
export function renderParts(parts: readonly MadePart[]): readonly string[] {
  const [what, name] = [width(parts, 'what'), width(parts, 'name')]
  return parts.map((one) => `  ${one.what.padEnd(what)}  ${one.name.padEnd(name)}  ${one.from ?? 'every installation'}`)
}

function width(parts: readonly MadePart[], column: 'what' | 'name'): number {
  return Math.min(60, Math.max(0, ...parts.map((one) => one[column].length)))
}
