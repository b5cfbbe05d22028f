import { isFields } from '../../manifest.ts'
import type { Fields } from '../reading.ts'
import { isEmpty } from './attributes.ts'

/**
 * Converts a cloned machine to the ordinary form: maps by slot become lists, sizes get their usual names. Its state
 * holds only the configured fields, so the rest is not declared.
 */
export function oneVm(attributes: Fields): Fields {
  const { id, memory, network, disk, cdrom: _cdrom, delete: _deleted, ...rest } = attributes
  const block = (value: unknown) => (isFields(value) ? [value] : undefined)
  return {
    ...rest,
    vm_id: id,
    cpu: isFields(rest.cpu) ? [renamed(rest.cpu, { vcpus: 'hotplugged' })] : undefined,
    vga: block(rest.vga),
    rng: block(rest.rng),
    memory: isFields(memory) ? [renamed(memory, { size: 'dedicated', balloon: 'floating' })] : undefined,
    network_device: cards(network),
    disk: disks(disk),
  }
}

function renamed(fields: Fields, names: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]))
}

/** Cards are matched by index; an unnamed one stays as it is. */
function cards(network: unknown): readonly Fields[] | undefined {
  if (!isFields(network)) return undefined
  const places = Object.keys(network).flatMap((slot) => /^net(\d+)$/.exec(slot)?.[1] ?? [])
  const count = Math.max(-1, ...places.map(Number)) + 1
  return Array.from({ length: count }, (_, place) => {
    const card = network[`net${place}`]
    if (!isFields(card)) return { enabled: false }
    const { tag, trunks, link_down: disconnected, ...same } = card
    return { ...same, vlan_id: tag, disconnected, trunks: Array.isArray(trunks) ? trunks.join(';') : trunks }
  })
}

function disks(disk: unknown): readonly Fields[] | undefined {
  if (!isFields(disk)) return undefined
  return Object.entries(disk).flatMap(([slot, given]) => {
    // A CD drive is not a disk, and a disk needs its storage.
    if (!isFields(given) || given.media === 'cdrom' || isEmpty(given.datastore_id)) return []
    const { size_gb: size, format, file: _file, media: _media, import_from: _from, ...same } = given
    return [{ ...same, interface: slot, size, file_format: format }]
  })
}
