import { type FileSpec, volumeId } from '../model/file.ts'
import type { Change, ObservedResource, Resource } from '../model/resource.ts'
import type { Obstacle, Readiness } from '../model/rules.ts'
import type { Step } from '../model/step.ts'

/** The checksum is of the stored file, so a file that is unpacked on arrival has none. */
export function checksumOf({ checksum, decompression }: FileSpec): string | undefined {
  return checksum === undefined || decompression !== undefined ? undefined : `${checksum.algorithm}:${checksum.value}`
}

/** Includes the size, so that a replaced file is examined again. */
function mismatchOf(sum: string, size: unknown): string {
  return `${sum} ${typeof size === 'number' ? size : '?'}`
}

/**
 * Returns the differences. A file under the declared name matches, unless it is empty, as after an interrupted manual
 * copy, or a verification found another checksum. `rules`: the driver's judgement about an empty file, and about one
 * that must not be replaced.
 */
export function diffFile(
  { policy }: Resource,
  file: FileSpec,
  observed: ObservedResource,
  rules: { readonly empty: Change['effect']; readonly allow: string },
  known: Readonly<Record<string, string>> = {},
): readonly Change[] {
  const size = observed.close?.config.size
  if (size === 0) return [{ path: 'content', from: 'empty', to: file.url, effect: rules.empty }]
  const sum = checksumOf(file)
  if (sum === undefined || known.verified === sum || policy.manage === 'observe') return []
  if (known.mismatch !== mismatchOf(sum, size))
    return [{ path: 'checksum', from: 'not verified', to: sum, effect: 'live' }]
  const change = { path: 'content', from: 'a file with another checksum', to: sum, effect: 'live' as const }
  if (file.overwrite || policy.replace === 'allowed') return [change]
  const message = `checksum mismatch: ${volumeId(file)} on ${file.host} is there and is not ${sum}`
  return [{ ...change, blocked: { message, allow: rules.allow } }]
}

/** Returns the facts from a verification: the file is right, or which wrong file was found. */
export function learnsOf(sum: string, observed: ObservedResource): NonNullable<Step['learns']> {
  const mismatch = mismatchOf(sum, observed.close?.config.size)
  return { done: { verified: sum }, failed: { reason: 'ChecksumMismatch', facts: { mismatch } } }
}

/** Returns the download's parameters for the expected file. */
export function downloadParams({ checksum, decompression }: FileSpec): Readonly<Record<string, string>> {
  return {
    ...(checksum === undefined ? {} : { checksum: checksum.value, 'checksum-algorithm': checksum.algorithm }),
    ...(decompression === undefined ? {} : { compression: decompression }),
  }
}

/** Returns the obstacle for an image that croft builds: only `croft image build` creates it, never a plan. */
export function buildObstacle({ url, fileName, storage, host }: FileSpec): Obstacle | undefined {
  if (!isBuilt({ url })) return undefined
  return {
    message: `${fileName} is built and not downloaded, and it is not in ${storage} of ${host} yet`,
    allow: `run croft image build ${url.slice(BUILT.length)}`,
  }
}

const BUILT = 'build:'

export function isBuilt({ url }: Pick<FileSpec, 'url'>): boolean {
  return url.startsWith(BUILT)
}

export function fileReadiness(file: FileSpec, observed: ObservedResource): Readiness {
  const what = `${volumeId(file)} on ${file.host}`
  return observed.close?.config.size === 0
    ? { ready: false, reason: 'Empty', message: `${what} is empty`, status: 'Empty' }
    : { ready: true, reason: 'Present', message: `${what} is there`, status: 'Present' }
}
