import { createHash } from 'node:crypto'
import type { ObjectsAt } from '../../kinds/kind.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { inTurns, type Steps } from '../../lib/in-turns.ts'
import { LIMITS } from '../../lib/limits.ts'
import { blobHash } from '../files/parse-cache.ts'
import type { FileReading } from '../files/read-files.ts'
import type { Revision, SourceFile } from '../git/revision.ts'
import { isKustomization } from '../kustomize/build.ts'
import { type SourceReader, TooCostly } from '../reader.ts'
import { type Cage, createCage, JobEnded } from './cage.ts'
import type { CageJob } from './job.ts'
import { lateInCage } from './late.ts'
import { unpack } from './pack.ts'
import { type Paused, pausedAfter } from './pause.ts'

export interface WorkerReaderOptions {
  readonly clock: Clock
  readonly deadlineMs?: number
  readonly heapMb?: number
}

/** All sources of a process are read in one other process, one after another. */
let shared: Cage | undefined

/**
 * Reads untrusted text in a separate process, which is ended when it takes too long or too much memory. This process
 * takes over the result piece by piece, so that it keeps answering other requests.
 */
export function createWorkerReader({ clock, deadlineMs = LIMITS.readMs, heapMb }: WorkerReaderOptions): SourceReader {
  shared ??= createCage(LIMITS.readHeapMb)
  const cage = heapMb === undefined ? shared : createCage(heapMb)
  const perform = (job: CageJob, files: readonly SourceFile[] = []) =>
    cage.perform(job, { clock, deadlineMs, placeOf: placeOf(job, files) }, files)
  const costly = new Map<string, Paused>()
  /** A directory is looked at again and again, and is nearly always the same. */
  let last: { readonly name: string; readonly revision: Revision } | undefined
  /** Retry an ended job with growing delay, because it is likely to be ended again. */
  const unlessKnown = async <T>(name: string, work: (name: string) => Promise<T>): Promise<T> => {
    const known = costly.get(name)
    if (known !== undefined && clock.monotonicMs() < known.untilMs) throw new TooCostly(known.why)
    try {
      const done = await work(name)
      costly.delete(name)
      return done
    } catch (error) {
      if (error instanceof JobEnded) {
        if (costly.size >= LIMITS.costlyTrees) costly.clear()
        costly.set(name, pausedAfter(known, error.message, clock.monotonicMs()))
      }
      throw error
    }
  }
  const expandLate = lateInCage({ clock, ...defined({ heapMb }) })
  return {
    tree: async (reading, places = []) =>
      unlessKnown(await inTurns(nameOf(reading, places), clock), async (name) => {
        if (last?.name === name) return last.revision
        const { cache: _cache, begin: _begin, files, ...plain } = reading
        const { head, pieces } = await perform({ job: 'tree', reading: plain, places }, files)
        last = { name, revision: unpack(head, pieces, expandLate) }
        return last.revision
      }),
    generatorFiles: async (files) => {
      // Most trees have no generator: skip starting a process for them.
      const suspects = files.filter(
        (file) => isKustomization(file.path) && 'bytes' in file && Buffer.from(file.bytes).includes('Generator'),
      )
      if (suspects.length === 0) return []
      const others = files.filter((file) => !suspects.includes(file)).map(({ path }) => ({ path, bytes: NOTHING }))
      const name = await inTurns(nameOf({ files: suspects, links: [] }, ['generators']), clock)
      return unlessKnown(name, async () => {
        const { names } = await perform({ job: 'generator-files' }, [...suspects, ...others])
        return names
      })
    },
    kustomized: async (unbuilt, fetched) => {
      const { head, pieces } = await perform({ job: 'kustomized', unbuilt, fetched })
      return unpack(head, pieces).objectsAt?.('') ?? { objects: [] }
    },
    objects: async (blobs) => {
      const name = blobs.map(({ bytes }) => blobHash(bytes)).join(' ')
      return unlessKnown(name, async (): Promise<ObjectsAt> => {
        const { head, pieces } = await perform({ job: 'objects', blobs })
        return unpack(head, pieces).objectsAt?.('') ?? { objects: [] }
      })
    },
  }
}

const NOTHING = new Uint8Array()

/** Returns the place at which the job was ended. */
function placeOf(job: CageJob, files: readonly SourceFile[]): (index: number) => string {
  if (job.job === 'objects') return () => 'reading what was fetched'
  if (job.job === 'kustomized') return () => `reading ${job.unbuilt.directory}`
  if (job.job === 'generator-files') return () => 'reading its kustomizations'
  return (index) => `reading ${index === 0 ? 'it' : (files[index - 2]?.path ?? 'its kustomizations')}`
}

/** Names a reading by its content: the same bytes at the same paths give the same name. */
function* nameOf(
  { files, above = [], siblings = new Map(), ignore = '', commit = '' }: FileReading,
  places: readonly string[],
): Steps<string> {
  const hash = createHash('sha256').update(`${commit}\0${places.join('\0')}\0${ignore}\n`)
  for (const file of [...files, ...above]) {
    const blob = 'bytes' in file ? (file.blob ?? blobHash(file.bytes)) : file.refused.code
    hash.update(`${file.path}\0${blob}\n`)
    yield
  }
  for (const [path, bytes] of siblings) {
    hash.update(`${path}\0${blobHash(bytes)}\n`)
    yield
  }
  return hash.digest('hex')
}
