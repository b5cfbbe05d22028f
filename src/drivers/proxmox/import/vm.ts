import { defined } from '../../../lib/defined.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import { powerOf } from '../../guests.ts'
import type { ImportedGuest } from '../../port.ts'
import type { DeviceShape } from '../parts.ts'
import { lines, words } from '../vm/cloud-init.ts'
import { amdSev, audio, numaNodes, pci, rng, usb, virtiofs, watchdog } from '../vm/devices.ts'
import { importBasics, importSerial, positional } from './basics.ts'
import { type CloudInitDrive, importDrives } from './drives.ts'
import {
  block,
  blockOf,
  bySlot,
  type ConfigReading,
  type PartReading,
  partsOf,
  readingOf,
  some,
  unless,
} from './reading.ts'

/**
 * Returns a closely read guest in the provider's terms: only values that differ from Proxmox's defaults. Undefined if
 * no manifest can declare it. The kind validates each field.
 */
export function importGuest(observed: ObservedResource): ImportedGuest | undefined {
  const { close } = observed
  if (observed.type !== 'vm' || close === undefined) return undefined
  const from = readingOf(close.config)
  const name = from.text('name')
  const isTemplate = from.flag('template') === true
  const power = powerOf(observed)
  const { fields: drives, cloudInit } = importDrives(from)
  const pending = (close.pending ?? []).filter((key) => key !== 'digest')
  const fields = defined({
    nodeName: observed.host,
    name,
    poolId: observed.pool,
    template: isTemplate ? true : undefined,
    started: !isTemplate && power === 'stopped' ? false : undefined,
    // A person's changes wait for a restart: importing the guest is no reason to restart it.
    rebootAfterUpdate: pending.length > 0 ? false : undefined,
    ...importBasics(from),
    ...drives,
    networkDevice: importNics(from),
    initialization: importCloudInit(from, cloudInit),
    serialDevice: importSerial(from),
    ...importDevices(from),
  })
  if (name === undefined) from.note('it has no name in Proxmox; croft will give it the one that is declared')
  if (pending.length > 0) from.note(`changes wait for a restart, which croft will not make: ${pending.join(', ')}`)
  if (power === 'paused') from.note('it is paused; croft would resume it')
  return { kind: 'EnvironmentVM', fields, unmanaged: from.left(), notes: from.notes() }
}

const MAC = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i
const MODELS =
  'virtio e1000 e1000e rtl8139 vmxnet3 e1000-82540em e1000-82544gc e1000-82545em ne2k_isa ne2k_pci i82551 i82557b i82559er pcnet'.split(
    ' ',
  )

/**
 * Imports network cards. A card's list position is its number: a gap, or an unsupported card, becomes a disabled entry,
 * which is left alone. The hardware address is included although Proxmox chose it, since other systems know the guest
 * by it.
 */
function importNics(from: ConfigReading): readonly unknown[] | undefined {
  const slots = from.keys.filter((key) => /^net\d{1,2}$/.test(key)).sort(bySlot)
  const cards: unknown[] = []
  for (const slot of slots) {
    const at = Number(slot.slice(3))
    while (cards.length < at) cards.push({ enabled: false })
    const parts = from.properties(slot, 'model')
    const card = parts === undefined ? undefined : importNic(parts)
    if (card === undefined) from.leave(slot)
    cards.push(card ?? { enabled: false })
  }
  return some(cards)
}

function importNic(parts: PartReading): unknown {
  const { model, mac } = modelOf(parts)
  const bridge = parts.text('bridge')
  if (bridge === undefined || model === undefined) return undefined
  return defined({
    bridge,
    model: unless('virtio', model),
    macAddress: mac?.toUpperCase(),
    vlanId: parts.count('tag'),
    trunks: trunks(parts.text('trunks')),
    firewall: unless(false, parts.flag('firewall')),
    disconnected: unless(false, parts.flag('link_down')),
    mtu: parts.count('mtu'),
    queues: parts.count('queues'),
    rateLimit: parts.count('rate'),
  })
}

/** `virtio=BC:24:…`, or `model` and `macaddr` apart. */
function modelOf(parts: PartReading): { readonly model?: string; readonly mac?: string } {
  const named = parts.text('model')
  const apart = parts.text('macaddr')
  if (named !== undefined) return { model: named, ...(apart === undefined ? {} : { mac: apart }) }
  for (const model of MODELS) {
    const mac = parts.text(model)
    if (mac !== undefined && MAC.test(mac)) return { model, mac }
  }
  return {}
}

/** Expands `10;20-22`: a manifest can only list single values. */
function trunks(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const found = new Set<number>()
  for (const part of text.split(';')) {
    const [, first, last] = /^\s*(\d{1,4})(?:-(\d{1,4}))?\s*$/.exec(part) ?? []
    if (first === undefined) return undefined
    for (let vlan = Number(first); vlan <= Math.min(Number(last ?? first), 4094); vlan++) found.add(vlan)
  }
  return found.size === 0 ? undefined : [...found].sort((a, b) => a - b).join(';')
}

