import type { Change } from '../../model/change.ts'
import { type FileSpec, volumeId } from '../../model/file.ts'
import type { Resource } from '../../model/resource.ts'
import type { Readiness } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import { volumeOf } from './names.ts'
import { discardStep, makeStep, poolPath, poolQueue } from './steps.ts'

/** The list that shows a pool's volumes, and the one that shows those of one machine. */
export function poolList(host: string, pool: string): string {
  return `volumes/${host}/${pool}`
}

export function remainsList(host: string, pool: string, uid: string): string {
  return `remains/${host}/${pool}/${uid}`
}

export function diffFile(
  resource: Resource,
  file: FileSpec,
  sighting: Sighting,
  known: Readonly<Record<string, string>> = {},
): readonly Change[] {
  const sum = checksumOf(file)
  const size = sighting.close?.config.size
  if (size === 0) return [{ path: 'content', from: 'empty', to: file.url, effect: 'live' }]
  if (sum === undefined || known.verified === sum || resource.policy.manage === 'observe') return []
  if (known.mismatch !== mismatchOf(sum, size))
    return [{ path: 'checksum', from: 'not verified', to: sum, effect: 'live' }]
  const change = { path: 'content', from: 'a file with another checksum', to: sum, effect: 'live' as const }
  if (file.overwrite || resource.policy.replace === 'allowed') return [change]
  const message = `checksum mismatch: ${volumeId(file)} on ${file.host} is there and is not ${sum}`
  return [
    { ...change, blocked: { message, allow: 'correct the checksum, remove the volume, or allow it (replace: true)' } },
  ]
}

/** The checksum is looked at before the volume comes into being, so one that is there under its name was right once. */
export function createFileSteps(file: FileSpec): readonly Step[] {
  const sum = checksumOf(file)
  const step = makeStep({
    verb: 'download',
    summary: `download ${file.fileName} to ${file.storage} on ${file.host}`,
    host: file.host,
    method: 'POST',
    path: `${poolPath(file.storage, file.fileName)}/download`,
    params: {
      url: file.url,
      ...(file.checksum === undefined
        ? {}
        : { checksum: file.checksum.value, 'checksum-algorithm': file.checksum.algorithm }),
      ...(file.decompression === undefined ? {} : { compression: file.decompression }),
    },
    queues: [poolQueue(file.host, file.storage)],
  })
  return [sum === undefined ? step : { ...step, learns: { done: { verified: sum } } }]
}

export function updateFileSteps(file: FileSpec, sighting: Sighting, changes: readonly Change[]): readonly Step[] {
  const chosen = changes.filter(({ effect }) => effect !== 'replace').map(({ path }) => path)
  if (chosen.includes('content')) return [...deleteFileSteps(sighting), ...createFileSteps(file)]
  return chosen.includes('checksum') ? verifyFileSteps(file, sighting) : []
}

export function verifyFileSteps(file: FileSpec, sighting: Sighting): readonly Step[] {
  const sum = checksumOf(file)
  if (sum === undefined || file.checksum === undefined) return []
  const step = makeStep({
    verb: 'verify',
    summary: `verify ${file.fileName} in ${file.storage} on ${file.host}`,
    host: file.host,
    method: 'POST',
    path: `${poolPath(file.storage, file.fileName)}/verify`,
    params: { checksum: file.checksum.value, 'checksum-algorithm': file.checksum.algorithm },
  })
  const mismatch = mismatchOf(sum, sighting.close?.config.size)
  return [
    {
      ...step,
      learns: { done: { verified: sum }, failed: { reason: 'ChecksumMismatch', facts: { mismatch } } },
    },
  ]
}

export function deleteFileSteps(sighting: Sighting): readonly Step[] {
  const place = volumeOf(sighting.externalId)
  return place === undefined ? [] : [discardStep(sighting.host, place.pool, place.volume, 'delete')]
}

export function fileReadiness(file: FileSpec, sighting: Sighting): Readiness {
  const what = `${volumeId(file)} on ${file.host}`
  return sighting.close?.config.size === 0
    ? { ready: false, reason: 'Empty', message: `${what} is empty`, status: 'Empty' }
    : { ready: true, reason: 'Present', message: `${what} is there`, status: 'Present' }
}

/** What is checked is the file as it came; of one that was unpacked on arrival no checksum can be looked at later. */
function checksumOf({ checksum, decompression }: FileSpec): string | undefined {
  return checksum === undefined || decompression !== undefined ? undefined : `${checksum.algorithm}:${checksum.value}`
}

/** With the size, so that another file in its place is looked at anew. */
function mismatchOf(sum: string, size: unknown): string {
  return `${sum} ${typeof size === 'number' ? size : '?'}`
}
