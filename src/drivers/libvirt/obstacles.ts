import type { FileSpec } from '../../model/file.ts'
import type { Obstacle } from '../../model/rules.ts'
import type { StorageSighting, Survey } from '../../model/survey.ts'
import type { VmSpec } from '../../model/vm.ts'
import { targetOf, volumeOf } from './names.ts'

/** Fields of a machine that other hypervisors know and this driver has no way to say. */
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

/** What stands in the way of making this machine here, seen before anything is written. Awaited: pools that are declared. */
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
      obstacles.push({ message: `${slot} is no USB device that libvirt finds`, allow: 'write it as vendor:product' })
  return obstacles
}

export function fileObstacles(file: FileSpec, survey: Survey, awaited: boolean): readonly Obstacle[] {
  if (file.url.startsWith('build:')) {
    const name = file.url.slice('build:'.length)
    return [
      {
        message: `${file.fileName} is built and not downloaded, and it is not in ${file.storage} of ${file.host} yet`,
        allow: `run croft image build ${name}`,
      },
    ]
  }
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
  // It is declared, and waited for.
  if (awaited && here?.available !== true) return []
  if (here?.available === true && here.content.includes(content)) return []
  const fit = survey.storages.filter((seen) => seen.available && seen.content.includes(content))
  const names = fit.map((seen) => seen.name).sort()
  const allow = names.length === 0 ? 'there is no other that would do' : `there is ${names.slice(0, 8).join(', ')}`
  return [{ message: `${purpose} needs ${reasonOf(pool, content, here)}`, allow }]
}

function reasonOf(pool: string, content: string, here: StorageSighting | undefined): string {
  if (here === undefined) return `pool ${pool}, which is not there`
  if (!here.available) return `pool ${pool}, which is not active: virsh pool-start ${pool}`
  return content === 'backing'
    ? `pool ${pool} to keep files; on whole devices a disk cannot stand on an image, only be a copy of it`
    : `pool ${pool} to keep files, and it keeps whole devices`
}
