import type { HostSpec } from '../../kinds/schemas/host.ts'
import type { ContainerSpec } from '../../model/container.ts'
import type { Declaration, Origin } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import { hypervisorRow } from '../../model/hypervisors.ts'
import { type Desired, guestIn, type Resource } from '../../model/resource.ts'
import type { SettingSpec } from '../../model/rest.ts'
import type { Site, SiteGuest } from '../../model/site.ts'
import type { VmSpec } from '../../model/vm.ts'
import { existingGuest, type NamedDisk, namedVmids } from './named-guests.ts'
import { createNotes, type Notes } from './notes.ts'

/**
 * Returns the site that these declarations presuppose: all objects that they name and do not create, and those only
 * observed or adopted. Pure.
 */
export function siteOfEstate(
  estate: Pick<Estate, 'resources' | 'connections'>,
  declarations: readonly Declaration[],
  connection: string,
): Site {
  const ours = estate.resources.filter((one) => one.connection === connection)
  const notes = createNotes(madeHere(ours))
  noteHosts(notes, estate, declarations, connection)
  const guests = new Map<number, SiteGuest>()
  const own = new Set(ours.filter((one) => !isThere(one)).map(({ desired }) => guestIn(desired)?.vmid))
  for (const resource of ours) {
    const { desired, origin, policy, placement } = resource
    for (const one of placement?.candidates.map((candidate) => candidate.desired) ?? [desired])
      noteDesired(notes, one, origin, isThere(resource))
    const there = isThere(resource) ? existingGuest(resource, policy.adopt) : undefined
    if (there !== undefined) guests.set(there.vmid, there)
  }
  for (const resource of ours)
    for (const named of namedVmids(resource))
      if (!own.has(named.vmid) && !guests.has(named.vmid)) {
        guests.set(named.vmid, named)
        notes.host(named.host, named.from)
      }
  return notes.site([...guests.values()].map((guest) => withDisk(guest, notes)))
}

/** Reports whether the resource exists already: declared to be adopted, or only observed. */
function isThere({ policy }: Resource): boolean {
  return policy.adopt !== undefined || policy.manage === 'observe'
}

/** Returns what the declarations create, by sort, host and name: the site must not have it before. */
function madeHere(resources: readonly Resource[]): ReadonlySet<string> {
  const made = new Set<string>()
  for (const resource of resources) {
    const { desired } = resource
    if (isThere(resource)) continue
    if (desired.type === 'file') {
      const { storage, content, fileName, host } = desired.file
      made.add(`file ${host} ${storage}:${content}/${fileName}`)
    } else if (desired.type === 'setting') {
      const { definition, id, host, fields } = desired.setting
      if (definition === 'bridge' || definition === 'bond' || definition === 'vlan') made.add(`interface ${host} ${id}`)
      // A network of the whole datacentre: cards are plugged into it by its name, as into a bridge.
      else if (host === undefined && typeof fields.zone === 'string') made.add(`vnet ${id}`)
      else if (definition === 'storage' || definition === 'pool') made.add(`${definition} ${id}`)
    }
  }
  return made
}

function noteHosts(
  notes: Notes,
  estate: Pick<Estate, 'connections'>,
  declarations: readonly Declaration[],
  connection: string,
): void {
  const only = estate.connections.filter(({ driver }) => hypervisorRow(driver) !== undefined).length === 1
  for (const { kind, name, spec, origin } of declarations) {
    if (kind !== 'Host') continue
    const { node = name, bindings, connection: said } = spec as HostSpec
    const { networks, storages } = bindings
    const bound = Object.keys(networks).length + Object.keys(storages).length > 0
    // A Host without bindings is a separate box unless it says that it belongs to Proxmox.
    if (said === undefined ? !(only && bound) : said !== connection) continue
    notes.host(node, origin)
    for (const { bridge } of Object.values(networks)) notes.bridge(node, bridge, origin)
    for (const storage of Object.values(storages)) notes.storage(storage, node, [], origin)
  }
}

function noteDesired(notes: Notes, desired: Desired, origin: Origin, there: boolean): void {
  if (desired.type === 'vm') noteVm(notes, desired.vm, origin)
  else if (desired.type === 'container') noteContainer(notes, desired.container, origin)
  else if (desired.type === 'file') {
    const { host, storage, content, fileName } = desired.file
    notes.storage(storage, host, [content], origin)
    if (there) notes.file(host, `${storage}:${content}/${fileName}`, origin)
  } else if (desired.type === 'setting') noteSetting(notes, desired.setting, origin)
}

