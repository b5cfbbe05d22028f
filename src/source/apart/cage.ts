import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ImportedText } from '../foreign/import-text.ts'
import type { SourceFile } from '../git/revision.ts'
import { TooCostly } from '../reader.ts'
import {
  type CageJob,
  type CageMessage,
  type CageOrder,
  type ComposedAnswers,
  PLACE_FD,
  type TimedAnswer,
} from './job.ts'
import type { PackedHead, RevisionPiece } from './pack.ts'

export interface JobBudget {
  readonly clock: Clock
  readonly deadlineMs: number
  /** Applies the deadline to each item of the job instead of the whole job. */
  readonly each?: true
  /** Names the place at which the job was ended, by the number of the last thing that it began. */
  placeOf(index: number): string
}

/** The job took more time or memory than it may, in the middle of the thing with this number. */
export class JobEnded extends TooCostly {
  readonly index: number
  constructor(message: string, index: number) {
    super(message)
    this.index = index
  }
}

export interface JobResult {
  readonly head: PackedHead
  readonly pieces: readonly RevisionPiece[]
  readonly names: readonly string[]
  readonly answers: readonly TimedAnswer[]
  readonly composed?: ComposedAnswers
  readonly imported?: ImportedText
}

/** One separate process with a queue. It stays warm between jobs and is replaced when a job is ended. */
export interface Cage {
  /** Rejects with JobEnded when the job takes more time or memory than it may. */
  perform(job: CageJob, budget: JobBudget, files?: readonly SourceFile[]): Promise<JobResult>
}

/** The cage for small questions of each pass, so that a slow tree does not delay them. */
export function askingCage(): Cage {
  asking ??= createCage(LIMITS.answerHeapMb)
  return asking
}
let asking: Cage | undefined

const UNSTARTED = 'no process could be started to read it'

const NO_HEAD: PackedHead = { id: '', files: 0, incomplete: true, unreadable: [] }

/**
 * Runs jobs in a separate process. A worker thread would not contain them: V8 ends the whole process when one
 * allocation does not fit into a thread's heap, and five nested `replace` are enough for that.
 */
export function createCage(heapMb: number): Cage {
  let warm: Caged | undefined
  let queue: Promise<unknown> = Promise.resolve()

  async function performNow(job: CageJob, budget: JobBudget, files: readonly SourceFile[]): Promise<JobResult> {
    const { clock } = budget
    const caged = warm?.isGone() === false ? warm : startCaged(heapMb)
    warm = undefined
    caged.hold()
    const ending = new AbortController()
    const ended = (why: string) => {
      const index = caged.place()
      return new JobEnded(`${budget.placeOf(index)} ${why}`, index)
    }
    let residentMb = 0
    const late = async (ms: number, why: () => Error): Promise<never> => {
      await clock.sleep(ms, ending.signal)
      throw why()
    }
    const limits: Promise<never>[] = [
      caged.death.then((death) => {
        const why = whyDead(death, residentMb, heapMb)
        throw 'unstarted' in why ? new TooCostly(`${UNSTARTED} (${why.unstarted})`) : ended(why.ended)
      }),
    ]
    const next = async (): Promise<CageMessage> => {
      const message = await Promise.race([caged.next(), ...limits])
      // Yield to the event loop first.
      await clock.sleep(0)
      if (message.said === 'failed') throw new Error(message.message)
      return message
    }
    const until = (limit: Promise<never>) => {
      limit.catch(() => {})
      limits.push(limit)
    }
    limits[0]?.catch(() => {})
    let whole = false
    try {
      const saw = (mb: number) => {
        residentMb = mb
      }
      until(
        watchMemory(caged, clock, heapMb, saw, ending.signal).then(() => {
          throw ended(`takes more than ${heapMb} MB`)
        }),
      )
      const starting = late(LIMITS.readMs, () => new TooCostly(UNSTARTED))
      until(starting)
      for (const piece of filePieces(files)) {
        await Promise.race([caged.tell({ files: piece }), ...limits])
        await clock.sleep(0)
      }
      await Promise.race([caged.tell(job), ...limits])
      await next()
      void limits.splice(limits.indexOf(starting), 1)
      // Start the timer here: a busy computer is slow to start a process.
      const tooLong = () => ended(`takes longer than ${budget.deadlineMs / 1000} s`)
      until(budget.each === true ? lateEach(caged, budget, tooLong, ending.signal) : late(budget.deadlineMs, tooLong))
      const result = await resultOf(caged, next)
      whole = result.rssMb <= LIMITS.cageWarmMb
      return result
    } finally {
      ending.abort()
      if (whole && !caged.isGone()) {
        caged.release()
        warm = caged
      } else caged.end()
    }
  }

  return {
    perform(job, budget, files = []) {
      const turn = queue.then(() => performNow(job, budget, files))
      queue = turn.catch(() => {})
      return turn
    },
  }
}

/** Rejects if one item takes the whole deadline: time spent on other items does not count. */
async function lateEach(
  caged: Caged,
  { clock, deadlineMs }: JobBudget,
  why: () => Error,
  signal: AbortSignal,
): Promise<never> {
  for (let seen = caged.begun(); ; seen = caged.begun()) {
    await clock.sleep(deadlineMs, signal)
    if (signal.aborted) return new Promise(() => {})
    // First read messages that arrived while the event loop was blocked.
    for (let turn = 0; turn < 3; turn++) await clock.sleep(0)
    if (caged.begun() === seen) throw why()
  }
}

/** How V8 ends a process that needs more than its heap. */
const HEAP_SIGNALS: readonly (string | undefined)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL']

