import { seedImage } from '../../cloudinit/image.ts'
import { secretsIn } from '../../model/desired-secrets.ts'
import type { FileSpec } from '../../model/file.ts'
import type { Change, ObservedResource, ObservedStorage, Resource, Survey } from '../../model/resource.ts'
import type { Obstacle } from '../../model/rules.ts'
import type { VmSpec } from '../../model/vm.ts'
import { buildObstacle } from '../files.ts'
import { isUp, powerOf } from '../guests.ts'
import {
  type DeclaredValue,
  declaredValues,
  diskIn,
  outsideValues,
  seedInConfig,
  seedToWrite,
  strays,
} from './declared.ts'
import { isSaidByGit } from './marks.ts'
import { configOf, type DomainConfig, poolCommand, ranFact, seedHashIn, targetOf, VIRSH, volumeOf } from './names.ts'
import { volumeAgain } from './regain.ts'

const GIB = 1024 ** 3

/** Returns the differences between a domain and its declaration. `known`: details of its record. */
export function diffVm(
  resource: Resource,
  vm: VmSpec,
  observed: ObservedResource,
  known: Readonly<Record<string, string>> = {},
): readonly Change[] {
  const config = configOf(observed)
  if (config === undefined) return []
  const up = isUp(powerOf(observed))
  const changes: Change[] = []
  for (const { path, to, read } of outsideValues(resource, vm, observed)) {
    const from = read(config.domain)
    if (same(from, to)) continue
    const own = path === 'mark' && isSaidByGit(from, to)
    changes.push({ path, from, to, effect: 'live', ...(own ? { own } : {}) })
  }
  // An adopted domain keeps its own name.
  if (resource.policy.adopt === undefined) compareName(vm, config, changes)
  const values = declaredValues(vm, observed.mark?.uid ?? resource.uid)
  for (const { path, to, effect, read } of values) {
    const from = read(config.domain)
    if (same(from, to)) continue
    // A stopped guest needs no restart.
    changes.push({ path, from, to: shown(to), effect: effect === 'restart' && !up ? 'live' : effect })
  }
  for (const { path, from } of strays(vm, config.domain))
    changes.push({ path, from, to: 'removed', effect: up ? 'restart' : 'live' })
  for (const disk of vm.disks) compareVolume(disk, config, up, known, changes)
  if (vm.onBoot !== undefined && vm.onBoot !== config.onBoot)
    changes.push({ path: 'onBoot', from: config.onBoot, to: vm.onBoot, effect: 'live' })
  compareSeed(vm, observed, changes)
  if (up && vm.restart !== 'never') comparePending(vm, values, config, changes)
  comparePower(vm, observed, changes)
  return changes
}

function compareName(vm: VmSpec, config: DomainConfig, changes: Change[]): void {
  if (vm.name === config.name) return
  changes.push({
    path: 'name',
    from: config.name,
    to: vm.name,
    effect: 'live',
    blocked: {
      message: `the domain is called ${config.name}, and its declaration ${vm.name}`,
      allow: `switch it off and run on its host: ${VIRSH} domrename ${config.name} ${vm.name}`,
    },
  })
}

/** Creates a missing volume only for a disk that never ran: an unmounted pool looks like an empty one. */
function compareVolume(
  disk: VmSpec['disks'][number],
  config: DomainConfig,
  up: boolean,
  known: Readonly<Record<string, string>>,
  changes: Change[],
): void {
  const there = diskIn(config.domain, disk.slot)
  if (there?.pool === undefined || there.volume === undefined) return
  const bytes = config.volumes[`${there.pool}:${there.volume}`]
  const path = `disks.${disk.slot}`
  const why = config.unread[there.pool]
  if (why !== undefined) {
    const message = `the disks in pool ${there.pool} cannot be looked at: ${why}`
    const allow = poolCommand(there.pool)
    changes.push({
      path: `${path}.volume`,
      from: 'not read',
      to: there.volume,
      effect: 'live',
      blocked: { message, allow },
    })
    return
  }
  if (bytes === undefined) {
    const missing: Change = { path: `${path}.volume`, from: 'missing', to: there.volume, effect: 'live' }
    const ran = known[ranFact(there.dev)] !== undefined
    const whose = up ? 'of the running machine' : 'with which the machine ran'
    const message = `the volume ${there.volume} ${whose} is not in pool ${there.pool}`
    const again = volumeAgain(disk, there.pool, there.volume)
    const givenUp = again === undefined ? '' : `; or, to begin without what was on it: ${again}`
    const allow = up
      ? `check the volume before you power the machine off: ${VIRSH} pool-refresh ${there.pool}`
      : `mount what the pool is on, or put the volume back from a backup, and run on the host: ${VIRSH} pool-refresh ${there.pool}${givenUp}`
    // A replacement deletes the volumes first: a crash after that must not keep the machine.
    const leaves = changes.some(({ effect }) => effect === 'replace')
    changes.push(up || (ran && !leaves) ? { ...missing, blocked: { message, allow } } : missing)
    return
  }
  if (disk.sizeGb === undefined) return
  const from = bytes / GIB
  if (from < disk.sizeGb) changes.push({ path: `${path}.sizeGb`, from, to: disk.sizeGb, effect: 'live' })
  // libvirt could truncate it, and its data would be lost.
  else if (from > disk.sizeGb) changes.push({ path: `${path}.sizeGb`, from, to: disk.sizeGb, effect: 'replace' })
}

