import type { Random } from '../src/lib/random.ts'
import type { WireResponse } from '../src/lib/wire.ts'
import type { SimClock } from './sim-clock.ts'

/** Something that goes wrong on purpose. `match` is a regular expression against `GET /nodes/x/qemu?full=1`. */
export interface Fault {
  readonly match?: string
  readonly kind: 'fail' | 'delay' | 'drop-before' | 'drop-after' | 'html' | 'truncated' | 'empty' | 'lost-worker'
  /** How often at most; without it for ever. */
  readonly count?: number
  /** How many that match are let through first. */
  readonly skip?: number
  /** How likely it is for each that matches; without it always. */
  readonly probability?: number
  /** Only between these moments of the simulated clock. */
  readonly fromMs?: number
  readonly untilMs?: number
  /** For `fail`. */
  readonly status?: number
  readonly reason?: string
  readonly body?: string
  /** For `delay`, before the request is served. */
  readonly delayMs?: number
  /** For `drop-before`: `no` is a refused connection, which everybody knows was never served. */
  readonly sent?: 'no' | 'maybe'
}

export interface Faults {
  add(fault: Fault): void
  clear(): void
  list(): readonly Fault[]
  /** Those that strike this request, each counted as used. */
  strike(method: string, path: string): readonly Fault[]
}

const NONE: readonly Fault[] = []

export function createFaults(clock: SimClock, random: Random): Faults {
  let active: { fault: Fault; pattern: RegExp; left: number; skip: number }[] = []
  return {
    add(fault) {
      const pattern = new RegExp(fault.match ?? '')
      active.push({ fault, pattern, left: fault.count ?? Number.POSITIVE_INFINITY, skip: fault.skip ?? 0 })
    },
    clear() {
      active = []
    },
    list: () => active.map((entry) => entry.fault),
    strike(method, path) {
      if (active.length === 0) return NONE
      const nowMs = clock.now()
      const text = `${method} ${path.replace(/^\/api2\/(json|extjs)/, '')}`
      const struck: Fault[] = []
      for (const entry of active) {
        const { fault } = entry
        if (entry.left <= 0 || nowMs < (fault.fromMs ?? 0) || nowMs >= (fault.untilMs ?? Number.POSITIVE_INFINITY))
          continue
        if (!entry.pattern.test(text)) continue
        if (entry.skip > 0) {
          entry.skip -= 1
          continue
        }
        if (fault.probability !== undefined && random.next() >= fault.probability) continue
        entry.left -= 1
        struck.push(fault)
      }
      active = active.filter((entry) => entry.left > 0)
      return struck
    },
  }
}

/** The answer that stands in for the real one. */
export function failedResponse(fault: Fault): WireResponse {
  const status = fault.status ?? 500
  const reason = fault.reason ?? 'internal error'
  const body = fault.body ?? (status >= 595 ? '' : JSON.stringify({ data: null, message: `${reason}\n` }))
  return { status, reason, headers: { Connection: 'close', 'Content-Type': 'application/json;charset=UTF-8' }, body }
}

/** The answer as it arrives when something between spoils it. */
export function spoiled(response: WireResponse, fault: Fault): WireResponse {
  if (fault.kind === 'html') {
    const body = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'
    return {
      status: fault.status ?? 200,
      reason: 'OK',
      headers: { ...response.headers, 'Content-Type': 'text/html' },
      body,
    }
  }
  if (fault.kind === 'truncated')
    return { ...response, body: response.body.slice(0, Math.floor(response.body.length / 2)) }
  return { ...response, body: '' }
}
