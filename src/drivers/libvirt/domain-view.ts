import { childrenOf, find, type HostPlaces, placeOf, textIn, type XmlElement } from './xml.ts'

/** The declarable part of a domain. All else is left alone. */
export interface DomainView {
  readonly name: string
  readonly memoryMb: number | undefined
  readonly cores: number | undefined
  readonly cpu: string | undefined
  readonly machine: 'pc' | 'q35' | 'virt' | undefined
  /** `x86_64`, `aarch64`. */
  readonly architecture: string | undefined
  readonly bios: 'seabios' | 'ovmf'
  readonly disks: readonly DiskView[]
  readonly nics: readonly NicView[]
  readonly agent: boolean
  readonly console: boolean
  readonly pci: readonly { readonly device: string; readonly alias: string | undefined }[]
  readonly usb: readonly { readonly device: string; readonly alias: string | undefined }[]
}

export interface DiskView {
  readonly dev: string
  readonly bus: string
  readonly device: string
  readonly path: string | undefined
  readonly pool: string | undefined
  readonly volume: string | undefined
  readonly format: string | undefined
  readonly cache: string | undefined
  readonly discard: string | undefined
  readonly serial: string | undefined
}

export interface NicView {
  readonly alias: string | undefined
  readonly mac: string | undefined
  /** The network or the bridge. */
  readonly source: string | undefined
  readonly model: string | undefined
  readonly vlan: number | undefined
  readonly mtu: number | undefined
  readonly disconnected: boolean
}

export function viewDomain(domain: XmlElement, places: HostPlaces): DomainView {
  const devices = find(domain, 'devices')
  const type = find(domain, 'os/type')
  return {
    name: textIn(find(domain, 'name')),
    memoryMb: mebibytes(find(domain, 'memory')),
    cores: number(textIn(find(domain, 'vcpu'))),
    cpu: cpuOf(find(domain, 'cpu')),
    machine: machineOf(type?.attributes.machine),
    architecture: type?.attributes.arch,
    bios: isUefi(find(domain, 'os')) ? 'ovmf' : 'seabios',
    disks: childrenOf(devices, 'disk').map((disk) => viewDisk(disk, places)),
    nics: childrenOf(devices, 'interface').map(viewNic),
    agent: childrenOf(devices, 'channel').some(
      (channel) => find(channel, 'target')?.attributes.name === 'org.qemu.guest_agent.0',
    ),
    console: childrenOf(devices, 'console').length + childrenOf(devices, 'serial').length > 0,
    pci: hostDevices(devices, 'pci', (source) => pciAddress(find(source, 'address'))),
    usb: hostDevices(devices, 'usb', usbAddress),
  }
}

function viewDisk(disk: XmlElement, places: HostPlaces): DiskView {
  const source = find(disk, 'source')?.attributes ?? {}
  const target = find(disk, 'target')?.attributes ?? {}
  const driver = find(disk, 'driver')?.attributes ?? {}
  const path = source.file ?? source.dev
  const place =
    source.pool !== undefined && source.volume !== undefined
      ? { pool: source.pool, volume: source.volume }
      : path === undefined
        ? undefined
        : placeOf(places, path)
  return {
    dev: target.dev ?? '',
    bus: target.bus ?? '',
    device: disk.attributes.device ?? 'disk',
    path,
    pool: place?.pool,
    volume: place?.volume,
    format: driver.type,
    cache: driver.cache,
    discard: driver.discard,
    serial: textOrNothing(find(disk, 'serial')),
  }
}

function viewNic(nic: XmlElement): NicView {
  const source = find(nic, 'source')?.attributes ?? {}
  return {
    alias: aliasOf(nic),
    mac: find(nic, 'mac')?.attributes.address?.toUpperCase(),
    source: source.network ?? source.bridge ?? source.dev,
    model: find(nic, 'model')?.attributes.type,
    vlan: number(find(nic, 'vlan/tag')?.attributes.id),
    mtu: number(find(nic, 'mtu')?.attributes.size),
    disconnected: find(nic, 'link')?.attributes.state === 'down',
  }
}

/** Returns a device's alias of ours, which starts with `ua-`; libvirt generates others for running domains. */
export function aliasOf(device: XmlElement): string | undefined {
  const name = find(device, 'alias')?.attributes.name
  return name?.startsWith('ua-') === true ? name : undefined
}

function hostDevices(
  devices: XmlElement | undefined,
  type: string,
  address: (source: XmlElement | undefined) => string | undefined,
): DomainView['pci'] {
  return childrenOf(devices, 'hostdev')
    .filter((device) => device.attributes.type === type)
    .flatMap((device) => {
      const found = address(find(device, 'source'))
      return found === undefined ? [] : [{ device: found, alias: aliasOf(device) }]
    })
}

function pciAddress(address: XmlElement | undefined): string | undefined {
  const { domain, bus, slot, function: fn } = address?.attributes ?? {}
  if (bus === undefined || slot === undefined) return undefined
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(slot, 2)}.${hex(fn, 1)}`
}

function usbAddress(source: XmlElement | undefined): string | undefined {
  const vendor = find(source, 'vendor')?.attributes.id
  const product = find(source, 'product')?.attributes.id
  return vendor === undefined || product === undefined ? undefined : `${hex(vendor, 4)}:${hex(product, 4)}`
}

function hex(text: string | undefined, digits: number): string {
  return Number(text ?? '0')
    .toString(16)
    .padStart(digits, '0')
}

function cpuOf(cpu: XmlElement | undefined): string | undefined {
  if (cpu === undefined) return undefined
  const mode = cpu.attributes.mode
  if (mode === 'host-passthrough') return 'host'
  if (mode === 'host-model' || mode === 'maximum') return mode
  return textOrNothing(find(cpu, 'model'))
}

/** `pc-q35-7.2`, `pc-i440fx-7.2`, `q35`, `pc`; `virt-7.2`. */
function machineOf(text: string | undefined): DomainView['machine'] {
  if (text === undefined) return undefined
  if (/^virt(?:-|$)/.test(text)) return 'virt'
  return text.includes('q35') ? 'q35' : text.startsWith('pc') ? 'pc' : undefined
}

function isUefi(os: XmlElement | undefined): boolean {
  return os?.attributes.firmware === 'efi' || find(os, 'loader')?.attributes.type === 'pflash'
}

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  bytes: 1,
  KB: 1000,
  k: 1024,
  KiB: 1024,
  MB: 1e6,
  M: 1024 ** 2,
  MiB: 1024 ** 2,
  GB: 1e9,
  G: 1024 ** 3,
  GiB: 1024 ** 3,
  T: 1024 ** 4,
  TiB: 1024 ** 4,
}

/** Returns a size of libvirt's XML in bytes. */
export function bytesOf(node: XmlElement | undefined, unit = 'bytes'): number | undefined {
  const value = number(textIn(node))
  const factor = UNITS[node?.attributes.unit ?? unit]
  return value === undefined || factor === undefined ? undefined : value * factor
}

function mebibytes(node: XmlElement | undefined): number | undefined {
  const bytes = bytesOf(node, 'KiB')
  return bytes === undefined ? undefined : bytes / 1024 ** 2
}

function number(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

function textOrNothing(node: XmlElement | undefined): string | undefined {
  const text = textIn(node).trim()
  return text === '' ? undefined : text
}
