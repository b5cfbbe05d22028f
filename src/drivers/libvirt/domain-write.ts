import type { VmDisk, VmNic } from '../../model/vm.ts'
import { aliasOf } from './domain-view.ts'
import { parseMark, removeMark, writeDescription, writeMark, writeTags } from './marks.ts'
import { targetOf } from './names.ts'
import {
  childrenOf,
  element,
  find,
  findOrMake,
  type HostPlaces,
  isBlockPool,
  removeChild,
  setText,
  textIn,
  volumePath,
  type XmlElement,
} from './xml.ts'

/** A disk in a domain: its declaration and its volume. */
export type DiskToWrite = Pick<VmDisk, 'slot' | 'cache' | 'discard' | 'serial' | 'iothread'> & {
  readonly pool: string
  readonly volume: string
  readonly format: string
  /** A seed's disc is read-only. */
  readonly seed?: boolean
}

/**
 * Writes one declared value into a domain's XML and leaves everything else as it is. Returns false for an unknown path.
 */
export function writeValue(domain: XmlElement, path: string, value: unknown, places: HostPlaces): boolean {
  const [head = '', slot = '', field = ''] = path.split('.')
  if (value === null && head === 'mark') {
    removeMark(domain)
    return true
  }
  if (value === null && field === '') return takeOut(domain, head, slot)
  switch (head) {
    case 'mark':
      writeMark(domain, parseMark(String(value)), textIn(find(domain, 'uuid')).trim())
      return true
    case 'description':
      writeDescription(domain, String(value))
      return true
    case 'tags':
      writeTags(domain, value as readonly string[])
      return true
    case 'memory':
      writeMemory(domain, Number(value))
      return true
    case 'cpu':
      return slot === 'cores' ? writeCores(domain, Number(value)) : writeCpu(domain, String(value))
    case 'agent':
      return writeAgent(domain, value === true)
    case 'disks':
      return field === ''
        ? putDisk(domain, value as DiskToWrite, places)
        : writeDiskField(domain, slot, field, String(value))
    case 'seed':
      return putDisk(domain, { ...(value as DiskToWrite), seed: true }, places)
    case 'nics':
      return field === ''
        ? putNic(domain, value as VmNic, places)
        : writeNicField(domain, slot, field, value as string | number | boolean, places)
    case 'pci':
      return putDevice(domain, slot, pciDevice(slot, String(value)))
    case 'usb':
      return putDevice(domain, slot, usbDevice(slot, String(value)))
    default:
      return false
  }
}

/** Returns the base of a new machine. All else is written into it value by value, as for an existing one. */
export function newDomain(options: {
  readonly uuid: string
  readonly name: string
  readonly type: string
  readonly machine: string | undefined
  readonly bios: string | undefined
  readonly architecture: string | undefined
}): XmlElement {
  const uefi = options.bios === 'ovmf'
  const os = element('os', { firmware: uefi ? 'efi' : undefined }, [
    element('type', { arch: options.architecture, machine: options.machine }, 'hvm'),
    // Without enrolled keys, secure boot starts only what the vendor signed.
    ...(uefi ? [element('firmware', {}, [element('feature', { enabled: 'no', name: 'secure-boot' })])] : []),
    element('boot', { dev: 'hd' }),
  ])
  const devices = element('devices', {}, [
    element('serial', { type: 'pty' }),
    element('console', { type: 'pty' }),
    element('rng', { model: 'virtio' }, [element('backend', { model: 'random' }, '/dev/urandom')]),
  ])
  return element('domain', { type: options.type }, [
    element('name', {}, options.name),
    element('uuid', {}, options.uuid),
    element('metadata'),
    element('memory', { unit: 'KiB' }, '524288'),
    element('vcpu', {}, '1'),
    os,
    // An arm64 machine has another interrupt controller, which libvirt chooses.
    element('features', {}, [element('acpi'), ...(options.architecture === 'aarch64' ? [] : [element('apic')])]),
    element('clock', { offset: 'utc' }),
    element('on_poweroff', {}, 'destroy'),
    element('on_reboot', {}, 'restart'),
    element('on_crash', {}, 'restart'),
    devices,
  ])
}

function writeMemory(domain: XmlElement, mb: number): void {
  for (const name of ['memory', 'currentMemory']) {
    const node = findOrMake(domain, name)
    node.attributes.unit = 'KiB'
    setText(node, String(mb * 1024))
  }
}

