import { type Doing, isDoing } from '../model/action.ts'
import type { Connection } from '../model/connection.ts'
import type { Intention } from '../model/intention.ts'
import type { ResourceKey } from '../model/key.ts'
import type { PlanEntry } from '../model/plan.ts'
import type { Step } from '../model/step.ts'

/** An effect that may begin now. */
export interface Admitted {
  readonly entry: PlanEntry
  readonly doing: Doing
  readonly step: Step
}

/** What limits how many effects run at once. */
export interface Traffic {
  /** Effects in flight. */
  readonly intentions: readonly Intention[]
  readonly connections: ReadonlyMap<string, Connection>
  /** Machines that should be running and are not Ready: nothing else is restarted meanwhile. */
  readonly unready: number
  /** Machines that an order of power takes off as a whole: side by side, for none of them comes back meanwhile. */
  readonly together?: ReadonlySet<ResourceKey>
}

/**
 * Chooses which of the planned effects begin now: the next step of each, as long as no queue it names is full. Proxmox
 * takes a lock per storage and serves few calls at once, so fewer in parallel is faster and never trips over itself.
 */
export function admit(entries: readonly PlanEntry[], traffic: Traffic): readonly Admitted[] {
  const load = new Map<string, number>()
  const enter = (connection: string, queues: readonly string[]) => {
    for (const queue of queues) load.set(`${connection} ${queue}`, (load.get(`${connection} ${queue}`) ?? 0) + 1)
  }
  let restarting = 0
  for (const intention of traffic.intentions) {
    enter(intention.connection, intention.step.queues)
    if (intention.step.disruption === 'restart') restarting++
  }
  const admitted: Admitted[] = []
  for (const entry of [...entries.filter((one) => !isAlone(one)), ...entries.filter(isAlone)]) {
    if (!isDoing(entry.action)) continue
    const step = entry.action.steps[0]
    const connection = traffic.connections.get(entry.connection)
    if (step === undefined || connection === undefined) continue
    const full = step.queues.some(
      (queue) => (load.get(`${entry.connection} ${queue}`) ?? 0) >= (isAlone(entry) ? 1 : capacity(queue, connection)),
    )
    if (full) continue
    if (step.disruption === 'restart' && traffic.together?.has(entry.key) !== true) {
      if (restarting > 0 || traffic.unready > 0) continue
      restarting++
    }
    enter(entry.connection, step.queues)
    admitted.push({ entry, doing: entry.action, step })
  }
  return admitted
}

/** A restart of a box waits for whatever else is done on it, or it would cut that off in the middle. */
function isAlone({ action }: PlanEntry): boolean {
  return isDoing(action) && action.steps[0]?.queues.includes('alone') === true
}

function capacity(queue: string, connection: Connection): number {
  // A reload of the network and the like: never two at once.
  if (queue.startsWith('single/')) return 1
  return queue.startsWith('storage/') ? connection.limits.perStorage : connection.limits.perHost
}
