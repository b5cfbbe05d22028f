import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { addonManifest } from './addon-manifests.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { formed, order, orderOf, powerManifest, untilPhase } from './power-run.ts'

function shop(replicas: number): string {
  const labels = { app: 'shop' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/shop:1' }] } }
  return addonManifest('shop', '  namespace: default', [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shop' },
      spec: { replicas, selector: { matchLabels: labels }, template },
    },
  ])
}

test('[A41] [A45] croft itself scales nothing back up that it keeps in a cluster which goes off, and keeps it again afterwards', async () => {
  const { simulation, process, cluster, hint } = await formed(19, '', { agents: ['a1'], manifests: shop(2) })
  const key = 'Addon/shop@Deployment.apps/default/shop'
  const replicas = () => all(cluster.store, 'apps/deployments').find(({ metadata }) => metadata.name === 'shop')?.spec
  assert.equal((replicas() as { replicas: number }).replicas, 2, hint)
  const wrong: string[] = []
  const onPass = ({ events }: PassReport) => {
    for (const event of events)
      if (event.key === key && ['Drift', 'FieldConflict', 'Stalled', 'Started', 'Done'].includes(event.reason))
        wrong.push(`${event.reason}: ${event.message}`)
  }
  for (const state of ['off', 'on'] as const) {
    await order(simulation, orderOf(simulation, state))
    const phase = state === 'off' ? 'Off' : 'On'
    assert.equal(await untilPhase(simulation, process, phase, { onPass }), 'reached', hint)
  }
  assert.deepEqual(wrong, [], hint)
  assert.equal((replicas() as { replicas: number }).replicas, 2, hint)

  // Replicas that a Power once wrote can still change in Git.
  simulation.estate = clusterEstate(clusterManifest({ agents: ['a1'] }) + shop(3) + powerManifest())
  assert.equal(await simulation.untilSettled(process), 'settled', hint)
  assert.equal((replicas() as { replicas: number }).replicas, 3, hint)
})