function writeCores(domain: XmlElement, cores: number): boolean {
  const vcpu = findOrMake(domain, 'vcpu')
  delete vcpu.attributes.current
  setText(vcpu, String(cores))
  // libvirt refuses a topology for another number of processors.
  const cpu = find(domain, 'cpu')
  const topology = find(cpu, 'topology')
  if (cpu !== undefined && topology !== undefined) removeChild(cpu, topology)
  return true
}

function writeCpu(domain: XmlElement, type: string): boolean {
  const cpu = findOrMake(domain, 'cpu')
  const modes: Readonly<Record<string, string>> = {
    host: 'host-passthrough',
    'host-model': 'host-model',
    maximum: 'maximum',
  }
  const mode = modes[type]
  for (const model of childrenOf(cpu, 'model')) removeChild(cpu, model)
  cpu.attributes.mode = mode ?? 'custom'
  if (mode === undefined) {
    cpu.attributes.match = 'exact'
    cpu.children.unshift(element('model', { fallback: 'forbid' }, type))
  } else delete cpu.attributes.match
  return true
}

const AGENT = 'org.qemu.guest_agent.0'

function writeAgent(domain: XmlElement, on: boolean): boolean {
  const devices = findOrMake(domain, 'devices')
  const there = childrenOf(devices, 'channel').find((one) => find(one, 'target')?.attributes.name === AGENT)
  if (on && there === undefined)
    devices.children.push(element('channel', { type: 'unix' }, [element('target', { type: 'virtio', name: AGENT })]))
  if (!on && there !== undefined) removeChild(devices, there)
  return true
}

function diskAt(domain: XmlElement, slot: string): XmlElement | undefined {
  const dev = targetOf(slot)?.dev
  return childrenOf(find(domain, 'devices'), 'disk').find((disk) => find(disk, 'target')?.attributes.dev === dev)
}

function putDisk(domain: XmlElement, disk: DiskToWrite, places: HostPlaces): boolean {
  const target = targetOf(disk.slot)
  const path = volumePath(places, disk.pool, disk.volume)
  if (target === undefined || path === undefined) return false
  const devices = findOrMake(domain, 'devices')
  const before = diskAt(domain, disk.slot)
  if (before !== undefined) removeChild(devices, before)
  const block = isBlockPool(places.pools.get(disk.pool))
  const cdrom = disk.seed === true && target.bus !== 'virtio'
  // By path and not as a pool's volume: AppArmor's helper does not know pools and would deny all reads.
  const source = element('source', block ? { dev: path } : { file: path })
  if (target.bus === 'scsi' && !hasScsiController(devices))
    devices.children.push(element('controller', { type: 'scsi', index: '0', model: 'virtio-scsi' }))
  devices.children.push(
    element('disk', { type: block ? 'block' : 'file', device: cdrom ? 'cdrom' : 'disk' }, [
      element('driver', {
        name: 'qemu',
        type: block ? 'raw' : disk.format,
        cache: disk.cache,
        discard: disk.discard === 'on' ? 'unmap' : disk.discard,
      }),
      source,
      element('target', { dev: target.dev, bus: target.bus }),
      ...(disk.seed === true ? [element('readonly')] : []),
      ...(disk.serial === undefined ? [] : [element('serial', {}, disk.serial)]),
      ...(target.bus === 'scsi' ? [scsiPlace(disk.slot)] : []),
    ]),
  )
  return true
}

/** By default libvirt puts the eighth and later ones on a second controller of a rarely supported model. */
function scsiPlace(slot: string): XmlElement {
  const unit = slot.slice('scsi'.length)
  return element('address', { type: 'drive', controller: '0', bus: '0', target: '0', unit })
}

function hasScsiController(devices: XmlElement): boolean {
  return childrenOf(devices, 'controller').some((controller) => controller.attributes.type === 'scsi')
}

function writeDiskField(domain: XmlElement, slot: string, field: string, value: string): boolean {
  const disk = diskAt(domain, slot)
  if (disk === undefined) return false
  if (field === 'serial') setText(findOrMake(disk, 'serial'), value)
  else findOrMake(disk, 'driver').attributes[field] = field === 'discard' && value === 'on' ? 'unmap' : value
  return true
}

function nicAt(domain: XmlElement, slot: string): XmlElement | undefined {
  const nics = childrenOf(find(domain, 'devices'), 'interface')
  const named = nics.find((nic) => aliasOf(nic) === `ua-${slot}`)
  const at = Number(/^net(\d+)$/.exec(slot)?.[1] ?? Number.NaN)
  const other = nics[at]
  return named ?? (other !== undefined && aliasOf(other) === undefined ? other : undefined)
}

