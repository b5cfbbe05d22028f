import type { ContainerSpec } from '../../model/container.ts'
import type { FileSpec } from '../../model/file.ts'
import type { Change, ObservedStorage, Resource, Survey } from '../../model/resource.ts'
import type { Obstacle } from '../../model/rules.ts'
import type { VmSpec } from '../../model/vm.ts'
import { buildObstacle } from '../files.ts'
import { bridgeObstacles } from './bridges.ts'
import { neverPossible as containerNeverPossible } from './lxc/diff.ts'
import { declaredVolumes } from './lxc/volumes.ts'
import { cloneObstacles } from './vm/clone.ts'
import { neverPossible } from './vm/diff.ts'
import { storageOf } from './vm/disks.ts'
import { holdsSeed } from './vm/seed.ts'

/** One storage that a declaration needs on one host, and its purpose. */
interface StorageNeed {
  readonly storage: string
  /** Any of these content types suffices. */
  readonly content: readonly string[]
  readonly purpose: string
}

/** Returns what prevents the creation of a VM, before any write. */
export function vmObstacles(resource: Resource, vm: VmSpec, survey: Survey): readonly Obstacle[] {
  const host = hostObstacle(vm.host, survey)
  if (host !== undefined) return [host]
  const impossible = neverPossible(resource, vm).flatMap((change) => change.blocked ?? [])
  const obstacles = [
    ...impossible,
    ...cloneObstacles(vm, survey),
    ...storageObstacles(vm.host, vmNeeds(vm), survey),
    ...bridgeObstacles(vm, survey),
  ]
  const seed = seedObstacle(vm, survey)
  return seed === undefined ? obstacles : [...obstacles, seed]
}

/** Returns obstacles of disks that are added or moved. */
export function movedDiskObstacles(
  desired: Resource['desired'],
  host: string,
  changes: readonly Change[],
  survey: Survey,
): readonly Obstacle[] {
  const changed = new Set(changes.map(({ path }) => path))
  const moved = disksOf(desired).filter(({ path }) => changed.has(path) || changed.has(`${path}.storage`))
  return storageObstacles(host, moved, survey)
}

function disksOf(desired: Resource['desired']): readonly (StorageNeed & { readonly path: string })[] {
  if (desired.type === 'vm')
    return desired.vm.disks.map(({ slot, storage }) => ({
      path: `disks.${slot}`,
      storage,
      content: ['images'],
      purpose: `disk ${slot}`,
    }))
  if (desired.type !== 'container') return []
  return declaredVolumes(desired.container).flatMap(({ path, key, storage }) =>
    storage === undefined ? [] : [{ path, storage, content: ['rootdir'], purpose: key }],
  )
}

/** A seed can be on any storage for ISO images; without a declared one any of the host's will do. */
function seedObstacle(vm: VmSpec, survey: Survey): Obstacle | undefined {
  if (vm.seed === undefined || vm.seed.storage !== undefined) return undefined
  const here = survey.storages.filter((seen) => seen.host === vm.host)
  if (here.some((seen) => seen.available && holdsSeed(vm, seen))) return undefined
  if (vm.seed.storages !== undefined)
    return {
      message: `the seed image needs a storage on host ${vm.host} that holds iso and is granted, and there is none`,
      allow: `grant one of ${listed(
        here
          .filter(({ content }) => content.includes('iso'))
          .map((seen) => seen.name)
          .sort(),
      )}, or add iso to the content of one of ${vm.seed.storages.join(', ') || '(none is granted)'}`,
    }
  return {
    message: `the seed image needs a storage on host ${vm.host} that holds iso, and there is none`,
    allow: `add iso to the content of one of ${listed(here.map((seen) => seen.name).sort())}, or declare a storage that has it`,
  }
}

export function containerObstacles(resource: Resource, container: ContainerSpec, survey: Survey): readonly Obstacle[] {
  const host = hostObstacle(container.host, survey)
  if (host !== undefined) return [host]
  const impossible = containerNeverPossible(resource, container).flatMap((change) => change.blocked ?? [])
  const needs: StorageNeed[] = declaredVolumes(container).flatMap(({ key, storage }) =>
    storage === undefined ? [] : [{ storage, content: ['rootdir'], purpose: key }],
  )
  const source = storageOf(container.image)
  if (source !== undefined)
    needs.push({ storage: source, content: ['vztmpl'], purpose: `the template ${container.image}` })
  const incomplete = [
    ...(container.image === undefined ? [{ what: 'a template to unpack', field: 'templateFileId' }] : []),
    ...(container.rootDisk === undefined ? [{ what: 'a root disk', field: 'disk' }] : []),
  ].map(({ what, field }) => ({ message: `a new container needs ${what}`, allow: `declare ${field}` }))
  return [
    ...incomplete,
    ...impossible,
    ...storageObstacles(container.host, needs, survey),
    ...bridgeObstacles(container, survey),
  ]
}

