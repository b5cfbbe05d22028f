import assert from 'node:assert/strict'
import { kubernetesWire } from '../../sim/kubernetes/wire.ts'
import { withEffect } from '../../src/cli/clusters/requests.ts'
import { createK3sDriver } from '../../src/drivers/k3s/driver.ts'
import { runOperation } from '../../src/engine/clusters/operation.ts'
import { tokenHash } from '../../src/k3s/token.ts'
import {
  type ClusterOperation,
  type ClusterRequests,
  NO_REQUESTS,
  type ObservedCluster,
} from '../../src/model/observed-cluster.ts'
import { Secret } from '../../src/model/secret.ts'
import { order, type Run } from './cluster-lab.ts'

/** The process that runs the command is gone. */
export class Killed extends Error {}

/** Where the process ends: the effect with this number, and on which side of it. */
export interface KillAt {
  readonly effect: number
  readonly side: 'before' | 'after'
}

/**
 * Runs an operation as `croft cluster` does: the same plan, the same operator, the ways of the engine. Every effect must
 * be recorded before it starts.
 */
export async function operated(
  run: Run,
  operation: (kept: readonly string[]) => Promise<ClusterOperation> | ClusterOperation,
  killAt?: KillAt,
) {
  const declaration = run.estate.clusters?.[0]
  assert.ok(declaration)
  const plan = await operation(keptBy(run))
  if (plan.refusals.length > 0) return { plan, journal: [] as string[], result: undefined }
  const process = run.start()
  const { world } = run.datacentre
  const operator = createK3sDriver().operate(declaration, {
    clock: run.clock,
    vault: run.vault,
    randomBytes: (count) => Uint8Array.from({ length: count }, (_, i) => (i * 37 + run.clock.now()) % 256),
    openKubernetes: (target) => kubernetesWire(world, target),
    resolveSecret: async () => new Secret('unused'),
    fetchText: async () => '',
  })
  const journal: string[] = []
  let effects = 0
  const perform: typeof operator.perform = async (step, ...rest) => {
    effects++
    const dies = killAt?.effect === effects ? killAt.side : undefined
    assert.deepEqual(ordersOf(run).hold?.effect?.step, step, `${step.summary} was begun without an intention`)
    if (dies === 'before') throw new Killed()
    const outcome = await operator.perform(step, ...rest)
    if (dies === 'after') throw new Killed()
    return outcome
  }
  const result = await run.clock
    .runUntil(
      runOperation(plan, {
        operator: { ...operator, perform },
        clock: run.clock,
        signal: new AbortController().signal,
        surroundings: async () => {
          const found = await process.engine.surroundings(run.estate, 'homelab', new AbortController().signal)
          assert.ok(found)
          return found
        },
        setHold: async (reason) => {
          const { hold, ...rest } = ordersOf(run)
          order(run, reason === undefined ? rest : { ...rest, hold: { ...hold, reason, allow: 'wait' } })
        },
        unsure: async () => ordersOf(run).hold?.effect,
        intend: async (effect) => order(run, { ...withEffect(ordersOf(run), effect) }),
        onStep: (step, _, state) => {
          if (state === 'done') journal.push(step.summary)
        },
      }),
      { maxMs: 3_600_000 },
    )
    .catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error
      return { is: 'killed' } as const
    })
  process.kill()
  return { plan, journal, result }
}

/** Hashes of the passwords that are kept, the present one first. */
export function keptBy(run: Run): readonly string[] {
  const secrets = run.vault.kept.get('homelab')
  if (secrets === undefined) return []
  return [secrets.password, ...secrets.formerPasswords].map((one) => tokenHash(one.reveal()))
}

/** What is ordered of the cluster, as the database holds it. */
export function ordersOf(run: Run): ClusterRequests {
  const text = run.disk.values.get('cluster-orders/homelab')
  return text === undefined ? NO_REQUESTS : { ...NO_REQUESTS, ...(JSON.parse(text) as Partial<ClusterRequests>) }
}

/** One look at the cluster, without anything being done. */
export async function lookNow(run: Run): Promise<ObservedCluster> {
  const process = run.start()
  const [report] = await run.passes(process, 1)
  process.kill()
  const observed = report?.clusters?.[0]?.observed
  assert.ok(observed)
  return observed
}
