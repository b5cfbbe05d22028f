import { type FileSpec, volumeId } from '../model/file.ts'
import type { Change, ObservedResource, Resource } from '../model/resource.ts'
import type { Obstacle, Readiness } from '../model/rules.ts'
import type { Step } from '../model/step.ts'

/** What is checked is the file as it is stored: of one that is unpacked on arrival no checksum is declared. */
export function checksumOf({ checksum, decompression }: FileSpec): string | undefined {
  return checksum === undefined || decompression !== undefined ? undefined : `${checksum.algorithm}:${checksum.value}`
}

/** Includes the size, so that a replaced file is examined again. */
function mismatchOf(sum: string, size: unknown): string {
  return `${sum} ${typeof size === 'number' ? size : '?'}`
}

/**
 * A file that is there under its name is the declared one, unless it is empty, which is what an interrupted copy by hand
 * leaves behind, or its checksum was looked at and is another. `rules`: what a driver says of an empty one, and of one
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

/** What a verification teaches: that the file is right, or which one is wrong. */
export function learnsOf(sum: string, observed: ObservedResource): NonNullable<Step['learns']> {
  const mismatch = mismatchOf(sum, observed.close?.config.size)
  return { done: { verified: sum }, failed: { reason: 'ChecksumMismatch', facts: { mismatch } } }
}

/** How a download is told what the file must be. */
export function downloadParams({ checksum, decompression }: FileSpec): Readonly<Record<string, string>> {
  return {
    ...(checksum === undefined ? {} : { checksum: checksum.value, 'checksum-algorithm': checksum.algorithm }),
    ...(decompression === undefined ? {} : { compression: decompression }),
  }
}

/** An image that croft builds is brought by `croft image build`: no plan can make it. */
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
