import { type Clock, fastClock, SIM_CLOCK_HEADER } from '../../../lib/clock.ts'
import { recordIn } from '../../../lib/foreign-json.ts'
import type { Wire } from '../../../lib/wire.ts'
import type { Secret } from '../../../model/secret.ts'
import { cleanText } from '../foreign.ts'

/** An answer with all that identifies its sender. */
export interface DoctorAnswer {
  readonly status: number
  /** The text of a refusal, from status line and body, without sent secrets. */
  readonly said: string
  /** Undefined unless the status is 200. */
  readonly data: unknown
  /** How far the Date header is ahead of our clock; undefined without one. */
  readonly skewSeconds: number | undefined
  /** Our time in the middle of the request. */
  readonly atMs: number
}

/** Reads one path. Rejects with a WireFailure if there is no answer. */
export type ReadPath = (path: string) => Promise<DoctorAnswer>

export function createAsk(wire: Wire, clock: Clock, secret: Secret, signal: AbortSignal): ReadPath {
  return async (path) => {
    const beforeMs = clock.now()
    const headers = { authorization: `PVEAPIToken=${secret.word()}`, accept: 'application/json' }
    const response = await wire.send({ method: 'GET', path: `/api2/json${path}`, headers }, signal)
    // A simulated datacentre may have a faster time: its clock is compared with that time, and the Date of its answers,
    // which is the real computer's, with none.
    const simulated = fastClock(response.headers[SIM_CLOCK_HEADER] ?? '')
    const atMs = simulated?.now() ?? (beforeMs + clock.now()) / 2
    const theirsMs = Date.parse(response.headers.date ?? response.headers.Date ?? '')
    const body = recordIn(response.body)
    const message = typeof body?.message === 'string' ? body.message.trim() : ''
    const said = message === response.reason ? message : `${response.reason} ${message}`.trim()
    return {
      status: response.status,
      said: response.status === 200 ? '' : cleanText(masked(said, secret), 300),
      data: response.status === 200 ? body?.data : undefined,
      skewSeconds: simulated !== undefined || Number.isNaN(theirsMs) ? undefined : Math.round((theirsMs - atMs) / 1000),
      atMs,
    }
  }
}

/** A foreign text may repeat sent secrets. */
function masked(text: string, secret: Secret): string {
  const value = secret.word()
  const afterEquals = value.slice(value.indexOf('=') + 1)
  const without = text.replaceAll(value, '***')
  return afterEquals.length < 4 ? without : without.replaceAll(afterEquals, '***')
}
