import type { RunningController } from '../../controller/controller.ts'
import type { Engine } from '../../engine/engine.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterDeclaration } from '../../model/cluster-declaration.ts'
import { planBackup } from '../../plan/cluster/backup.ts'
import type { Granted } from '../../server/port.ts'
import type { EngineOptions, Runtime } from '../runtime.ts'
import { clusterTools } from './opened.ts'
import { runOperation } from './run-operation.ts'

/**
 * Takes a snapshot of etcd because somebody asked the controller for one. Whoever asked is not kept waiting for long:
 * what takes its time goes on, and the list of backups shows when it is there.
 */
export async function takeSnapshot(
  runtime: Runtime,
  options: EngineOptions,
  engine: Engine,
  controller: RunningController,
  cluster: ClusterDeclaration,
): Promise<Granted> {
  const seen = controller.seen()
  const look = seen?.report.clusters?.find(({ declaration }) => declaration.name === cluster.name)
  if (seen === undefined || look === undefined)
    return { ok: false, reason: 'conflict', message: `${cluster.name} has not been looked at yet` }
  const operation = planBackup(cluster.spec, look.observed)
  const [step] = operation.steps
  const [refusal] = operation.refusals
  if (step === undefined || refusal !== undefined)
    return { ok: false, reason: 'conflict', message: `${refusal?.reason ?? 'nothing can be done'}; ${refusal?.allow}` }
  const { driver, deps } = await clusterTools(runtime, options)
  const running = runOperation(operation, {
    operator: driver.operate(cluster, deps),
    clock: runtime.clock,
    signal: runtime.signal,
    surroundings: async () => {
      const found = await engine.surroundings(seen.estate, cluster.name, runtime.signal)
      if (found === undefined) throw new Error(`${cluster.name} is no longer declared`)
      return found
    },
    setHold: async () => {},
    onStep: () => {},
  }).then(
    (result): Granted =>
      result.is === 'done'
        ? { ok: true, message: `${step.summary}: done` }
        : { ok: false, reason: 'refused', message: `${step.summary}: ${result.message}` },
    (error: unknown): Granted => ({
      ok: false,
      reason: 'refused',
      message: error instanceof Error ? error.message : String(error),
    }),
  )
  const patience = new AbortController()
  const goesOn = runtime.clock
    .sleep(LIMITS.wishPatienceMs, patience.signal)
    .then((): Granted => ({ ok: true, message: `${step.summary}: begun; it goes on` }))
  try {
    return await Promise.race([running, goesOn])
  } finally {
    patience.abort()
  }
}
