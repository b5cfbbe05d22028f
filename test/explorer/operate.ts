// A command of a person, done by the shipped code: planned, performed step by step, and waited for.
import type { ClusterDeps } from '../../src/drivers/cluster-port.ts'
import { createOperator } from '../../src/drivers/k3s/operator.ts'
import { runOperation } from '../../src/engine/clusters/operation.ts'
import type { ClusterDeclaration } from '../../src/model/estate.ts'
import type { ObservedCluster } from '../../src/model/observed-cluster.ts'
import { planRotation } from '../../src/plan/clusters/rotate.ts'
import { modelAccess } from './api.ts'
import type { Effects } from './effects.ts'
import { pass, type World } from './world.ts'

interface Operating {
  readonly world: World
  readonly effects: Effects
  readonly deps: ClusterDeps
  readonly declaration: ClusterDeclaration
  readonly surroundings: () => ReturnType<Parameters<typeof runOperation>[1]['surroundings']>
}

/** Types the command that a person has in mind. Where it fails, or croft dies, the cluster stays held. */
export async function operates(operating: Operating, observed: ObservedCluster): Promise<void> {
  const { world, effects, declaration, surroundings, deps } = operating
  delete world.command
  world.rotations += 1
  const operation = planRotation('token', declaration.spec, observed, world.nowMs)
  if (operation.refusals.length > 0) return
  await runOperation(operation, {
    operator: createOperator(declaration, deps, modelAccess(world, effects)),
    clock: { ...deps.clock, sleep: async () => pass(world, 30_000) },
    signal: effects.death,
    surroundings,
    setHold: async (reason) => {
      if (effects.death.aborted) return
      if (reason === undefined) delete world.hold
      else world.hold = { reason, allow: 'wait for its end; if it was interrupted, run it again' }
    },
    unsure: async () => undefined,
    intend: async () => {},
    onStep: async () => {},
  })
}
