import type { Change } from '../../model/change.ts'
import { type FileSpec, volumeId } from '../../model/file.ts'
import type { Resource } from '../../model/resource.ts'
import type { Readiness } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import type { Survey } from '../../model/survey.ts'
import { hostQueue, makeStep, storagePath, storageQueues } from './steps.ts'

/**
 * A file that is there under its name is the declared one. Proxmox keeps no checksum that could be read; it checks one
 * while it downloads, and again when a download is asked for a file that is already there (see `verifyFileSteps`).
 */
export function diffFile(
  resource: Resource,
  file: FileSpec,
  sighting: Sighting,
  known: Readonly<Record<string, string>> = {},
): readonly Change[] {
  const { policy } = resource
  const size = sighting.close?.config.size
  // An empty file is what an interrupted copy by hand leaves behind.
  if (size === 0) return [{ path: 'content', from: 'empty', to: file.url, effect: file.overwrite ? 'live' : 'replace' }]
  const sum = checksumOf(file)
  if (sum === undefined || known.verified === sum || policy.manage === 'observe') return []
  if (known.mismatch !== mismatchOf(sum, size))
    return [{ path: 'checksum', from: 'not verified', to: sum, effect: 'live' }]
  const change = { path: 'content', from: 'a file with another checksum', to: sum, effect: 'live' as const }
  if (file.overwrite || policy.replace === 'allowed') return [change]
  const message = `checksum mismatch: ${volumeId(file)} on ${file.host} is there and is not ${sum}`
  const allow = 'correct the checksum, remove the file, or allow it to be replaced (replace: true, or overwrite: true)'
  return [{ ...change, blocked: { message, allow } }]
}

/** What is checked is the file as it is stored: of one that is unpacked on arrival no checksum is declared. */
function checksumOf({ checksum, decompression }: FileSpec): string | undefined {
  return checksum === undefined || decompression !== undefined ? undefined : `${checksum.algorithm}:${checksum.value}`
}

/** With the size, so that another file in its place is looked at anew. */
function mismatchOf(sum: string, size: unknown): string {
  return `${sum} ${typeof size === 'number' ? size : '?'}`
}

export function createFileSteps(file: FileSpec, survey?: Survey): readonly Step[] {
  const step = downloadStep(file, `download ${file.fileName} to ${file.storage} on ${file.host}`, survey)
  const sum = checksumOf(file)
  return [sum === undefined ? step : { ...step, learns: { done: { verified: sum } } }]
}

/** Takes the wrong file away, then fetches the right one; only where the declaration allows it. */
export function updateFileSteps(file: FileSpec, sighting: Sighting, changes: readonly Change[]): readonly Step[] {
  const chosen = changes.filter((change) => change.effect !== 'replace').map((change) => change.path)
  if (chosen.includes('content')) return [...deleteFileSteps(sighting), ...createFileSteps(file)]
  return chosen.includes('checksum') ? verifyFileSteps(file, sighting) : []
}

/**
 * Asks Proxmox to fetch a file that is already there: with the right checksum it answers OK and loads nothing, with
 * a wrong one it fails and leaves the file as it is. Without a declared checksum there is nothing to verify.
 */
export function verifyFileSteps(file: FileSpec, sighting: Sighting): readonly Step[] {
  const sum = checksumOf(file)
  if (sum === undefined) return []
  const step = downloadStep(file, `verify ${file.fileName} on ${file.storage} of ${file.host}`)
  const mismatch = mismatchOf(sum, sighting.close?.config.size)
  return [
    {
      ...step,
      verb: 'verify',
      learns: { done: { verified: sum }, failed: { reason: 'ChecksumMismatch', facts: { mismatch } } },
    },
  ]
}

export function deleteFileSteps(sighting: Sighting): readonly Step[] {
  const storage = sighting.externalId.split(':', 1)[0] ?? ''
  return [
    makeStep({
      verb: 'delete',
      summary: `delete ${sighting.externalId} on ${sighting.host}`,
      host: sighting.host,
      method: 'DELETE',
      path: `${storagePath(sighting.host, storage)}/content/${encodeURIComponent(sighting.externalId)}`,
      disruption: 'data-loss',
    }),
  ]
}

export function fileReadiness(file: FileSpec, sighting: Sighting): Readiness {
  const empty = sighting.close?.config.size === 0
  const what = `${volumeId(file)} on ${file.host}`
  return empty
    ? { ready: false, reason: 'Empty', message: `${what} is empty`, status: 'Empty' }
    : { ready: true, reason: 'Present', message: `${what} is there`, status: 'Present' }
}

function downloadStep(file: FileSpec, summary: string, survey?: Survey): Step {
  return makeStep({
    verb: 'download',
    summary,
    host: file.host,
    method: 'POST',
    path: `${storagePath(file.host, file.storage)}/download-url`,
    params: {
      url: file.url,
      content: file.content,
      filename: file.fileName,
      ...(file.checksum === undefined
        ? {}
        : { checksum: file.checksum.value, 'checksum-algorithm': file.checksum.algorithm }),
      ...(file.decompression === undefined ? {} : { compression: file.decompression }),
      ...(file.verifyTls === undefined ? {} : { 'verify-certificates': file.verifyTls ? '1' : '0' }),
    },
    queues: [hostQueue(file.host), ...storageQueues(file.host, [file.storage], survey)],
  })
}
