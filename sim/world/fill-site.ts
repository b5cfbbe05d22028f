import type { Site, SiteGuest, SiteHost, SiteStorage } from '../../src/model/site.ts'
import { macAddress } from './chance.ts'
import { addHost, addStorage } from './create-world.ts'
import { newGuest, noteSeen, powerOn } from './guest-run.ts'
import { addGuest, addToken, addUser, putFile } from './presets.ts'
import { GIB } from './sizes.ts'
import type { Guest, Host, World } from './types.ts'
import { volumesOf } from './volumes.ts'

/** Fills a datacentre from its description, with a token of root. */
export function fillSite(world: World, site: Site): void {
  for (const [index, host] of site.hosts.entries()) fillHost(world, host, index)
  for (const storage of site.storages) addSiteStorage(world, storage)
  for (const { name, storage, host } of site.files) {
    const on = world.hosts.get(host)
    if (on !== undefined) putFile(world, on, storage, name, fileOf(name))
  }
  for (const { name } of site.pools)
    world.pools.set(name, { id: name, comment: undefined, guests: new Set(), storages: new Set() })
  for (const guest of site.guests) addSiteGuest(world, guest)
  addUser(world, 'root@pam', undefined)
  addToken(world, 'root@pam', 'croft', false)
}

/** Addresses that no site has: those of machines to come are the site's own. */
function fillHost(world: World, wanted: SiteHost, index: number): void {
  const { name, cpus, memoryBytes, bridges, cards, pci, usb } = wanted
  const address = wanted.address ?? `198.51.100.${10 + (index % 240)}`
  const host = addHost(world, name, {
    address,
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  })
  const { interfaces } = host
  if (!bridges.some((bridge) => bridge.name === 'vmbr0')) moveAddress(host)
  let priority = 5
  for (const card of cards)
    if (!interfaces.has(card.name))
      interfaces.set(card.name, {
        type: 'eth',
        method: 'manual',
        method6: 'manual',
        families: ['inet'],
        priority: priority++,
      })
  for (const bridge of bridges)
    if (!interfaces.has(bridge.name)) interfaces.set(bridge.name, { ...plainBridge(), priority: priority++ })
  for (const device of pci) host.pci.push(...functionsOf(device.name).map((path) => ({ path, id: device.id })))
  for (const device of usb) host.usb.push({ path: device.name, id: device.id })
}

/** Without vmbr0 the card itself has the address of the host. */
function moveAddress({ interfaces }: Host): void {
  const { method, address, netmask, cidr, gateway } = interfaces.get('vmbr0') ?? {}
  interfaces.delete('vmbr0')
  interfaces.set('eth0', { ...interfaces.get('eth0'), method, address, netmask, cidr, gateway, autostart: 1 })
}

function plainBridge(): Record<string, unknown> {
  return {
    type: 'bridge',
    method: 'manual',
    method6: 'manual',
    families: ['inet'],
    bridge_ports: '',
    bridge_stp: 'off',
    bridge_fd: '0',
    autostart: 1,
    active: 1,
  }
}

/** Expands `0000:01:00` to all functions of the card, which the world keeps one by one. */
function functionsOf(path: string): readonly string[] {
  return /\.[0-7]$/.test(path) ? [path] : [`${path}.0`]
}

const BLOCK_CONTENT = ['images', 'rootdir']

function addSiteStorage(world: World, { name, type, content, bytes, shared, hosts }: SiteStorage): void {
  const files = ['dir', 'nfs', 'cifs', 'btrfs', 'cephfs'].includes(type)
  const isShared = shared ?? SHARED.has(type)
  const path = name === 'local' ? '/var/lib/vz' : `/mnt/pve/${name}`
  addStorage(world, {
    id: name,
    type,
    path: files ? path : '',
    ...(content !== undefined ? { content: [...content] } : files ? {} : { content: usualContent(type) }),
    ...(bytes === undefined ? {} : { totalBytes: bytes }),
    shared: isShared,
    nodes: hosts === undefined ? undefined : [...hosts],
    options: optionsOf(type, name),
  })
  if (!isShared) return
  const volumes = new Map()
  for (const host of world.hosts.values()) host.volumes.set(name, volumes)
}

const SHARED = new Set(['nfs', 'cifs', 'cephfs', 'rbd', 'pbs', 'iscsi', 'iscsidirect', 'zfs'])

function usualContent(type: string): string[] {
  return type === 'pbs' ? ['backup'] : BLOCK_CONTENT
}

