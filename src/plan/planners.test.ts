import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { atOnce } from '../lib/in-turns.ts'
import { DEFAULT_POLICY, type Policy } from '../model/declaration.ts'
import type { ClusterDeclaration } from '../model/estate.ts'
import type { ClusterInput } from '../model/observed-cluster.ts'
import type { PowerInput } from '../model/observed-power.ts'
import { guestIn } from '../model/resource.ts'
import { clusterSpec, FRESH, NOW, observedCluster } from './clusters/testing/fixture.ts'
import { plan, planWhole } from './plan.ts'
import { clusterWith, node, observedWith, ordered, specWith, workload } from './power/testing/fixture.ts'
import { estateOf, ledgerWith, machine } from './testing/fixture.ts'

const ORIGIN = { file: 'cluster.yaml', line: 1, column: 1 }
const PAUSED: Policy = { ...DEFAULT_POLICY, paused: true }

/** A cluster with one due step: an agent joins. */
function clusterInput(policy: Policy, name = 'homelab'): ClusterInput {
  const spec = { ...clusterSpec('s1 a1'), name }
  const declaration = { key: `Cluster/${name}`, name, estate: 'lab', spec, policy, origin: ORIGIN, generation: '1' }
  return {
    declaration: { ...declaration, artifacts: [], hosts: new Map() } satisfies ClusterDeclaration,
    observed: observedCluster('s1 a1', { a1: FRESH }),
  }
}

/** A Power that is ordered off while its workloads still run. */
function powerInput(policy: Policy, observed = observedWith({ cluster: RUNNING })): PowerInput {
  const declaration = { key: 'Power/site', name: 'site', spec: specWith(), policy, origin: ORIGIN, generation: '1' }
  return { declaration, observed, requests: ordered('off'), atMs: NOW }
}

const RUNNING = clusterWith([node('s1')], [workload('apps', 'web')])
const input = { estate: estateOf([]), worlds: new Map(), ledger: ledgerWith(), rules: new Map(), nowMs: NOW }

describe('the guards see what coordinators would do', () => {
  test('a paused cluster takes no step, and the plan says why', () => {
    const [free] = plan({ ...input, clusters: [clusterInput(DEFAULT_POLICY)] }).clusters ?? []
    assert.ok((free?.decision.steps.length ?? 0) > 0, 'it has something to do')
    const [paused] = plan({ ...input, clusters: [clusterInput(PAUSED)] }).clusters ?? []
    assert.deepEqual(paused?.decision.steps, [])
    assert.deepEqual(paused?.decision.holds.at(-1), {
      guard: 'paused',
      reason: 'Cluster/homelab is paused',
      allow: 'remove the annotation crossplane.io/paused (or croft.dev/paused)',
    })
  })

  test('a paused Power takes no step, and nobody switches its machines', () => {
    const [free] = plan({ ...input, powers: [powerInput(DEFAULT_POLICY)] }).powers ?? []
    assert.ok((free?.decision.steps.length ?? 0) > 0, 'it has something to do')
    const [paused] = plan({ ...input, powers: [powerInput(PAUSED)] }).powers ?? []
    assert.deepEqual(paused?.decision.steps, [])
    assert.equal(paused?.decision.phase, 'Held')
    assert.equal(paused?.decision.holds.at(-1)?.guard, 'paused')
    assert.ok(Object.values(paused?.decision.machines ?? {}).every((order) => order === 'leave'))
  })

  test('what is only observed is not written to either', () => {
    const [look] = plan({ ...input, clusters: [clusterInput({ ...DEFAULT_POLICY, manage: 'observe' })] }).clusters ?? []
    assert.deepEqual(look?.decision.steps, [])
    assert.equal(look?.decision.holds.at(-1)?.guard, 'observe-only')
  })
})

describe('each planner goes by the parts before it', () => {
  test('a cluster stands still while its Power goes off; another one does not', () => {
    const clusters = [clusterInput(DEFAULT_POLICY), clusterInput(DEFAULT_POLICY, 'edge')]
    const looks = plan({ ...input, clusters, powers: [powerInput(DEFAULT_POLICY)] }).clusters ?? []
    assert.deepEqual(
      looks.map(({ decision }) => decision.steps.length > 0),
      [false, true],
    )
    assert.match(looks[0]?.decision.holds[0]?.reason ?? '', /^Power\/site is powering off/)
  })

  test('a machine that a Power switches off is declared so to the planner of things, not while the Power is paused', () => {
    const web = machine('web')
    const { cluster: _, ...spec } = specWith({ machines: [web.key] })
    const powerOf = (policy: Policy) => {
      const seen = { key: web.key, name: 'web', role: 'machine', power: 'on', exists: 'yes' } as const
      const { declaration, ...rest } = powerInput(policy, observedWith({ machines: [seen] }))
      const powers = [{ ...rest, declaration: { ...declaration, spec } }]
      const { estate } = atOnce(planWhole({ ...input, estate: estateOf([web]), powers }))
      return estate.resources.map(({ desired }) => guestIn(desired)?.power)
    }
    assert.deepEqual(powerOf(DEFAULT_POLICY), ['stopped'])
    assert.deepEqual(powerOf(PAUSED), [undefined])
  })
})
