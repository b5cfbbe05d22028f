import type { Change } from '../../model/change.ts'
import { type FileSpec, volumeId } from '../../model/file.ts'
import type { Readiness } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import type { Survey } from '../../model/survey.ts'
import { hostQueue, makeStep, storagePath, storageQueues } from './steps.ts'

/**
 * A file that is there under its name is the declared one. Proxmox keeps no checksum that could be read; it checks one
 * while it downloads, and again when a download is asked for a file that is already there (see `verifyFileSteps`).
 */
export function diffFile(file: FileSpec, sighting: Sighting): readonly Change[] {
  // An empty file is what an interrupted copy by hand leaves behind.
  if (sighting.close?.config.size !== 0) return []
  return [{ path: 'content', from: 'empty', to: file.url, effect: file.overwrite ? 'live' : 'replace' }]
}

export function createFileSteps(file: FileSpec, survey?: Survey): readonly Step[] {
  return [downloadStep(file, `download ${file.fileName} to ${file.storage} on ${file.host}`, survey)]
}

/** Takes the wrong file away, then fetches the right one; only where the declaration allows it. */
export function updateFileSteps(file: FileSpec, sighting: Sighting): readonly Step[] {
  return file.overwrite ? [...deleteFileSteps(sighting), ...createFileSteps(file)] : []
}

/**
 * Asks Proxmox to fetch a file that is already there: with the right checksum it answers OK and loads nothing, with
 * a wrong one it fails and leaves the file as it is. Without a declared checksum there is nothing to verify.
 */
export function verifyFileSteps(file: FileSpec): readonly Step[] {
  if (file.checksum === undefined) return []
  return [downloadStep(file, `verify ${file.fileName} on ${file.storage} of ${file.host}`)]
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
