import { defined } from '../../lib/defined.ts'
import { keptBy, type Mark, type ObservedResource, type Resource } from '../../model/resource.ts'
import type { VmDisk, VmNic, VmSpec } from '../../model/vm.ts'
import type { DiskView, DomainView, NicView } from './domain-view.ts'
import type { DiskToWrite } from './domain-write.ts'
import { printMark } from './marks.ts'
import { configOf, diskVolume, insertedSeed, seedVolume, shortHash, targetOf } from './names.ts'

/** One declared value of a domain: its target, its live value, and when a change takes effect. */
export interface DeclaredValue {
  /** The path in the declaration. */
  readonly path: string
  readonly to: unknown
  readonly effect: 'live' | 'restart' | 'replace'
  read(domain: DomainView): unknown
}

/** Returns all declared values of a domain's XML, in the order of their writes. */
export function declaredValues(vm: VmSpec, uid: string): readonly DeclaredValue[] {
  const values: DeclaredValue[] = []
  const add = (path: string, to: unknown, read: DeclaredValue['read'], effect: DeclaredValue['effect'] = 'restart') => {
    if (to !== undefined) values.push({ path, to, effect, read })
  }
  add(
    'machine',
    vm.machine === 'pc' || vm.machine === 'q35' || vm.machine === 'virt' ? vm.machine : undefined,
    (seen) => seen.machine,
    'replace',
  )
  add('cpu.architecture', vm.cpu?.architecture, (seen) => seen.architecture, 'replace')
  add('bios', vm.bios, (seen) => seen.bios, 'replace')
  add('cpu.cores', coresOf(vm), (seen) => seen.cores)
  add('cpu.type', vm.cpu?.type, (seen) => seen.cpu)
  add('memory.dedicatedMb', vm.memory?.dedicatedMb, (seen) => seen.memoryMb)
  add('agent.enabled', vm.agent?.enabled, (seen) => seen.agent)
  for (const disk of vm.disks) addDisk(disk, uid, add)
  for (const nic of vm.nics) addNic(nic, add)
  for (const { slot, device } of vm.pci ?? [])
    add(`pci.${slot}`, device?.toLowerCase(), (seen) => seen.pci.find(({ alias }) => alias === `ua-${slot}`)?.device)
  for (const { slot, device } of vm.usb ?? [])
    add(`usb.${slot}`, device?.toLowerCase(), (seen) => seen.usb.find(({ alias }) => alias === `ua-${slot}`)?.device)
  return values
}

/** Others set aliases as well, and libvirt requires this prefix. */
const OURS = /^ua-(?:net|hostpci|usb)\d+$/

/** Cards and devices that croft added, by the alias that it gave them, and that are no longer declared. */
export function strays(vm: VmSpec, seen: DomainView): readonly { readonly path: string; readonly from: unknown }[] {
  const declared = new Set([...vm.nics, ...(vm.pci ?? []), ...(vm.usb ?? [])].map(({ slot }) => `ua-${slot}`))
  const left = (head: string, devices: readonly { readonly alias: string | undefined; readonly is: unknown }[]) =>
    devices.flatMap(({ alias, is }) =>
      alias === undefined || !OURS.test(alias) || declared.has(alias)
        ? []
        : [{ path: `${head}.${alias.slice('ua-'.length)}`, from: is }],
    )
  return [
    ...left(
      'nics',
      seen.nics.map(({ alias, source }) => ({ alias, is: source })),
    ),
    ...left(
      'pci',
      seen.pci.map(({ alias, device }) => ({ alias, is: device })),
    ),
    ...left(
      'usb',
      seen.usb.map(({ alias, device }) => ({ alias, is: device })),
    ),
  ]
}

function coresOf({ cpu }: VmSpec): number | undefined {
  return cpu?.cores === undefined ? undefined : cpu.cores * (cpu.sockets ?? 1)
}

type Add = (path: string, to: unknown, read: DeclaredValue['read']) => void

function addDisk(disk: VmDisk, uid: string, add: Add): void {
  const path = `disks.${disk.slot}`
  const whole = diskToWrite(disk, uid)
  const field = (name: 'cache' | 'serial' | 'discard', to: string | undefined) =>
    // For a missing disk only the disk itself is reported.
    add(`${path}.${name}`, to, (seen) => {
      const there = diskIn(seen, disk.slot)
      return there === undefined ? to : discardWord(there[name])
    })
  add(path, whole, (seen) => (diskIn(seen, disk.slot) === undefined ? undefined : whole))
  field('cache', disk.cache)
  field('discard', disk.discard)
  field('serial', disk.serial)
}