/** What an entry of this type cannot be without. */
function optionsOf(type: string, name: string): Record<string, string> {
  switch (type) {
    case 'zfspool':
      return { pool: name === 'local-zfs' ? 'rpool/data' : name, sparse: '1' }
    case 'lvmthin':
      return name === 'local-lvm' ? { thinpool: 'data', vgname: 'pve' } : { thinpool: 'data', vgname: name }
    case 'lvm':
      return { vgname: name }
    case 'nfs':
      return { server: '198.51.100.2', export: `/srv/${name}` }
    case 'cifs':
      return { server: '198.51.100.2', share: name }
    case 'pbs':
      return { server: '198.51.100.2', datastore: name, username: 'root@pam' }
    case 'rbd':
    case 'cephfs':
      return { monhost: '198.51.100.2' }
    default:
      return {}
  }
}

function fileOf(name: string) {
  const format = /\.(qcow2|raw|vmdk|ova|iso)$/.exec(name)?.[1]
  if (name.startsWith('snippets/')) {
    const script = /\.(?:sh|pl|py)$/.test(name) ? { script: { exit: 0 } } : {}
    return { format: 'snippet', sizeBytes: 14, text: '#cloud-config\n', ...script }
  }
  if (name.startsWith('vztmpl/')) return { format: 'tzst', sizeBytes: 120_000_000 }
  return {
    format: name.startsWith('iso/') ? 'iso' : (format ?? 'qcow2'),
    sizeBytes: 618_925_568,
    virtualBytes: 3.5 * GIB,
    system: { agent: true, acpi: true },
    checksumSeed: name,
  }
}

function addSiteGuest(world: World, wanted: SiteGuest): void {
  const { vmid, type, name, template, running } = wanted
  const host = world.hosts.get(wanted.host)
  if (host === undefined) return
  const config = Object.fromEntries(Object.entries(wanted.config).map(([key, value]) => [key, withMac(world, value)]))
  const guest =
    type === 'qemu' ? addGuest(world, host, vmid, { name, ...config }) : addContainer(world, host, wanted, config)
  for (const [index, [slot, { storage, gib }]] of Object.entries(wanted.disks).entries())
    guest.config.set(slot, addDisk(world, host, guest, { storage, gib, index, template: template === true }))
  if (type === 'qemu' && wanted.disks.scsi0 !== undefined) guest.config.set('boot', 'order=scsi0;net0')
  if (template === true) guest.config.set('template', '1')
  else if (running === true) {
    powerOn(world, host, guest, 0)
    guest.run.startedAtMs -= 3_600_000
    guest.run.bootedAtMs = guest.run.startedAtMs + 20_000
  }
  noteSeen(world, guest)
  // As if the status daemon had known it for a long time.
  const entry = guest.seen.pop()
  guest.seen.length = 0
  if (entry !== undefined) guest.seen.push({ ...entry, atMs: 0 })
}

/** `virtio,bridge=vmbr0` gets the hardware address that Proxmox would have chosen. */
function withMac(world: World, value: string): string {
  return value.replace(
    /^(virtio|e1000e?|rtl8139|vmxnet3),bridge=/,
    (_, model: string) => `${model}=${macAddress(world.random)},bridge=`,
  )
}

function addContainer(world: World, host: Host, { vmid, name }: SiteGuest, options: Record<string, string>): Guest {
  const config = new Map(Object.entries({ hostname: name, arch: 'amd64', ostype: 'debian', ...options }))
  const guest = newGuest(vmid, 'lxc', host.name, config)
  world.guests.set(vmid, guest)
  return guest
}

function addDisk(
  world: World,
  host: Host,
  { vmid, type }: Guest,
  disk: { readonly storage: string; readonly gib: number; readonly index: number; readonly template: boolean },
): string {
  const { storage, gib, index, template } = disk
  const stem = type === 'lxc' ? 'subvol' : template ? 'base' : 'vm'
  const plain = `${stem}-${vmid}-disk-${index}`
  const name = world.storages.get(storage)?.files === true ? `${vmid}/${plain}.raw` : plain
  volumesOf(host, storage).set(name, {
    name,
    content: type === 'lxc' ? 'rootdir' : 'images',
    format: 'raw',
    sizeBytes: gib * GIB,
    usedBytes: Math.min(gib, 2) * GIB,
    vmid,
    ctimeSeconds: Math.floor(world.clock.now() / 1000) - 86_400,
    ...(type === 'qemu' ? { system: { agent: true, acpi: true } } : {}),
  })
  return `${storage}:${name},size=${gib}G`
}
