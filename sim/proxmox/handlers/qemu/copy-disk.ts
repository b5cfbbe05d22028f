import { GIB, MIB } from '../../../world/sizes.ts'
import { Interrupted } from '../../../world/tasks.ts'
import { filePath, findVolume, parseVolumeId, storageOn } from '../../../world/volumes.ts'
import type { Workshop } from './workshop.ts'

export interface DiskCopy {
  /** Volume ids. */
  readonly from: string
  readonly to: string
  readonly bytesPerSecond: number
  /** In KiB per second, where one was set; 0 is none. */
  readonly limit?: number | undefined
  readonly snapshot?: string | undefined
}

/** The program that copied was killed, or failed. */
export class CopyFailed extends Error {}

/** Copies with QEMU's own program. Stopping the task kills that program, and the task ends with its command line. */
export async function copyDisk(shop: Workshop, copy: DiskCopy): Promise<void> {
  const from = findVolume(shop.host, copy.from)
  try {
    await copyBytes(shop, from?.virtualBytes ?? from?.sizeBytes ?? 0, copy.bytesPerSecond)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    throw new CopyFailed(`copy failed: command '${convertCommand(shop, copy)}' failed: ${error.message}`, {
      cause: error,
    })
  }
}

function convertCommand(shop: Workshop, { from, to, limit, snapshot }: DiskCopy): string {
  const [source, target] = [placeOf(shop, from), placeOf(shop, to)]
  return [
    '/usr/bin/qemu-img convert -p -n',
    ...(snapshot === undefined || source.format !== 'qcow2' ? [] : [`-l 'snapshot.name=${snapshot}'`]),
    ...(target.type === 'zfspool' ? ['-t none'] : []),
    ...(source.type === 'zfspool' ? ['-T none'] : []),
    ...(limit === undefined ? [] : [`-r ${limit}K`]),
    `-f ${source.format} -O ${target.format} ${source.path} zeroinit:${target.path}`,
  ].join(' ')
}

function placeOf({ world, host }: Workshop, volid: string): { path: string; format: string; type: string } {
  const id = parseVolumeId(volid)
  const entry = id && storageOn(world, host, id.storage)
  const path = entry === undefined ? volid : filePath(entry, id?.name.split('/').slice(-2).join('/') ?? '')
  return { path, format: findVolume(host, volid)?.format ?? 'raw', type: entry?.type ?? '' }
}

/** The time that copying takes, with the progress lines of the real log. */
export async function copyBytes(shop: Workshop, bytes: number, bytesPerSecond: number): Promise<void> {
  const gib = (value: number) => (bytes < GIB ? `${(value / MIB).toFixed(1)} MiB` : `${(value / GIB).toFixed(1)} GiB`)
  const steps = bytes > GIB ? 4 : 1
  shop.work.log(`transferred 0.0 B of ${gib(bytes)} (0.00%)`)
  for (let step = 1; step <= steps; step++) {
    await shop.work.pass(Math.ceil((bytes / steps / bytesPerSecond) * 1000))
    shop.work.log(`transferred ${gib((bytes * step) / steps)} of ${gib(bytes)} (${((100 * step) / steps).toFixed(2)}%)`)
  }
}
