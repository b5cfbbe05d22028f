import type { ResourceKey } from '../model/declaration.ts'
import type { Connection } from '../model/estate.ts'
import { type Doing, isDoing, type PlanEntry } from '../model/plan.ts'
import type { ThingIntention } from '../model/record.ts'
import type { Step } from '../model/step.ts'
import { capacity, creationQueue, type Windows, windowName } from './windows.ts'

/** An effect that may start now. */
export interface Admitted {
  readonly entry: PlanEntry
  readonly doing: Doing
  readonly step: Step
}

/** The limits on concurrent effects. */
export interface Traffic {
  /** Effects in flight. */
  readonly intentions: readonly ThingIntention[]
  readonly connections: ReadonlyMap<string, Connection>
  /** Machines that should be running and are not Ready: nothing else is restarted meanwhile. */
  readonly unready: number
  /** Machines that a power order switches off together: in parallel, since none of them must return meanwhile. */
  readonly together?: ReadonlySet<ResourceKey>
  /** The learnt width of each queue. */
  readonly windows?: Windows
}

const NOTHING_LEARNT: Windows = new Map()

/**
 * Chooses the planned effects that start now: the next step of each, if none of its queues is full. Proxmox takes a
 * lock per storage and serves few calls at once; croft learns from its answers how many it takes in parallel. `full`
 * collects the queues that some effect must wait for.
 */
export function admit(
  entries: readonly PlanEntry[],
  traffic: Traffic,
  full: Set<string> = new Set(),
): readonly Admitted[] {
  const windows = traffic.windows ?? NOTHING_LEARNT
  const load = new Map<string, number>()
  const enter = (connection: string, queues: readonly string[]) => {
    for (const queue of queues) {
      const name = windowName(connection, queue)
      load.set(name, (load.get(name) ?? 0) + 1)
    }
  }
  let restarting = 0
  const types = new Map(entries.map(({ key, type }) => [key, type]))
  for (const intention of traffic.intentions) {
    const { step, key } = intention
    enter(intention.connection, [...step.queues, ...creationQueue(types.get(key), step)])
    if (intention.step.disruption === 'restart') restarting++
  }
  const admitted: Admitted[] = []
  for (const entry of [...entries.filter((one) => !isAlone(one)), ...entries.filter(isAlone)]) {
    if (!isDoing(entry.action)) continue
    const step = entry.action.steps[0]
    const connection = traffic.connections.get(entry.connection)
    if (step === undefined || connection === undefined) continue
    const queues = [...step.queues, ...creationQueue(entry.type, step)]
    const narrow = queues.filter((queue) => {
      const most = isAlone(entry) ? 1 : capacity(queue, connection, windows)
      return (load.get(windowName(entry.connection, queue)) ?? 0) >= most
    })
    for (const queue of narrow) full.add(windowName(entry.connection, queue))
    if (narrow.length > 0) continue
    if (step.disruption === 'restart' && traffic.together?.has(entry.key) !== true) {
      if (restarting > 0 || traffic.unready > 0) continue
      restarting++
    }
    enter(entry.connection, queues)
    admitted.push({ entry, doing: entry.action, step })
  }
  return admitted
}

/** The restart of a box waits for all other work on that box, since it would interrupt it. */
function isAlone({ action }: PlanEntry): boolean {
  return isDoing(action) && action.steps[0]?.queues.includes('alone') === true
}
