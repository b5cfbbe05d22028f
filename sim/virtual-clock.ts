import type { Scheduled, SimClock } from './sim-clock.ts'
import { createTimerHeap } from './timer-heap.ts'

export interface RunOptions {
  /** How far the clock may go, in simulated time, before the run counts as stuck. Default one day. */
  readonly maxMs?: number
}

/** Time that moves only when asked. Between two moments every promise that can run has run. */
export interface VirtualClock extends SimClock {
  /** Moments that are still to come. */
  pending(): number
  /** Time stands still until this work outside of the simulation has ended. */
  outside<T>(work: Promise<T>): Promise<T>
  /** Fires everything due until `atMs` and stays there. */
  advanceTo(atMs: number): Promise<void>
  /** Jumps from moment to moment until the promise is settled, or the predicate holds. Answers the promise's value. */
  runUntil<T>(until: Promise<T>, options?: RunOptions): Promise<T>
  runUntil(until: () => boolean, options?: RunOptions): Promise<void>
}

const DAY_MS = 86_400_000

/**
 * With no timer left, something outside may still be on its way (a file being read). It is given this many turns, then
 * this many milliseconds of real time, before the run is called stuck.
 */
const IDLE_TURNS = 200
const IDLE_REAL_MS = 3_000

export function createVirtualClock(startMs: number): VirtualClock {
  const heap = createTimerHeap()
  let nowMs = startMs
  let order = 0
  let outside = 0

  function schedule(atMs: number, fn: () => void): Scheduled {
    const timer = { atMs: Math.max(atMs, nowMs), order: order++, fn: fn as (() => void) | undefined }
    heap.push(timer)
    return {
      cancel() {
        timer.fn = undefined
      },
    }
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      if (signal === undefined) {
        schedule(nowMs + Math.max(0, ms), resolve)
        return
      }
      const done = () => {
        timer.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = schedule(nowMs + Math.max(0, ms), done)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  /** Goes to the next moment and fires all that is due then, in the order it was asked for. False: nothing is left. */
  function fireNext(limitMs: number): boolean {
    dropCancelled()
    const first = heap.peek()
    if (first === undefined || first.atMs > limitMs) return false
    nowMs = first.atMs
    for (let timer = heap.peek(); timer !== undefined && timer.atMs === nowMs; timer = heap.peek()) {
      heap.pop()
      timer.fn?.()
    }
    return true
  }

  function dropCancelled(): void {
    for (let timer = heap.peek(); timer !== undefined && timer.fn === undefined; timer = heap.peek()) heap.pop()
  }

  async function advanceTo(atMs: number): Promise<void> {
    await promisesRun()
    while (fireNext(atMs)) await promisesRun()
    if (atMs > nowMs) nowMs = atMs
  }

  async function runUntil<T>(until: Promise<T> | (() => boolean), options: RunOptions = {}): Promise<T | undefined> {
    const limitMs = nowMs + (options.maxMs ?? DAY_MS)
    let settled = false
    let done: () => boolean
    if (typeof until === 'function') {
      done = until
    } else {
      const settle = () => {
        settled = true
      }
      until.then(settle, settle)
      done = () => settled
    }
    await promisesRun()
    while (!done()) {
      if (outside > 0) {
        await realMoment()
        continue
      }
      if (!fireNext(limitMs)) {
        if (heap.size() > 0)
          throw new Error(`still not there at ${nowMs}, and the next moment lies beyond the limit ${limitMs}`)
        if (!(await somethingOutsideHappens(() => done() || heap.size() > 0))) {
          throw new Error('stuck: nothing is left to wait for, and the end was not reached')
        }
      }
      await promisesRun()
    }
    return typeof until === 'function' ? undefined : until
  }

  return {
    now: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    sleep,
    schedule,
    pending() {
      dropCancelled()
      return heap.size()
    },
    outside(work) {
      outside += 1
      return work.finally(() => {
        outside -= 1
      })
    },
    advanceTo,
    runUntil: runUntil as VirtualClock['runUntil'],
  }
}

/** One turn of the event loop: every promise callback that can run, runs before it comes back. */
function promisesRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function realMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}

async function somethingOutsideHappens(happened: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < IDLE_TURNS; turn++) {
    await promisesRun()
    if (happened()) return true
  }
  for (let waited = 0; waited < IDLE_REAL_MS; waited++) {
    await realMoment()
    if (happened()) return true
  }
  return false
}
