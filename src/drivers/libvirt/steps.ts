import { defined } from '../../lib/defined.ts'
import type { ClientCommand } from '../../model/command.ts'
import { type Destruction, destroying, sweeping } from '../../model/destruction.ts'
import { type HarmParts, harmOf, type Step, type StepOver } from '../../model/step.ts'
import { hostQueue } from '../host-queue.ts'

export { hostQueue }

/** The varying parts of a virsh command. */
type VirshStepParts = HarmParts & VirshParts

interface VirshParts extends Pick<Step, 'summary' | 'host'>, Partial<Pick<Step, 'queues'>> {
  readonly do: ClientCommand['do']
  readonly object: string
  readonly options?: ClientCommand['options']
  readonly values?: ClientCommand['values']
  /** Digest of the definition that was read. */
  readonly digest?: string | undefined
}

export function makeStep(parts: VirshStepParts): StepOver<'commands'> {
  const { summary, host, object, options = {}, values = {}, digest, queues = [] } = parts
  const commands = [{ do: parts.do, object, options, values }]
  return { ...harmOf(parts), summary, lane: 'commands', host, queues, on: object, commands, ...defined({ digest }) }
}

/** Returns the step's virsh command. */
export function commandOf(step: Step): ClientCommand {
  const [first] = step.lane === 'commands' ? step.commands : []
  if (first === undefined || !('object' in first))
    throw new Error(`${step.summary} (${step.lane}) is nothing for virsh`)
  return first
}

/** Returns virsh's operation as a path: `/domains/{uuid}/start`. Escapes every part, since names may be foreign. */
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

export function startStep(
  host: string,
  uuid: string,
  how: { readonly paused?: boolean; readonly again?: boolean },
): Step {
  return makeStep({
    // The second half of a restart: no other machine restarts until this one is back.
    verb: how.again === true ? 'reboot' : 'start',
    summary: how.paused === true ? `resume domain ${uuid} on ${host}` : `start domain ${uuid} on ${host}`,
    host,
    do: 'make',
    object: domainPath(uuid, how.paused === true ? 'resume' : 'start'),
    queues: [hostQueue(host)],
  })
}

/** A guest under deletion is not awaited if it ignores the shutdown. */
export function shutdownStep(host: string, uuid: string, force: boolean): Step {
  return makeStep({
    verb: 'shutdown',
    summary: `shut down domain ${uuid} on ${host}`,
    host,
    do: 'make',
    object: domainPath(uuid, 'shutdown'),
    options: force ? { forceAfterSeconds: '60' } : { timeoutSeconds: '180' },
    disruption: 'restart',
  })
}

/** Deletes a scratch volume of croft's, or with a destruction any other. */
export function discardStep(host: string, pool: string, volume: string, destruction?: Destruction): Step {
  return makeStep({
    ...(destruction === undefined
      ? { verb: 'discard', ...sweeping(`${pool}:${volume}`) }
      : { verb: 'delete', disruption: 'data-loss', ...destroying(destruction) }),
    summary: `delete ${pool}:${volume} on ${host}`,
    host,
    do: 'delete',
    object: poolPath(pool, volume),
    queues: [poolQueue(host, pool)],
  })
}