/**
 * Returns why the process died although this program did not end it. It blames memory only where memory was the cause:
 * the kernel's OOM killer and people also kill processes.
 */
function whyDead(
  { unstarted, signal, code }: Death,
  residentMb: number,
  heapMb: number,
): { readonly unstarted: string } | { readonly ended: string } {
  if (unstarted !== undefined) return { unstarted }
  if (HEAP_SIGNALS.includes(signal) || residentMb > heapMb + LIMITS.cageProgramMb / 2)
    return { ended: `takes more than ${heapMb} MB` }
  return { ended: `was interrupted: its process was ended by ${signal ?? `itself, with code ${code ?? 'unknown'}`}` }
}

async function resultOf(caged: Caged, next: () => Promise<CageMessage>) {
  let head = NO_HEAD
  let names: readonly string[] = []
  let answers: readonly TimedAnswer[] = []
  let composed: ComposedAnswers | undefined
  let imported: ImportedText | undefined
  const pieces: RevisionPiece[] = []
  for (let message = await next(); ; message = await next()) {
    if (message.said === 'end')
      return { head, names, answers, pieces, rssMb: message.rssMb, ...defined({ composed, imported }) }
    if (message.said === 'tree') head = message.head
    else if (message.said === 'names') names = message.names
    else if (message.said === 'answers') answers = message.answers
    else if (message.said === 'composed') composed = message.composed
    else if (message.said === 'imported') imported = message.imported
    else if (message.said === 'piece') pieces.push(message.piece)
    await caged.tell('next')
  }
}

/** How a process ended, or why it did not start. */
interface Death {
  readonly unstarted?: string
  readonly signal?: string
  readonly code?: number
}

/** A process of the cage, with its messages. */
interface Caged {
  readonly pid: number
  /** Resolves when the process is gone. */
  readonly death: Promise<Death>
  isGone(): boolean
  tell(order: CageOrder): Promise<void>
  next(): Promise<CageMessage>
  /** The number of the last thing that it began. */
  place(): number
  /** Number of jobs started so far. */
  begun(): number
  /** `hold` keeps the program alive while this process works; `release` lets it exit while the process is idle. */
  hold(): void
  release(): void
  end(): void
}

const alive = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

function startCaged(heapMb: number): Caged {
  // Published, it is JavaScript beside the program (scripts/build.ts).
  const entry = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : '../../worker.js', import.meta.url)
  const child = fork(fileURLToPath(entry), [], {
    // Inherit neither the environment nor the flags of the program.
    env: {},
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=8'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
  })
  alive.add(child)
  const inbox: CageMessage[] = []
  let heard = () => {}
  child.on('message', (message) => {
    inbox.push(message as CageMessage)
    heard()
  })
  let gone = false
  const death = new Promise<Death>((resolve) => {
    const over = (how: Death) => {
      gone = true
      alive.delete(child)
      resolve(how)
    }
    child.once('exit', (code, signal) => over(defined({ code: code ?? undefined, signal: signal ?? undefined })))
    child.on('error', (error: NodeJS.ErrnoException) => over({ unstarted: error.code ?? 'unknown error' }))
  })
  let [place, begun] = [0, 0]
  // Without free file descriptors, the child has no stdio at all.
  const places = (child.stdio as typeof child.stdio | undefined)?.[PLACE_FD]
  let rest = Buffer.alloc(0)
  places?.on('error', () => {})
  if (places !== null && places !== undefined && 'read' in places)
    places.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      const whole = rest.length - (rest.length % 4)
      if (whole >= 4) place = rest.readInt32LE(whole - 4)
      begun += whole / 4
      rest = rest.subarray(whole)
    })
  const pipe = places as { ref?(): void; unref?(): void } | null | undefined
  return {
    pid: child.pid ?? 0,
    death,
    isGone: () => gone,
    tell: (order) =>
      new Promise((resolve) => {
        // `death` reports its end.
        if (child.connected) child.send(order as object, () => resolve())
        else resolve()
      }),
    async next() {
      while (inbox.length === 0)
        await new Promise<void>((resolve) => {
          heard = resolve
        })
      return inbox.shift() as CageMessage
    },
    place: () => place,
    begun: () => begun,
    hold() {
      place = 0
      child.ref()
      child.channel?.ref()
    },
    release() {
      child.unref()
      child.channel?.unref()
      pipe?.unref?.()
    },
    end() {
      child.kill('SIGKILL')
    },
  }
}

/** Resolves when the process holds more than its heap may: buffers are in no heap. */
async function watchMemory(
  caged: Caged,
  clock: Clock,
  heapMb: number,
  saw: (residentMb: number) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(LIMITS.cageLookMs, signal)
    if (signal.aborted) return new Promise(() => {})
    const mb = residentMbOf(caged.pid)
    if (mb !== undefined) saw(mb)
    if (mb !== undefined && mb > heapMb + LIMITS.cageProgramMb) return
  }
}

/** Returns resident MB; undefined: the process is gone. VmRSS is in kB for every page size, also a Pi 5's 16 KiB. */
function residentMbOf(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}

const PIECE_BYTES = 512 * 1024

function* filePieces(files: readonly SourceFile[]): Generator<readonly SourceFile[]> {
  let piece: SourceFile[] = []
  let bytes = 0
  for (const file of files) {
    piece.push(file)
    bytes += 'bytes' in file ? file.bytes.length : 0
    if (bytes < PIECE_BYTES && piece.length < 1_000) continue
    yield piece
    piece = []
    bytes = 0
  }
  if (piece.length > 0) yield piece
}
