import type { Random } from '../../../../src/lib/random.ts'
import { hexDigits, macAddress, uuid } from '../../../world/chance.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import type { World } from '../../../world/types.ts'
import { normalTags, tagStyle } from './tags.ts'

const CARD_MODELS =
  /^(virtio|e1000|e1000-82540em|e1000-82544gc|e1000-82545em|e1000e|i82551|i82557b|i82559er|ne2k_isa|ne2k_pci|pcnet|rtl8139|vmxnet3)$/

/** The text that the configuration keeps for an option that is not a drive. */
export function keptValue(world: World, key: string, value: string): string {
  const { random } = world
  if (key === 'tags') return normalTags(value, tagStyle(world))
  if (key === 'cpuunits') return cpuShares(value)
  if (key === 'description') return value.replace(/\s+$/, '')
  if (/^net\d+$/.test(key)) return networkCard(random, value)
  if (key === 'cipassword') return passwordHash(random, value)
  if (key === 'vmgenid' && value === '1') return uuid(random)
  return value
}

/** A control group of today has no larger weight. */
export function cpuShares(value: string): string {
  return Number(value) > 10_000 ? '10000' : value
}

const NEWEST_BOARD = '10.0+pve1'

/** Windows takes a new board for new hardware: of one without a version, the newest that there is at the time is kept. */
export function pinnedMachine(machine: string | undefined, ostype: string | undefined): string | undefined {
  if (!/^(wxp|w2k\d*|wvista|win\d+)$/.test(ostype ?? '')) return undefined
  const { main, named } = parseProperties(machine ?? '', 'type')
  if (!/^(pc|q35)?$/.test(main)) return undefined
  return printProperties({ main: `pc-${main === 'q35' ? 'q35' : 'i440fx'}-${NEWEST_BOARD}`, named })
}

/** `virtio,bridge=vmbr0` becomes `virtio=BC:24:11:…,bridge=vmbr0`. */
export function networkCard(random: Random, value: string): string {
  const { main, named } = parseProperties(value)
  let model = main === '' ? 'rtl8139' : main
  let mac = named.get('macaddr')
  for (const name of named.keys()) {
    if (!CARD_MODELS.test(name)) continue
    model = name
    mac = named.get(name)
    named.delete(name)
  }
  if (named.has('model')) model = named.get('model') ?? model
  named.delete('model')
  named.delete('macaddr')
  return printProperties({ main: `${model}=${mac ?? macAddress(random)}`, named })
}

/** Proxmox keeps a password only as its hash; what it was cannot be told from this one either. */
function passwordHash(random: Random, value: string): string {
  if (value.startsWith('$')) return value
  return `$5$${hexDigits(random, 8)}$${hexDigits(random, 43)}`
}