const SMBIOS = ['manufacturer', 'product', 'version', 'serial', 'sku', 'family'] as const

/** Devices that are one property string each. */
function importDevices(from: ConfigReading) {
  const parts = <Item>({ bare, parts: table }: DeviceShape<Item>, names?: { readonly [F in keyof Item]?: string }) => {
    return (key: string) => defined(partsOf(from.properties(key, bare), table, names))
  }
  const numbered = (slot: RegExp, read: (key: string) => Readonly<Record<string, unknown>>) =>
    some(from.keys.filter((key) => slot.test(key)).map((key) => ({ device: key, ...read(key) })))
  return {
    audioDevice: blockOf(from, audio.shape),
    rng: blockOf(from, rng.shape, { periodMs: 'period' }),
    watchdog: blockOf(from, watchdog.shape),
    smbios: smbios(from),
    amdSev: blockOf(from, amdSev.shape),
    numa: numbered(/^numa\d+$/, parts(numaNodes.shape, { memoryMb: 'memory', hostNodes: 'hostnodes' })),
    usb: positional(from, 'usb', parts(usb.shape, { device: 'host' })),
    hostpci: numbered(/^hostpci\d+$/, parts(pci.shape, { device: 'id', romBar: 'rombar', primaryGpu: 'xvga' })),
    virtiofs: positional(from, 'virtiofs', parts(virtiofs.shape)),
  }
}

/** Proxmox chose the UUID, and it stays; the texts are imported. */
function smbios(from: ConfigReading) {
  const parts = from.properties('smbios1', 'uuid')
  if (parts === undefined) return undefined
  parts.ignore('uuid')
  const encoded = parts.flag('base64') === true
  const read = (text: string | undefined) =>
    text !== undefined && encoded ? Buffer.from(text, 'base64').toString('utf8') : text
  return block(Object.fromEntries(SMBIOS.map((field) => [field, read(parts.text(field))])))
}

const USUAL_SLOT = 'ide2'
const KEYS = /^(?:ciuser|citype|ciupgrade|cicustom|nameserver|searchdomain|sshkeys|ipconfig\d+)$/

/** Imports the cloud-init block. Without a cloud-init drive nothing of it can be declared. */
function importCloudInit(from: ConfigReading, drive: CloudInitDrive | undefined) {
  if (from.text('cipassword') !== undefined)
    from.note('a cloud-init password is set; it cannot be read, is not declared, and stays as it is')
  if (drive === undefined) {
    for (const key of from.keys.filter((one) => KEYS.test(one))) from.leave(key)
    return undefined
  }
  const custom = from.properties('cicustom', '')
  return block({
    datastoreId: drive.storage,
    interface: unless(USUAL_SLOT, drive.slot),
    type: from.text('citype'),
    upgrade: unless(true, from.flag('ciupgrade')),
    dns: block({
      domain: unless('', from.text('searchdomain')),
      servers: some(words(from.text('nameserver'))),
    }),
    userAccount: block({ username: unless('', from.text('ciuser')), keys: some(lines(from.text('sshkeys'))) }),
    ipConfig: addresses(from),
    userDataFileId: custom?.text('user'),
    networkDataFileId: custom?.text('network'),
    metaDataFileId: custom?.text('meta'),
    vendorDataFileId: custom?.text('vendor'),
  })
}

/** The list position is the card's number. Entries after an unsupported one are omitted. */
function addresses(from: ConfigReading): readonly unknown[] | undefined {
  const slots = from.keys.filter((key) => /^ipconfig\d{1,2}$/.test(key))
  const found: unknown[] = []
  let broken = false
  for (const key of slots) {
    const parts = from.properties(key, '')
    const v4 = { address: parts?.text('ip'), gateway: parts?.text('gw') }
    const v6 = { address: parts?.text('ip6'), gateway: parts?.text('gw6') }
    broken ||= parts === undefined || !sayable(v4) || !sayable(v6)
    if (broken) {
      from.leave(key)
      continue
    }
    while (found.length < Number(key.slice('ipconfig'.length))) found.push({})
    const ipv4 = block(v4)
    const ipv6 = block(v6)
    found.push({ ...(ipv4 === undefined ? {} : { ipv4 }), ...(ipv6 === undefined ? {} : { ipv6 }) })
  }
  return some(found)
}

/** A gateway needs a static address. */
function sayable({ address, gateway }: { readonly address: string | undefined; readonly gateway: string | undefined }) {
  return gateway === undefined || (address !== undefined && !/^(?:dhcp|auto|manual)$/i.test(address))
}
