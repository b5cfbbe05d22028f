import { at, recordsOf } from '../../kubernetes/objects.ts'
import { parseForeignJson } from '../../lib/foreign-json.ts'
import { type Wire, WireFailure } from '../../lib/wire.ts'
import type { OnOffUnknown } from '../../model/observed-power.ts'
import type { BmcTarget } from '../../model/power.ts'
import type { Secret } from '../../model/secret.ts'
import type { Outcome } from '../../model/step.ts'

/** One management controller over Redfish. */
export interface Redfish {
  power(signal: AbortSignal): Promise<{ readonly power: OnOffUnknown; readonly watts?: number }>
  /** Never a cycle: On, an orderly shutdown, or a power cut. All are idempotent. */
  reset(type: 'On' | 'GracefulShutdown' | 'ForceOff', signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

export function openRedfish(wire: Wire, { user, system }: BmcTarget, password: () => Promise<Secret>): Redfish {
  let found: string | undefined
  const headers = async () => ({
    accept: 'application/json',
    authorization: `Basic ${Buffer.from(`${user}:${(await password()).word()}`).toString('base64')}`,
  })
  const get = async (path: string, signal: AbortSignal): Promise<unknown> => {
    const answer = await wire.send({ method: 'GET', path, headers: await headers() }, signal)
    if (answer.status !== 200) throw new WireFailure('maybe', `HTTP_${answer.status}`, `${path}: ${answer.status}`)
    return parseForeignJson(answer.body)
  }
  /** Returns the system's path: the configured one, or the only one. */
  const place = async (signal: AbortSignal): Promise<string> => {
    if (system !== undefined) return `/redfish/v1/Systems/${encodeURIComponent(system)}`
    if (found !== undefined) return found
    const members = recordsOf(at(await get('/redfish/v1/Systems', signal), 'Members'))
    const [only] = members.map((member) => member['@odata.id'])
    if (typeof only !== 'string' || members.length !== 1 || !only.startsWith('/redfish/v1/Systems/'))
      throw new WireFailure('no', 'NO_SYSTEM', `the controller has ${members.length} systems; say which one is meant`)
    found = only.replace(/\/$/, '')
    return found
  }
  /** Returns the draw of the system's chassis. Many controllers do not measure it and do not answer. */
  const measured = async (shown: unknown, signal: AbortSignal): Promise<number | undefined> => {
    const [chassis] = recordsOf(at(shown, 'Links', 'Chassis')).map((one) => one['@odata.id'])
    if (typeof chassis !== 'string' || !chassis.startsWith('/redfish/v1/Chassis/')) return undefined
    try {
      const [control] = recordsOf(at(await get(`${chassis.replace(/\/$/, '')}/Power`, signal), 'PowerControl'))
      const watts = control?.PowerConsumedWatts
      return typeof watts === 'number' && Number.isFinite(watts) && watts >= 0 ? watts : undefined
    } catch {
      return undefined
    }
  }
  return {
    async power(signal) {
      try {
        const shown = await get(await place(signal), signal)
        const state = at(shown, 'PowerState')
        const power = state === 'On' || state === 'PoweringOn' ? 'on' : state === 'Off' ? 'off' : 'unknown'
        const watts = await measured(shown, signal)
        return { power, ...(watts === undefined ? {} : { watts }) }
      } catch {
        return { power: 'unknown' }
      }
    },
    async reset(type, signal) {
      try {
        const path = `${await place(signal)}/Actions/ComputerSystem.Reset`
        const sent = { ...(await headers()), 'content-type': 'application/json' }
        const answer = await wire.send(
          { method: 'POST', path, headers: sent, body: JSON.stringify({ ResetType: type }) },
          signal,
        )
        if (answer.status >= 200 && answer.status < 300) return { result: 'done' }
        const message = `the controller refused ${type}: ${answer.status} ${answer.reason}`
        return { result: 'refused', refusal: { reason: 'BmcRefused', meaning: 'backoff', message } }
      } catch (error) {
        if (!(error instanceof WireFailure)) return { result: 'unclear', message: 'the controller could not be read' }
        return error.sent === 'no'
          ? { result: 'not-sent', message: error.message }
          : { result: 'unclear', message: error.message }
      }
    },
    close: () => wire.close(),
  }
}