/** Compares the definition with the running domain. A disk's missing device is attached at the restart. */
function comparePending(vm: VmSpec, values: readonly DeclaredValue[], config: DomainConfig, changes: Change[]): void {
  const { live } = config
  if (live === undefined || changes.some(({ path }) => path === 'restart')) return
  const waiting = values.filter(
    ({ effect, to, read }) => effect === 'restart' && same(read(config.domain), to) && !same(read(live), to),
  )
  const gone = new Set(strays(vm, config.domain).map(({ path }) => path))
  const leaving = strays(vm, live).filter(({ path }) => !gone.has(path))
  if (waiting.length + leaving.length === 0) return
  const names = [...waiting, ...leaving].map(({ path }) => path).sort()
  changes.push({ path: 'restart', from: `pending: ${names.join(', ')}`, to: 'in force', effect: 'restart' })
}

function comparePower(vm: VmSpec, observed: ObservedResource, changes: Change[]): void {
  const from = powerOf(observed)
  if (vm.power === undefined || from === 'unknown' || from === vm.power) return
  changes.push({ path: 'power', from, to: vm.power, effect: 'live' })
}

function same(from: unknown, to: unknown): boolean {
  return from === to || JSON.stringify(from) === JSON.stringify(to)
}

/** Describes a whole device briefly. */
function shown(to: unknown): unknown {
  if (typeof to !== 'object' || to === null || Array.isArray(to)) return to
  return Object.entries(to)
    .filter(([name]) => name !== 'slot')
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(',')
}

/*
 * A machine is defined with its seed in a drive. While the drive has it, the machine may not have read it; afterwards
 * the disc is removed from the definition and its volume deleted, since it may contain secrets. Three facts decide: it
 * is in the definition, it is in the running domain, its volume exists and is whole.
 */

/** The next step for the seed. Undefined: none, or only a wait. */
type DomainSeedMove = 'insert' | 'upload' | 'restart' | 'eject' | 'discard'

export function seedMove(vm: VmSpec, observed: ObservedResource): DomainSeedMove | undefined {
  const config = configOf(observed)
  const uid = observed.mark?.uid
  if (config === undefined || uid === undefined) return undefined
  const { wanted, inserted, live } = seedInConfig(vm, observed)
  const up = isUp(powerOf(observed))
  if (inserted === undefined) {
    const left = config.ours.some((volume) => seedHashIn(uid, volume.slice(volume.indexOf(':') + 1)) !== undefined)
    // A guest may hold its disc until it restarts; nothing is deleted under it.
    if (live === undefined && left) return 'discard'
    const read = observed.mark?.seed
    if (wanted === undefined || read === undefined || read === wanted || vm.power !== 'running') return undefined
    return vm.seed?.onChange === 'rerun' ? 'insert' : undefined
  }
  if (live !== undefined && up) return hasRead(vm, observed) ? 'eject' : undefined
  if (wanted === undefined) return 'eject'
  if (inserted.hash !== wanted) return 'insert'
  if (!isWhole(vm, observed)) return 'upload'
  return up ? 'restart' : undefined
}

/** A broken upload leaves a volume that is too short. With secrets inside, the full size is unknown beforehand. */
function isWhole(vm: VmSpec, observed: ObservedResource): boolean {
  const disk = seedToWrite(vm, observed.mark?.uid ?? '')
  if (disk === undefined || vm.seed === undefined) return false
  const bytes = configOf(observed)?.volumes[`${disk.pool}:${disk.volume}`] ?? 0
  return secretsIn(vm.seed.document).length > 0 ? bytes > MINIMAL : bytes >= seedImage(vm.seed.document).length
}

/** An ISO image is larger than its own volume descriptors. */
const MINIMAL = 16 * 2048

/**
 * cloud-init reads its source before the network starts: a guest whose agent reports an address has read it, and one
 * with a long uptime has too, or never will.
 */
function hasRead(vm: VmSpec, observed: ObservedResource): boolean {
  if (vm.seed === undefined) return true
  if ((observed.uptimeSeconds ?? 0) >= vm.seed.removeAfterSeconds) return true
  if (vm.agent?.enabled !== true || observed.close?.agent !== 'up') return false
  return vm.nics.length === 0 || (observed.close.addresses ?? []).length > 0
}

