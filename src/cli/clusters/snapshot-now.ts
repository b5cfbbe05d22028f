import type { RunningController } from '../../controller/controller.ts'
import { type OperationResult, runOperation } from '../../engine/clusters/operation.ts'
import type { Engine } from '../../engine/engine.ts'
import { inTime } from '../../lib/in-time.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { planBackup } from '../../plan/clusters/backup.ts'
import type { Granted } from '../../server/port.ts'
import type { EngineOptions, Runtime } from '../runtime.ts'
import { clusterTools } from './opened.ts'

/**
 * Takes a snapshot of etcd on request through the controller. Each call runs between passes, on the result of the last
 * one. The request is answered soon: a long snapshot goes on, and the list of backups shows it when it is done.
 */
export async function takeSnapshot(
  runtime: Runtime,
  options: EngineOptions,
  engine: Engine,
  controller: RunningController,
  cluster: ClusterDeclaration,
): Promise<Granted> {
  const planned = planNow(controller, cluster)
  if ('ok' in planned) return planned
  const { driver, deps } = await clusterTools(runtime, options)
  const operator = driver.operate(cluster, deps)
  const running = runOperation(planned.operation, {
    operator: {
      ...operator,
      perform: (...args) =>
        controller.betweenPasses(async () => {
          // A pass in between may have started work on the same server.
          const still = planNow(controller, cluster)
          if (!('ok' in still) && still.step.target === planned.step.target) return operator.perform(...args)
          const message = 'ok' in still ? still.message : 'another server would do it by now; ask once more'
          return { result: 'refused', refusal: { reason: 'Changed', meaning: 'stalled', message } }
        }),
      reached: (...args) => controller.betweenPasses(() => operator.reached(...args)),
    },
    clock: runtime.clock,
    signal: runtime.signal,
    surroundings: () =>
      controller.betweenPasses(async () => {
        const estate = controller.seen()?.estate
        const found = estate === undefined ? undefined : await engine.surroundings(estate, cluster.name, runtime.signal)
        if (found === undefined) throw new Error(`${cluster.name} is no longer declared`)
        return found
      }),
    setHold: async () => {},
    // A repeated snapshot does no harm.
    unsure: async () => undefined,
    intend: async () => {},
    onStep: () => {},
  })
  return inPatience(runtime, planned.step.summary, running)
}

/** Returns the step that would take a snapshot now, or why there is none. */
function planNow(controller: RunningController, cluster: ClusterDeclaration) {
  const look = controller.seen()?.report.clusters?.find(({ declaration }) => declaration.name === cluster.name)
  if (look === undefined) return refused('conflict', `${cluster.name} has not been looked at yet`)
  const operation = planBackup(cluster.spec, look.observed)
  const [step] = operation.steps
  const [refusal] = operation.refusals
  if (step === undefined || refusal !== undefined)
    return refused('conflict', `${refusal?.reason ?? 'nothing can be done'}; ${refusal?.allow}`)
  return { operation, step }
}

async function inPatience(runtime: Runtime, what: string, running: Promise<OperationResult>): Promise<Granted> {
  const ended = running.then(
    (result): Granted =>
      result.is === 'done' ? { ok: true, message: `${what}: done` } : refused('refused', `${what}: ${result.message}`),
    (error: unknown) => refused('refused', error instanceof Error ? error.message : String(error)),
  )
  return inTime(
    LIMITS.wishPatienceMs,
    runtime.clock,
    runtime.signal,
    () => ended,
    () => ({
      ok: true,
      message: `${what}: started, still running`,
    }),
  )
}

function refused(reason: 'conflict' | 'refused', message: string): Granted & { readonly ok: false } {
  return { ok: false, reason, message }
}

/** A session reads the list of snapshots once a minute: longer than that. */
const MOST_LOOKS = 90

/** Looks until a new snapshot is listed: K3s lists it a moment after taking it. */
export async function untilListed<Look extends { readonly observed: Pick<ObservedCluster, 'snapshots'> }>(
  before: ObservedCluster['snapshots'],
  look: () => Promise<Look>,
  pause: () => Promise<void>,
): Promise<Look> {
  const known = new Set(before === 'unknown' ? [] : before.map(({ name }) => name))
  for (let looks = 1; ; looks++) {
    const seen = await look()
    const { snapshots } = seen.observed
    if (looks === MOST_LOOKS || (snapshots !== 'unknown' && snapshots.some(({ name }) => !known.has(name)))) return seen
    await pause()
  }
}
