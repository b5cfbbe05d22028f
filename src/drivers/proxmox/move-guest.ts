import type { Change, ObservedResource, Survey } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import { isUp, powerOf } from '../guests.ts'
import type { ApiFields } from './foreign.ts'
import { called, guestStep, shutdownSteps, startStep } from './guest-steps.ts'
import { hostQueue, storageQueues } from './steps.ts'
import { storageOf } from './vm/disks.ts'

/** The facts that decide about a move, for a VM or a container. */
export interface Moving {
  readonly type: 'vm' | 'container'
  readonly host: string
  readonly moveHere?: MoveReason
  /** Declared volumes by their slot in the configuration. */
  readonly volumes: readonly { readonly slot: string; readonly storage: string }[]
}

type MoveReason = { readonly why: string; readonly blocked?: { readonly message: string; readonly allow: string } }

/** Returns the move. No other change happens on the host that it leaves. Undefined: it stays. */
export function hostChange(moving: Moving, observed: ObservedResource): Change | undefined {
  const { moveHere, host } = moving
  if (moveHere === undefined || observed.host === host) return undefined
  const { blocked } = moveHere
  return {
    path: 'host',
    from: observed.host,
    to: host,
    effect: isUp(powerOf(observed)) && !movesWhileRunning(moving, observed) ? 'restart' : 'live',
    ...(blocked === undefined ? {} : { blocked }),
  }
}

/** A running VM keeps running during the move; one with its host's hardware cannot, and a container never does. */
export function moveGuestSteps(moving: Moving, observed: ObservedResource, survey?: Survey): readonly Step[] {
  const { host: from, externalId } = observed
  const { type, host: to } = moving
  const guest = { type, host: from, externalId }
  const running = isUp(powerOf(observed))
  const live = running && movesWhileRunning(moving, observed)
  const restarts = running && !live
  const storages = storagesAfter(moving, observed.close?.config ?? {}, survey)
  const target =
    storages.length === 0 ? {} : { [type === 'vm' ? 'targetstorage' : 'target-storage']: storages.join(',') }
  const move = guestStep(guest, 'POST', '/migrate', {
    verb: 'move',
    summary: `move ${called(guest)} from ${from} to ${to}${live ? ' while it runs' : ''}`,
    params: {
      target: to,
      ...(live ? { online: '1' } : {}),
      ...(type === 'vm' ? { 'with-local-disks': '1' } : running ? { restart: '1' } : {}),
      ...target,
    },
    queues: [
      hostQueue(from),
      hostQueue(to),
      ...storageQueues(to, [...new Set(moving.volumes.map(({ storage }) => storage))], survey),
    ],
    ...(restarts && type === 'container' ? { disruption: 'restart' as const } : {}),
  })
  if (!restarts || type === 'container') return [move]
  const why = ', because hardware of the host cannot move along'
  return [...shutdownSteps(guest, powerOf(observed), why), move, startStep({ ...guest, host: to })]
}

function movesWhileRunning({ type }: Moving, observed: ObservedResource): boolean {
  const config = observed.close?.config ?? {}
  return (
    type === 'vm' &&
    !Object.keys(config).some((key) => /^(?:hostpci|usb|virtiofs)\d+$/.test(key) && config[key] !== 'spice')
  )
}

/** Returns `here:there` for every storage whose volumes have another storage there. Shared ones need none. */
function storagesAfter({ volumes }: Moving, config: ApiFields, survey?: Survey): readonly string[] {
  const pairs = new Map<string, string>()
  for (const { slot, storage } of volumes) {
    const now = typeof config[slot] === 'string' ? storageOf(config[slot]) : undefined
    const shared = survey?.storages.some((seen) => seen.name === now && seen.shared)
    if (now !== undefined && !(now === storage && shared)) pairs.set(now, storage)
  }
  return [...pairs].filter(([now, then]) => now !== then).map(([now, then]) => `${now}:${then}`)
}