function compareSeed(vm: VmSpec, observed: ObservedResource, changes: Change[]): void {
  const { wanted, inserted } = seedInConfig(vm, observed)
  const read = observed.mark?.seed
  if (inserted === undefined && wanted !== undefined && read !== undefined && read !== wanted) {
    if (vm.seed?.onChange === 'replace') {
      changes.push({ path: 'seed', from: read, to: wanted, effect: 'replace' })
      return
    }
  }
  const up = isUp(powerOf(observed))
  switch (seedMove(vm, observed)) {
    case 'insert':
      changes.push({ path: 'seed', from: read, to: wanted, effect: up ? 'restart' : 'live' })
      break
    case 'upload':
      changes.push({ path: 'seed.image', from: 'missing', to: wanted, effect: 'live' })
      break
    case 'restart':
      changes.push({ path: 'restart', from: 'seed not read yet', to: 'in force', effect: 'restart' })
      break
    case 'eject':
    case 'discard':
      changes.push({ path: 'seed.image', from: 'there', to: 'removed', effect: 'live' })
      break
    case undefined:
      break
  }
}

/** Notes a changed document that causes no action. */
export function seedNotes(vm: VmSpec, observed: ObservedResource): readonly string[] {
  const { wanted, inserted, live } = seedInConfig(vm, observed)
  const read = observed.mark?.seed
  const notes: string[] = []
  if (inserted === undefined && live !== undefined)
    notes.push('the guest still uses its seed image; croft deletes the volume once the guest releases it')
  if (inserted !== undefined || wanted === undefined || read === undefined || read === wanted) return notes
  const what = `its cloud-init data changed after its first boot (${read} to ${wanted})`
  if (vm.seed?.onChange === 'ignore')
    notes.push(`${what}: the machine keeps the old data (onChange: ignore); a new machine gets the new`)
  if (vm.seed?.onChange === 'rerun' && vm.power !== 'running')
    notes.push(`${what}: it reads the new data when it is next switched on`)
  return notes
}

/** Fields of a machine that other hypervisors support and this driver does not. */
const UNKNOWN = [
  'clone',
  'template',
  'pool',
  'efiDisk',
  'tpm',
  'cdrom',
  'cloudInit',
  'audio',
  'watchdog',
  'numaNodes',
  'virtiofs',
  'amdSev',
  'hookScript',
] as const

/** Returns what prevents the creation of this machine here, before any write. Awaited: pools that are declared. */
export function vmObstacles(vm: VmSpec, survey: Survey, awaited: boolean): readonly Obstacle[] {
  const obstacles: Obstacle[] = []
  for (const field of UNKNOWN)
    if (vm[field] !== undefined)
      obstacles.push({ message: `libvirt machines cannot have ${field}`, allow: `leave ${field} out` })
  for (const disk of vm.disks) {
    if (targetOf(disk.slot) === undefined)
      obstacles.push({ message: `there is no place ${disk.slot} for a disk`, allow: 'use virtio0 to virtio25' })
    const backing = disk.importFrom !== undefined && disk.backing === true
    obstacles.push(...poolObstacles(disk.storage, backing ? 'backing' : 'images', `disk ${disk.slot}`, survey, awaited))
    const source = disk.importFrom === undefined ? undefined : volumeOf(disk.importFrom)
    if (source !== undefined)
      obstacles.push(...poolObstacles(source.pool, 'import', `the image ${disk.importFrom}`, survey, awaited))
  }
  if (vm.seed?.storage !== undefined)
    obstacles.push(...poolObstacles(vm.seed.storage, 'iso', 'the seed', survey, awaited))
  for (const { slot, device } of vm.usb ?? [])
    if (device === undefined || !/^[0-9a-f]{4}:[0-9a-f]{4}$/i.test(device))
      obstacles.push({ message: `${slot} is not a USB device that libvirt finds`, allow: 'write it as vendor:product' })
  return obstacles
}

export function fileObstacles(file: FileSpec, survey: Survey, awaited: boolean): readonly Obstacle[] {
  const unbuilt = buildObstacle(file)
  if (unbuilt !== undefined) return [unbuilt]
  if (file.content === 'vztmpl')
    return [{ message: 'libvirt has no containers', allow: 'use an Image with content import or iso' }]
  return poolObstacles(file.storage, file.content, file.fileName, survey, awaited)
}

function poolObstacles(
  pool: string,
  content: string,
  purpose: string,
  survey: Survey,
  awaited: boolean,
): readonly Obstacle[] {
  const here = survey.storages.find((seen) => seen.name === pool)
  // It is declared, so it is awaited.
  if (awaited && here?.available !== true) return []
  if (here?.available === true && here.content.includes(content)) return []
  const fit = survey.storages.filter((seen) => seen.available && seen.content.includes(content))
  const names = fit.map((seen) => seen.name).sort()
  const allow = names.length === 0 ? 'there is no other that would do' : `there is ${names.slice(0, 8).join(', ')}`
  return [{ message: `${purpose} needs ${reasonOf(pool, content, here)}`, allow }]
}

function reasonOf(pool: string, content: string, here: ObservedStorage | undefined): string {
  if (here === undefined) return `pool ${pool}, which is not there`
  if (!here.available) return `pool ${pool}, which is not active: ${VIRSH} pool-start ${pool}`
  return content === 'backing'
    ? `pool ${pool} to keep files; on whole devices a disk cannot stand on an image, only be a copy of it`
    : `pool ${pool} to keep files, and it keeps whole devices`
}
