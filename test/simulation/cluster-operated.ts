import assert from 'node:assert/strict'
import { kubernetesWire } from '../../sim/kubernetes/wire.ts'
import { runOperation } from '../../src/cli/clusters/run-operation.ts'
import { createK3sDriver } from '../../src/drivers/k3s/driver.ts'
import { tokenHash } from '../../src/k3s/token.ts'
import type { ClusterOperation } from '../../src/model/cluster-operation.ts'
import type { ObservedCluster } from '../../src/model/observed-cluster.ts'
import { Secret } from '../../src/model/secret.ts'
import { order, type Run } from './cluster-lab.ts'

/** Runs an operation as `croft cluster` does: the same plan, the same operator, the ways of the engine. */
export async function operated(
  run: Run,
  operation: (kept: readonly string[]) => Promise<ClusterOperation> | ClusterOperation,
) {
  const declaration = run.estate.clusters?.[0]
  assert.ok(declaration)
  const secrets = run.vault.kept.get('homelab')
  const kept =
    secrets === undefined ? [] : [secrets.password, ...secrets.formerPasswords].map((one) => tokenHash(one.reveal()))
  const plan = await operation(kept)
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
  const result = await run.clock.runUntil(
    runOperation(plan, {
      operator,
      clock: run.clock,
      signal: new AbortController().signal,
      surroundings: async () => {
        const found = await process.engine.surroundings(run.estate, 'homelab', new AbortController().signal)
        assert.ok(found)
        return found
      },
      setHold: async (reason) => order(run, reason === undefined ? {} : { hold: { reason, allow: 'wait' } }),
      onStep: (step, _, state) => {
        if (state === 'done') journal.push(step.summary)
      },
    }),
    { maxMs: 3_600_000 },
  )
  process.kill()
  return { plan, journal, result }
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