export function fileObstacles(file: FileSpec, survey: Survey): readonly Obstacle[] {
  const host = hostObstacle(file.host, survey)
  const need = { storage: file.storage, content: [file.content], purpose: file.fileName }
  if (host !== undefined) return [host]
  const unbuilt = buildObstacle(file)
  return [...storageObstacles(file.host, [need], survey), ...(unbuilt === undefined ? [] : [unbuilt])]
}

export function hostObstacle(name: string, survey: Survey): Obstacle | undefined {
  const host = survey.hosts.find((seen) => seen.name === name)
  if (host?.online) return undefined
  if (host !== undefined)
    return { message: `host ${name} is offline`, allow: `switch ${name} on, or choose another host` }
  const known = survey.hosts.map((seen) => seen.name).sort()
  return { message: `there is no host ${name}`, allow: `choose one of ${listed(known)}` }
}

function vmNeeds(vm: VmSpec): StorageNeed[] {
  const needs: StorageNeed[] = []
  for (const disk of vm.disks) {
    needs.push({ storage: disk.storage, content: ['images'], purpose: `disk ${disk.slot}` })
    const source = storageOf(disk.importFrom)
    if (source !== undefined)
      needs.push({ storage: source, content: ['import', 'images'], purpose: `the image ${disk.importFrom}` })
  }
  if (vm.efiDisk !== undefined)
    needs.push({ storage: vm.efiDisk.storage, content: ['images'], purpose: 'the EFI disk' })
  if (vm.seed?.storage !== undefined)
    needs.push({ storage: vm.seed.storage, content: ['iso'], purpose: 'the seed image' })
  const { cloudInit } = vm
  if (cloudInit === undefined) return needs
  needs.push({ storage: cloudInit.storage, content: ['images'], purpose: 'the cloud-init drive' })
  for (const file of [cloudInit.userData, cloudInit.networkData, cloudInit.metaData, cloudInit.vendorData]) {
    const storage = storageOf(file)
    if (storage !== undefined) needs.push({ storage, content: ['snippets'], purpose: `the snippet ${file}` })
  }
  return needs
}

function storageObstacles(host: string, needs: readonly StorageNeed[], survey: Survey): Obstacle[] {
  const obstacles: Obstacle[] = []
  const reported = new Set<string>()
  for (const need of needs) {
    const obstacle = storageObstacle(host, need, survey)
    if (obstacle === undefined || reported.has(obstacle.message)) continue
    reported.add(obstacle.message)
    obstacles.push(obstacle)
  }
  return obstacles
}

function storageObstacle(host: string, need: StorageNeed, survey: Survey): Obstacle | undefined {
  const here = survey.storages.find((seen) => seen.host === host && seen.name === need.storage)
  const serves = (seen: ObservedStorage) => seen.available && need.content.some((kind) => seen.content.includes(kind))
  if (here !== undefined && serves(here)) return undefined
  const elsewhere = survey.storages.filter((seen) => seen.name === need.storage && seen.host !== host && serves(seen))
  const hosts = [...new Set(elsewhere.map((seen) => seen.host))].sort()
  const others = survey.storages.filter((seen) => seen.host === host && serves(seen)).map((seen) => seen.name)
  const allow = [
    hosts.length > 0 ? `${need.storage} serves on ${listed(hosts)}` : `no host has such a storage ${need.storage}`,
    others.length > 0 ? `${host} has ${listed(others.sort())}` : undefined,
    survey.storages.length === 0 ? 'the token sees no storage at all: give it Datastore.Audit on /storage' : undefined,
  ]
  return {
    message: `${need.purpose} needs ${reasonOf(host, need, here)}`,
    allow: allow.filter((part) => part !== undefined).join('; '),
  }
}

function reasonOf(host: string, need: StorageNeed, here: ObservedStorage | undefined): string {
  if (here === undefined) return `storage ${need.storage}, which is not on host ${host}`
  if (!here.available) return `storage ${need.storage}, which is not available on host ${host} right now`
  return `storage ${need.storage} on host ${host} to hold ${need.content.join(' or ')}; it holds ${listed([...here.content].sort())}`
}

function listed(names: readonly string[]): string {
  const most = 8
  if (names.length === 0) return 'nothing'
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ')
}
