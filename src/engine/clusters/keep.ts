import { causeOf, isFinal } from '../../lib/failed-on.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Step } from '../../model/step.ts'
import { backupCondition } from '../../plan/clusters/backup-condition.ts'
import type { PassDeps } from '../pass-deps.ts'
import { dueSteps, performSteps, type StepAttempt, type StepDeps, stepName } from '../steps.ts'
import { noteBackups } from './backups.ts'
import { type DrillPass, keepDrill, readDrills } from './drills.ts'
import { clusterRecord, judgeCluster, withOwnReadyWhen } from './judge.ts'
import type { ReachedCluster } from './observe.ts'
import type { ClusterPass } from './pace.ts'
import { noteRemediation } from './remembered.ts'

/** Takes each cluster one step further and returns the results. */
export async function keepClusters(
  clusters: readonly ReachedCluster[],
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: PassDeps & Pick<StepDeps, 'unsure'>,
  only: ReadonlySet<ResourceKey> | undefined,
  signal: AbortSignal,
): Promise<
  readonly (ReturnType<typeof judgeCluster> & ClusterPass & { readonly drilled: number; readonly drilling: boolean })[]
> {
  return Promise.all(
    clusters.map(async (looked) => {
      const { declaration } = looked.look
      try {
        return await keepCluster(looked)
      } catch (error) {
        const record = records.get(declaration.key)
        if (record === undefined || isFinal(error) || signal.aborted) throw error
        const message = causeOf(error)
        const failed = {
          atMs: deps.clock.now(),
          key: declaration.key,
          type: 'Warning',
          reason: 'Failed',
          message,
        } as const
        return { record, events: [failed], look: looked.look, attempts: [], drilled: 0, drilling: false }
      }
    }),
  )

  async function keepCluster(looked: ReachedCluster) {
    const { declaration } = looked.look
    const idle = signal.aborted || declaration.policy.paused || (only !== undefined && !only.has(declaration.key))
    const attempts = idle ? [] : await actOnCluster(looked, deps, signal)
    const goesOn = (step: Step<'cluster'>) => deps.clusterWaits.has(stepName(declaration.key, step))
    const drills = idle ? undefined : await keepDrillOf(looked, deps, signal)
    const state = drills?.state ?? (await readDrills(deps.store, declaration.name))
    const backedUp = backupCondition(declaration.spec, looked.look.observed, state, deps.clock.now())
    const before = records.get(declaration.key)
    const nowMs = deps.clock.now()
    const record = await withOwnReadyWhen(
      clusterRecord(looked.look, attempts, before, nowMs, backedUp),
      declaration,
      deps.expressions,
      nowMs,
    )
    const verdict = judgeCluster(looked.look, attempts, before, goesOn, nowMs, record)
    await noteBackups(deps.store, deps.epoch, looked.look)
    return {
      ...verdict,
      events: [...verdict.events, ...(drills?.events ?? [])],
      look: looked.look,
      attempts,
      drilled: drills?.effects ?? 0,
      drilling: state.run !== undefined,
    }
  }
}

/** Performs the due steps of one cluster. Records the replacement of a dead node first. */
async function actOnCluster(
  { look, surroundings }: ReachedCluster,
  deps: PassDeps & Pick<StepDeps, 'unsure'>,
  signal: AbortSignal,
): Promise<readonly StepAttempt<'cluster'>[]> {
  const { declaration, decision } = look
  const { clock, store, epoch } = deps
  const steps = dueSteps(declaration.key, decision.steps, deps, clock.monotonicMs())
  if (steps.length === 0) return []
  for (const { purpose, node } of steps) {
    if (purpose === 'remediate' && node !== undefined)
      await noteRemediation(store, epoch, declaration.name, node, clock.now())
  }
  const session = await deps.sessions.of(declaration)
  return performSteps(declaration.key, steps, deps, (step) => session.perform(step, surroundings, signal))
}

async function keepDrillOf(
  looked: ReachedCluster,
  deps: PassDeps & Pick<StepDeps, 'unsure'>,
  signal: AbortSignal,
): Promise<DrillPass | undefined> {
  const { declaration } = looked.look
  if (declaration.drill === undefined) return undefined
  return keepDrill(looked, { ...deps, operator: await deps.sessions.operatorOf(declaration) }, signal)
}