function noteVm(notes: Notes, vm: VmSpec, origin: Origin): void {
  const { host } = vm
  notes.host(host, origin)
  notes.load(host, vm.memory?.dedicatedMb ?? 0, (vm.cpu?.cores ?? 1) * (vm.cpu?.sockets ?? 1))
  for (const { bridge } of vm.nics) notes.bridge(host, bridge, origin)
  for (const { storage, importFrom, format, sizeGb } of vm.disks) {
    notes.storage(storage, host, format === 'qcow2' || format === 'vmdk' ? ['files'] : ['images'], origin, sizeGb)
    notes.file(host, importFrom, origin)
  }
  for (const storage of [vm.efiDisk?.storage, vm.tpm?.storage, vm.cloudInit?.storage, vm.clone?.storage])
    if (storage !== undefined) notes.storage(storage, host, ['images'], origin)
  if (vm.seed?.storage !== undefined) notes.storage(vm.seed.storage, host, ['iso'], origin)
  const { userData, networkData, metaData, vendorData } = vm.cloudInit ?? {}
  for (const file of [userData, networkData, metaData, vendorData, vm.hookScript, ...(vm.cdrom ?? []).map(fileIn)])
    notes.file(host, file, origin)
  for (const { device } of vm.pci ?? [])
    if (device !== undefined) notes.device('pci', host, device, '8086:0000', origin)
  if (vm.pool !== undefined) notes.pool(vm.pool, origin)
}

function noteContainer(notes: Notes, container: ContainerSpec, origin: Origin): void {
  const { host } = container
  notes.host(host, origin)
  notes.load(host, container.memory?.dedicatedMb ?? 0, container.cpu?.cores ?? 1)
  for (const { bridge } of container.nics) notes.bridge(host, bridge, origin)
  for (const disk of [container.rootDisk, ...container.mounts])
    if (disk?.storage !== undefined) notes.storage(disk.storage, host, ['rootdir'], origin, disk.sizeGb)
  for (const file of [container.image, container.hookScript]) notes.file(host, file, origin)
  if (container.pool !== undefined) notes.pool(container.pool, origin)
}

function fileIn({ file }: { readonly file: string }): string {
  return file
}

/** Notes a setting by its fields: many kinds use the same names for hosts, bridges, storages and devices. */
function noteSetting(notes: Notes, { definition, id, host, fields }: SettingSpec, origin: Origin): void {
  const hosts = textsIn(fields.hosts)
  for (const one of [host, typeof fields.host === 'string' ? fields.host : undefined, ...hosts])
    if (one !== undefined) notes.host(one, origin)
  if (definition === 'storage') notes.storageEntry(id, fields, hosts, origin)
  if (definition === 'pool') notes.pool(id, origin)
  if (definition === 'bridge' && host !== undefined) notes.bridge(host, id, origin)
  if (host !== undefined)
    for (const card of textsIn(fields.ports ?? fields.interfaces ?? fields.device)) notes.card(host, card, origin)
  for (const one of hosts) for (const bridge of textsIn(fields.bridge)) notes.bridge(one, bridge, origin)
  for (const storage of definition === 'storage' ? [] : textsIn(fields.storage))
    notes.storage(storage, undefined, fields.schedule === undefined ? [] : ['backup'], origin)
  for (const entry of Array.isArray(fields.devices) ? fields.devices : []) {
    const device = entry as { readonly host?: string; readonly path?: string; readonly id?: string }
    if (device.host === undefined || device.id === undefined) continue
    const sort = /^[0-9a-f]{4}:/i.test(device.path ?? '') ? 'pci' : 'usb'
    notes.device(sort, device.host, device.path ?? '1-1', device.id, origin)
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

/** A guest that is only named has one disk, on a storage that its host is known to have. */
function withDisk(guest: SiteGuest, notes: Notes): SiteGuest {
  if (Object.keys(guest.disks).length > 0) return guest
  const disk: NamedDisk = { storage: notes.storageFor(guest.host), gib: 8 }
  return { ...guest, disks: { [guest.type === 'qemu' ? 'scsi0' : 'rootfs']: disk } }
}
