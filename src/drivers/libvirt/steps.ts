import type { Step } from '../../model/step.ts'
import { hostQueue, type StepParts, stepOf } from '../make-step.ts'

export { hostQueue }

export function makeStep(parts: StepParts): Step {
  return stepOf('ssh', parts)
}

/** What virsh is asked for, as a path: `/domains/{uuid}/start`. Every part escaped: names may come from outside. */
export function domainPath(uuid: string, what?: string): string {
  return `/domains/${encodeURIComponent(uuid)}${what === undefined ? '' : `/${what}`}`
}

export function poolPath(pool: string, volume?: string): string {
  const base = `/pools/${encodeURIComponent(pool)}/volumes`
  return volume === undefined ? base : `${base}/${encodeURIComponent(volume)}`
}

export function poolQueue(host: string, pool: string): string {
  return `storage/${host}/${pool}`
}

export function withDigest(
  params: Readonly<Record<string, string>>,
  digest: string | undefined,
): Readonly<Record<string, string>> {
  return digest === undefined ? params : { ...params, digest }
}

export function startStep(
  host: string,
  uuid: string,
  how: { readonly paused?: boolean; readonly again?: boolean },
): Step {
  return makeStep({
    // The second half of a restart: nothing else is restarted until this machine is back.
    verb: how.again === true ? 'reboot' : 'start',
    summary: how.paused === true ? `resume domain ${uuid} on ${host}` : `start domain ${uuid} on ${host}`,
    host,
    method: 'POST',
    path: domainPath(uuid, how.paused === true ? 'resume' : 'start'),
    queues: [hostQueue(host)],
  })
}

/** What is about to be removed need not wait for a guest that does not listen. */
export function shutdownStep(host: string, uuid: string, force: boolean): Step {
  return makeStep({
    verb: 'shutdown',
    summary: `shut down domain ${uuid} on ${host}`,
    host,
    method: 'POST',
    path: domainPath(uuid, 'shutdown'),
    params: force ? { forceAfterSeconds: '60' } : { timeoutSeconds: '180' },
    disruption: 'restart',
  })
}

export function discardStep(host: string, pool: string, volume: string, verb: Step['verb'] = 'discard'): Step {
  return makeStep({
    verb,
    summary: `delete ${pool}:${volume} on ${host}`,
    host,
    method: 'DELETE',
    path: poolPath(pool, volume),
    queues: [poolQueue(host, pool)],
    disruption: verb === 'delete' ? 'data-loss' : 'none',
  })
}
