import { changed, type Destruction, destroying } from '../../model/destruction.ts'
import type { FileSpec } from '../../model/file.ts'
import type { Change, ObservedResource, Resource, Survey } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import * as files from '../files.ts'
import { hostQueue, makeStep, storagePath, storageQueues } from './steps.ts'

/**
 * Returns the differences. Proxmox stores no readable checksum; it verifies one during a download, and again when a
 * download is requested for an existing file (see `verifyFileSteps`).
 */
export function diffFile(
  resource: Resource,
  file: FileSpec,
  observed: ObservedResource,
  known?: Readonly<Record<string, string>>,
) {
  // Proxmox verified the checksum at the upload, and cannot repeat that.
  if (files.isBuilt(file))
    return files.diffFile(resource, unsummed(file), observed, { empty: 'replace', allow: buildAgain(file) }, known)
  const allow = 'correct the checksum, remove the file, or allow it to be replaced (replace: true, or overwrite: true)'
  return files.diffFile(resource, file, observed, { empty: file.overwrite ? 'live' : 'replace', allow }, known)
}

function buildAgain({ url }: FileSpec): string {
  return `run croft image build ${url.replace(/^build:/, '')} once more`
}

function unsummed({ checksum: _, ...file }: FileSpec): FileSpec {
  return file
}

export function createFileSteps(file: FileSpec, survey?: Survey): readonly Step[] {
  const step = downloadStep(file, `download ${file.fileName} to ${file.storage} on ${file.host}`, survey)
  const sum = files.checksumOf(file)
  return [sum === undefined ? step : { ...step, learns: { done: { verified: sum } } }]
}

/** Deletes the wrong file, then downloads the right one; only if declared. */
export function updateFileSteps(
  file: FileSpec,
  observed: ObservedResource,
  changes: readonly Change[],
): readonly Step[] {
  const chosen = changes.filter((change) => change.effect !== 'replace').map((change) => change.path)
  if (chosen.includes('content')) return [...deleteFileSteps(changed(observed, [], changes)), ...createFileSteps(file)]
  return chosen.includes('checksum') ? verifyFileSteps(file, observed) : []
}

/**
 * Verifies a file by requesting its download again: with the right checksum Proxmox answers OK and downloads nothing,
 * with a wrong one it fails and keeps the file. Without a declared checksum there is nothing to verify.
 */
export function verifyFileSteps(file: FileSpec, observed: ObservedResource): readonly Step[] {
  const sum = files.checksumOf(file)
  if (sum === undefined || files.isBuilt(file)) return []
  const step = downloadStep(file, `verify ${file.fileName} on ${file.storage} of ${file.host}`)
  return [{ ...step, verb: 'verify', learns: files.learnsOf(sum, observed) }]
}

export function deleteFileSteps(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const storage = observed.externalId.split(':', 1)[0] ?? ''
  return [
    makeStep({
      verb: 'delete',
      summary: `delete ${observed.externalId} on ${observed.host}`,
      host: observed.host,
      method: 'DELETE',
      path: `${storagePath(observed.host, storage)}/content/${encodeURIComponent(observed.externalId)}`,
      disruption: 'data-loss',
      ...destroying(destruction),
    }),
  ]
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
      ...files.downloadParams(file),
      ...(file.verifyTls === undefined ? {} : { 'verify-certificates': file.verifyTls ? '1' : '0' }),
    },
    queues: [hostQueue(file.host), ...storageQueues(file.host, [file.storage], survey)],
  })
}
