import { createHash } from 'node:crypto'
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ObjectsAt } from '../../kinds/kind.ts'
import type { Clock } from '../../lib/clock.ts'
import { inTurns, type Steps } from '../../lib/in-turns.ts'
import { LIMITS } from '../../lib/limits.ts'
import { blobHash } from '../files/parse-cache.ts'
import type { FileReading } from '../files/read-files.ts'
import type { Revision } from '../git/revision.ts'
import { isKustomization } from '../kustomize/build.ts'
import { type SourceReader, TooCostly } from '../reader.ts'
import type { WorkerData, WorkerJob, WorkerMessage } from './job.ts'
import { type PackedHead, type RevisionPiece, unpack } from './pack.ts'

export interface WorkerReaderOptions {
  readonly clock: Clock
  readonly deadlineMs?: number
  readonly heapMb?: number
}

/**
 * Reads text of others in a thread of its own, which is ended when it takes too long or too much memory. The main thread
 * only takes over what came of it, piece by piece, so that it answers meanwhile and afterwards.
 */
export function createWorkerReader(options: WorkerReaderOptions): SourceReader {
  const costly = new Map<string, string>()
  /** A directory is looked at again and again, and is nearly always the same. */
  let last: { readonly name: string; readonly revision: Revision } | undefined
  /** What was too costly once is too costly again: it is not tried at every look. */
  const unlessKnown = async <T>(name: string, work: (name: string) => Promise<T>): Promise<T> => {
    const known = costly.get(name)
    if (known !== undefined) throw new TooCostly(known)
    try {
      return await work(name)
    } catch (error) {
      if (error instanceof TooCostly) {
        if (costly.size >= LIMITS.costlyTrees) costly.clear()
        costly.set(name, error.message)
      }
      throw error
    }
  }
  return {
    tree: async (reading, places = []) =>
      unlessKnown(await inTurns(nameOf(reading, places), options.clock), async (name) => {
        if (last?.name === name) return last.revision
        const { cache: _cache, begin: _begin, ...plain } = reading
        const { head, pieces } = await perform({ job: 'tree', reading: plain, places }, options)
        last = { name, revision: unpack(head, pieces) }
        return last.revision
      }),
    generatorFiles: async (files) => {
      // Nearly no tree has a generator: then nobody has to be started to say so.
      const suspects = files.filter(
        (file) => isKustomization(file.path) && 'bytes' in file && Buffer.from(file.bytes).includes('Generator'),
      )
      if (suspects.length === 0) return []
      const others = files.filter((file) => !suspects.includes(file)).map(({ path }) => ({ path, bytes: NOTHING }))
      const name = await inTurns(nameOf({ files: suspects, links: [] }, ['generators']), options.clock)
      return unlessKnown(name, async () => {
        const { names } = await perform({ job: 'generator-files', files: [...suspects, ...others] }, options)
        return names
      })
    },
    kustomized: async (unbuilt, fetched) => {
      const { head, pieces } = await perform({ job: 'kustomized', unbuilt, fetched }, options)
      return unpack(head, pieces).objectsAt?.('') ?? { objects: [] }
    },
    objects: async (blobs) => {
      const name = blobs.map(({ bytes }) => blobHash(bytes)).join(' ')
      return unlessKnown(name, async (): Promise<ObjectsAt> => {
        const { head, pieces } = await perform({ job: 'objects', blobs }, options)
        return unpack(head, pieces).objectsAt?.('') ?? { objects: [] }
      })
    },
  }
}

const NOTHING = new Uint8Array()
const NO_HEAD: PackedHead = { id: '', files: 0, incomplete: true, unreadable: [] }

async function perform(
  job: WorkerJob,
  { clock, deadlineMs = LIMITS.readMs, heapMb = LIMITS.readHeapMb }: WorkerReaderOptions,
) {
  const at = new SharedArrayBuffer(4)
  // Published, it is JavaScript beside the program (scripts/build.ts).
  const entry = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : '../../worker.js', import.meta.url)
  const worker = new Worker(entry, {
    workerData: { job, at } satisfies WorkerData,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 64 },
    env: {},
  })
  const ending = new AbortController()
  const said = on(worker, 'message', { signal: ending.signal }) as AsyncIterableIterator<[WorkerMessage]>
  /** Rejects when it is over. */
  const until = async (ms: number, why: () => string): Promise<never> => {
    await clock.sleep(ms, ending.signal)
    throw new TooCostly(why())
  }
  const next = async (late: Promise<never>): Promise<WorkerMessage> => {
    const { value } = await Promise.race([said.next(), late])
    // Whatever else is waiting comes first.
    await clock.sleep(0)
    return (value as [WorkerMessage])[0]
  }
  try {
    const starting = until(LIMITS.readMs, () => 'no thread could be started to read it')
    starting.catch(() => {})
    await next(starting)
    // Counted from here: a busy computer is slow to start a thread.
    const late = until(deadlineMs, () => `reading${placeOf(job, at)} takes longer than ${deadlineMs / 1000} s`)
    late.catch(() => {})
    const first = await next(late)
    if (first.said === 'names') return { names: first.names, head: NO_HEAD, pieces: [] }
    const head: PackedHead = first.said === 'tree' ? first.head : NO_HEAD
    const pieces: RevisionPiece[] = []
    for (;;) {
      worker.postMessage('next')
      const more = await next(late)
      if (more.said !== 'piece') return { names: [], head, pieces }
      pieces.push(more.piece)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new TooCostly(`reading${placeOf(job, at)} takes more than ${heapMb} MB`)
    throw error
  } finally {
    ending.abort()
    await worker.terminate()
  }
}

/** Where it was when it was ended. */
function placeOf(job: WorkerJob, at: SharedArrayBuffer): string {
  if (job.job === 'objects') return ' what was fetched'
  if (job.job === 'kustomized') return ` ${job.unbuilt.directory}`
  if (job.job === 'generator-files') return ' its kustomizations'
  const index = new Int32Array(at)[0] ?? 0
  return index === 0 ? ' it' : ` ${job.reading.files[index - 2]?.path ?? 'its kustomizations'}`
}

/** The same bytes at the same paths. */
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