function putNic(domain: XmlElement, nic: VmNic, places: HostPlaces): boolean {
  const devices = findOrMake(domain, 'devices')
  const made = element('interface', {}, [
    ...(nic.mac === undefined ? [] : [element('mac', { address: nic.mac.toLowerCase() })]),
    element('model', { type: nic.model }),
    element('alias', { name: `ua-${nic.slot}` }),
  ])
  writeSource(made, nic.bridge, places)
  devices.children.push(made)
  for (const field of ['vlan', 'mtu', 'disconnected'] as const) {
    const value = nic[field]
    if (value !== undefined) setNicField(made, field, value)
  }
  return true
}

function writeSource(nic: XmlElement, name: string, places: HostPlaces): void {
  const network = places.networks.has(name)
  const before = find(nic, 'source')
  if (before !== undefined) removeChild(nic, before)
  nic.attributes.type = network ? 'network' : 'bridge'
  nic.children.unshift(element('source', network ? { network: name } : { bridge: name }))
}

function writeNicField(
  domain: XmlElement,
  slot: string,
  field: string,
  value: string | number | boolean,
  places: HostPlaces,
): boolean {
  const nic = nicAt(domain, slot)
  if (nic === undefined) return false
  if (field === 'bridge') writeSource(nic, String(value), places)
  else setNicField(nic, field, value)
  return true
}

/** The place of a card's field: its element and attribute. */
const NIC_FIELDS: Readonly<Record<string, readonly [element: string, attribute: string]>> = {
  mac: ['mac', 'address'],
  model: ['model', 'type'],
  mtu: ['mtu', 'size'],
  disconnected: ['link', 'state'],
  vlan: ['vlan/tag', 'id'],
}

function setNicField(nic: XmlElement, field: string, value: string | number | boolean): void {
  const [path, attribute] = NIC_FIELDS[field] ?? []
  if (path === undefined || attribute === undefined) return
  // A trunk of several tags becomes this tag.
  if (field === 'vlan') findOrMake(nic, 'vlan').children.splice(0)
  const text = field === 'disconnected' ? (value === true ? 'down' : 'up') : String(value)
  findOrMake(nic, path).attributes[attribute] = field === 'mac' ? text.toLowerCase() : text
}

/** Removes only a device with croft's alias; returns true even if it is already gone. */
function takeOut(domain: XmlElement, head: string, slot: string): boolean {
  const name = head === 'nics' ? 'interface' : head === 'pci' || head === 'usb' ? 'hostdev' : undefined
  if (name === undefined) return head === 'seed'
  const devices = findOrMake(domain, 'devices')
  for (const device of childrenOf(devices, name)) if (aliasOf(device) === `ua-${slot}`) removeChild(devices, device)
  return true
}

/** Replaces the device with its alias. */
function putDevice(domain: XmlElement, slot: string, made: XmlElement | undefined): boolean {
  if (made === undefined) return false
  const devices = findOrMake(domain, 'devices')
  const before = childrenOf(devices, 'hostdev').find((device) => aliasOf(device) === `ua-${slot}`)
  if (before !== undefined) removeChild(devices, before)
  devices.children.push(made)
  return true
}

function pciDevice(slot: string, device: string): XmlElement | undefined {
  const [, domain, bus, at, fn] = /^(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i.exec(device) ?? []
  if (bus === undefined) return undefined
  const address = {
    domain: `0x${domain ?? '0000'}`,
    bus: `0x${bus}`,
    slot: `0x${at ?? '00'}`,
    function: `0x${fn ?? '0'}`,
  }
  return hostDevice(slot, 'pci', [element('address', address)])
}

function usbDevice(slot: string, device: string): XmlElement | undefined {
  const [, vendor, product] = /^([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(device) ?? []
  if (vendor === undefined || product === undefined) return undefined
  return hostDevice(slot, 'usb', [element('vendor', { id: `0x${vendor}` }), element('product', { id: `0x${product}` })])
}

function hostDevice(slot: string, type: string, source: readonly XmlElement[]): XmlElement {
  return element('hostdev', { mode: 'subsystem', type, managed: 'yes' }, [
    element('source', {}, source),
    element('alias', { name: `ua-${slot}` }),
  ])
}