function discardWord(value: string | undefined): string | undefined {
  return value === 'unmap' ? 'on' : value
}

export function diskIn(domain: DomainView | undefined, slot: string): DiskView | undefined {
  const dev = targetOf(slot)?.dev
  return domain?.disks.find((disk) => disk.dev === dev)
}

export function diskToWrite(disk: VmDisk, uid: string): DiskToWrite {
  const format = disk.format ?? 'qcow2'
  return {
    slot: disk.slot,
    pool: disk.storage,
    volume: diskVolume(uid, disk.slot, format),
    format,
    ...defined({ cache: disk.cache, discard: disk.discard, serial: disk.serial }),
  }
}

function addNic(nic: VmNic, add: Add): void {
  const path = `nics.${nic.slot}`
  const whole = {
    slot: nic.slot,
    bridge: nic.bridge,
    model: nic.model,
    ...defined({ mac: nic.mac, vlan: nic.vlan, mtu: nic.mtu, disconnected: nic.disconnected }),
  }
  const field = (name: string, to: unknown, read: (seen: NicView) => unknown) =>
    add(`${path}.${name}`, to, (domain) => {
      const there = nicIn(domain, nic.slot)
      return there === undefined ? to : read(there)
    })
  add(path, whole, (seen) => (nicIn(seen, nic.slot) === undefined ? undefined : whole))
  field('bridge', nic.bridge, (seen) => seen.source)
  field('model', nic.model, (seen) => seen.model)
  field('mac', nic.mac?.toUpperCase(), (seen) => seen.mac)
  field('vlan', nic.vlan, (seen) => seen.vlan)
  field('mtu', nic.mtu, (seen) => seen.mtu)
  field('disconnected', nic.disconnected, (seen) => seen.disconnected)
}

/** Finds a card by croft's alias; a card without one counts by its position. */
function nicIn(domain: DomainView, slot: string): NicView | undefined {
  const other = domain.nics[Number(/^net(\d+)$/.exec(slot)?.[1] ?? -1)]
  return domain.nics.find(({ alias }) => alias === `ua-${slot}`) ?? (other?.alias === undefined ? other : undefined)
}

/** The seed's disc, which is in the domain until the guest has read it. */
export function seedToWrite(vm: VmSpec, uid: string): DiskToWrite | undefined {
  const { seed } = vm
  if (seed === undefined) return undefined
  const pool = seed.storage ?? vm.disks[0]?.storage ?? 'default'
  return { slot: seed.slot, pool, volume: seedVolume(uid, seed.hash), format: 'raw' }
}

/**
 * Returns a machine's mark. Its seed is the one that the machine has read or is about to read; if it has none, it is
 * older than seeds and counts as having read the declared one, so that later changes show.
 */
export function wantedMark(resource: Resource, vm: VmSpec, observed: ObservedResource | undefined): Mark {
  const read = observed?.mark?.seed ?? (vm.seed === undefined ? undefined : shortHash(vm.seed.hash))
  return {
    uid: resource.uid,
    owner: resource.key,
    ...defined({ estate: resource.estate }),
    deletion: resource.policy.deletion,
    ...keptBy(resource.policy),
    ...defined({ seed: read }),
  }
}

/** Returns values outside the machine's hardware, compared with a close look. */
export function outsideValues(
  resource: Resource,
  vm: VmSpec,
  observed: ObservedResource,
): readonly Omit<DeclaredValue, 'effect'>[] {
  const config = configOf(observed)
  const mark = printMark(wantedMark(resource, vm, observed))
  const tags = vm.tags === undefined ? undefined : [...new Set(vm.tags.map((tag) => tag.toLowerCase()))].sort()
  return [
    ...(observed.mark?.uid === resource.uid
      ? [{ path: 'mark', to: mark, read: () => observed.mark && printMark(observed.mark) }]
      : []),
    ...(vm.description === undefined
      ? []
      : [{ path: 'description', to: vm.description.trimEnd(), read: () => config?.human }]),
    ...(tags === undefined ? [] : [{ path: 'tags', to: tags, read: () => [...(config?.humanTags ?? [])].sort() }]),
  ]
}

export function seedInConfig(vm: VmSpec, observed: ObservedResource) {
  const uid = observed.mark?.uid
  const config = configOf(observed)
  return {
    wanted: vm.seed === undefined ? undefined : shortHash(vm.seed.hash),
    inserted: insertedSeed(uid, config?.domain),
    live: insertedSeed(uid, config?.live),
  }
}
