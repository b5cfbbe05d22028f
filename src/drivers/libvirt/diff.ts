import type { Change } from '../../model/change.ts'
import type { Resource } from '../../model/resource.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { VmSpec } from '../../model/vm.ts'
import { configOf, type DomainConfig } from './close-look.ts'
import { type Declared, declaredValues, diskIn, outsideValues, strays } from './declared.ts'
import { isUp, powerOf } from './power.ts'
import { compareSeed } from './seed.ts'

const GIB = 1024 ** 3

/** Differences between a domain and its declaration. Only what is declared is compared. */
export function diffVm(resource: Resource, vm: VmSpec, sighting: Sighting): readonly Change[] {
  const config = configOf(sighting)
  if (config === undefined) return []
  const up = isUp(powerOf(sighting))
  const changes: Change[] = []
  for (const { path, to, read } of outsideValues(resource, vm, sighting)) {
    const from = read(config.domain)
    if (!same(from, to)) changes.push({ path, from, to, effect: 'live' })
  }
  // A domain that was taken over keeps the name that somebody gave it.
  if (resource.policy.adopt === undefined) compareName(vm, config, changes)
  const values = declaredValues(vm, sighting.mark?.uid ?? resource.uid)
  for (const { path, to, effect, read } of values) {
    const from = read(config.domain)
    if (same(from, to)) continue
    // Without a running guest there is nothing to restart.
    changes.push({ path, from, to: shown(to), effect: effect === 'restart' && !up ? 'live' : effect })
  }
  for (const { path, from } of strays(vm, config.domain))
    changes.push({ path, from, to: 'removed', effect: up ? 'restart' : 'live' })
  for (const disk of vm.disks) compareVolume(disk, config, up, changes)
  if (vm.onBoot !== undefined && vm.onBoot !== config.onBoot)
    changes.push({ path: 'onBoot', from: config.onBoot, to: vm.onBoot, effect: 'live' })
  compareSeed(vm, sighting, changes)
  if (up && vm.restart !== 'never') comparePending(vm, values, config, changes)
  comparePower(vm, sighting, changes)
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
      allow: `switch it off and run on its host: virsh domrename ${config.name} ${vm.name}`,
    },
  })
}

function compareVolume(disk: VmSpec['disks'][number], config: DomainConfig, up: boolean, changes: Change[]): void {
  const there = diskIn(config.domain, disk.slot)
  if (there?.pool === undefined || there.volume === undefined) return
  const bytes = config.volumes[`${there.pool}:${there.volume}`]
  const path = `disks.${disk.slot}`
  if (bytes === undefined) {
    const missing: Change = { path: `${path}.volume`, from: 'missing', to: there.volume, effect: 'live' }
    const message = `the volume ${there.volume} of the running machine is not in pool ${there.pool}`
    const allow = `look what became of it before the machine is switched off: virsh pool-refresh ${there.pool}`
    changes.push(up ? { ...missing, blocked: { message, allow } } : missing)
    return
  }
  if (disk.sizeGb === undefined) return
  const from = bytes / GIB
  if (from < disk.sizeGb) changes.push({ path: `${path}.sizeGb`, from, to: disk.sizeGb, effect: 'live' })
  // libvirt could cut it off, and what was there would be gone.
  else if (from > disk.sizeGb) changes.push({ path: `${path}.sizeGb`, from, to: disk.sizeGb, effect: 'replace' })
}

/** What is in the definition already and not yet in what runs. A disk's missing device is attached with the restart. */
function comparePending(vm: VmSpec, values: readonly Declared[], config: DomainConfig, changes: Change[]): void {
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

function comparePower(vm: VmSpec, sighting: Sighting, changes: Change[]): void {
  const from = powerOf(sighting)
  if (vm.power === undefined || from === 'unknown' || from === vm.power) return
  changes.push({ path: 'power', from, to: vm.power, effect: 'live' })
}

function same(from: unknown, to: unknown): boolean {
  return from === to || JSON.stringify(from) === JSON.stringify(to)
}

/** A whole device in few words. */
function shown(to: unknown): unknown {
  if (typeof to !== 'object' || to === null || Array.isArray(to)) return to
  return Object.entries(to)
    .filter(([name]) => name !== 'slot')
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(',')
}
