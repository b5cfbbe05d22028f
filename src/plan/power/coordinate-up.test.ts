import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPower } from '../../model/observed-power.ts'
import { NO_POWER_REQUESTS } from '../../model/power.ts'
import {
  clusterWith,
  decide,
  did,
  GONE,
  MARKED,
  node,
  observedWith,
  ordered,
  SERVERS,
  specWith,
  workload,
} from './testing/fixture.ts'

const UP: readonly [string, ObservedPower, readonly string[], string][] = [
  [
    'servers and workers start together',
    observedWith({
      cluster: clusterWith([node('s1', { power: 'off' }), node('a1', { power: 'off' })], [], {
        api: 'unknown',
        quorum: 'no',
      }),
    }),
    ['start-machine servers', 'start-machine workers'],
    'its majority and an answer',
  ],
  [
    'DNS answers before anything is freed',
    observedWith({
      cluster: clusterWith([node('s1', MARKED)], [workload('apps', 'web', GONE)], { dns: { up: 'no', message: '' } }),
    }),
    [],
    'DNS to answer',
  ],
  [
    'then storage',
    observedWith({
      cluster: clusterWith([node('s1', MARKED)], [workload('apps', 'web', GONE)], {
        storage: { up: 'no', message: '' },
      }),
    }),
    [],
    'storage to be healthy',
  ],
  [
    'a Node that only shows what it was is not freed',
    observedWith({ cluster: clusterWith([node('s1', { ...MARKED, back: false })], []) }),
    [],
    'the node to be Ready',
  ],
  [
    'then nodes are freed',
    observedWith({ cluster: clusterWith([node('s1', MARKED)], [workload('apps', 'web', GONE)]) }),
    ['unmark-node nodes'],
    'our mark to be gone',
  ],
  [
    'then workloads',
    observedWith({
      cluster: clusterWith([node('s1')], [workload('apps', 'web', GONE), workload('gitops', 'argo', GONE)]),
    }),
    ['restore apps'],
    'its pods to be ready',
  ],
]

for (const [name, observed, steps, awaits] of UP) {
  test(`[A43] up: ${name}`, () => {
    const decision = decide(specWith(), observed, ordered('on'))
    assert.deepEqual(
      decision.steps.map((step) => `${step.verb} ${step.tier}`),
      steps,
    )
    assert.equal(decision.waits[0]?.awaits ?? '', awaits)
    assert.equal(decision.holdsCluster, true)
  })
}

test('[A43] up: every kind of workload says what becomes of it', () => {
  const kinds = ['Deployment', 'StatefulSet', 'CronJob'] as const
  const observed = observedWith({
    cluster: clusterWith(
      [node('s1')],
      kinds.map((kind) => workload('apps', kind.toLowerCase(), { ...GONE, kind })),
    ),
  })
  assert.deepEqual(
    decide(specWith(), observed, ordered('on')).steps.map(({ summary }) => summary),
    [
      'take Deployment default/deployment back to 2',
      'take StatefulSet default/statefulset back to 2',
      'let CronJob default/cronjob go on',
    ],
  )
})

test('[A45] a cluster that is off on request stays off, whatever its machines are declared to be', () => {
  const off = SERVERS.map((name) => node(name, { power: 'off', k3s: 'stopped', kube: 'unknown' }))
  const observed = observedWith({
    cluster: clusterWith(off, [], { api: 'unknown', quorum: 'no', workloads: 'unknown', attachments: 'unknown' }),
  })
  const decision = decide(specWith(), observed)
  assert.equal(decision.phase, 'Off')
  assert.equal(decision.holdsCluster, true)
  assert.deepEqual(Object.values(decision.machines), ['off', 'off', 'off'])
})

test('[A45] at tier 3 the same operation is resumed from what is seen alone', () => {
  const half = [
    workload('gitops', 'argo', GONE),
    workload('operators', 'op', GONE),
    workload('apps', 'web', { ...GONE, pods: 1 }),
  ]
  const observed = observedWith({ cluster: clusterWith([node('s1')], [...half, workload('databases', 'db')]) })
  const decision = decide(specWith(), observed)
  assert.deepEqual(decision.steps, [])
  assert.deepEqual(
    decision.waits.map(({ what }) => what),
    ['default/web'],
  )
})

test('[A48] HA is armed again when the machines are on', () => {
  const observed = observedWith({
    cluster: clusterWith([node('s1')], []),
    ha: [{ connection: 'pve', armed: 'disarmed' }],
  })
  assert.deepEqual(did(specWith(), observed, ordered('on')), ['arm-ha ha'])
  // Armed earlier, HA would start guests in its own order.
  const early = { ...observed, machines: observed.machines.map((one) => ({ ...one, power: 'off' as const })) }
  assert.deepEqual(did(specWith(), early, ordered('on')), ['start-machine servers'])
})

for (const [name, checks, seen] of [
  ['has not answered yet', {}, undefined],
  ['fails', { 'dns-home': { passed: 'no', output: 'SERVFAIL' } }, 'SERVFAIL'],
] as const) {
  test(`[A43] [R29] a declared check that ${name} keeps workloads down, and says what it saw`, () => {
    const spec = specWith({ checks: { dns: ['dns-home'], storage: [] } })
    const cluster = clusterWith([node('s1', MARKED)], [workload('apps', 'web', GONE)])
    const { steps, waits } = decide(spec, observedWith({ cluster, checks }), ordered('on'))
    assert.deepEqual(steps, [])
    assert.deepEqual([waits[0]?.tier, waits[0]?.what, waits[0]?.seen], ['dns', 'the check dns-home', seen])
    const passed = observedWith({ cluster, checks: { 'dns-home': { passed: 'yes', output: '' } } })
    assert.deepEqual(did(spec, passed, ordered('on')), ['unmark-node nodes'])
  })
}

const DAYS = { timeZone: 'UTC', off: ['0 23 * * *'], on: ['0 1 * * *'], except: [] }

test('a schedule that says on does not hold a cluster that is only being made, or one that was never put down', () => {
  const spec = specWith({ schedule: DAYS })
  const fresh = { kube: 'absent', k3s: 'absent', podsToMove: 'unknown' } as const
  const unmade = { ...clusterWith([node('s1', fresh)], []), formed: false, api: 'no', quorum: 'no' } as const
  const growing = clusterWith([node('s1'), node('a1', fresh)], [])
  for (const cluster of [unmade, growing]) {
    const decision = decide(spec, observedWith({ cluster }), NO_POWER_REQUESTS)
    assert.deepEqual([decision.phase, decision.holdsCluster, decision.steps], ['On', false, []])
  }
})

test('a cluster whose servers were stopped is brought up, also when nobody remembers who stopped them', () => {
  const stopped = { kube: 'unknown', k3s: 'stopped', podsToMove: 'unknown' } as const
  const cluster = { ...clusterWith([node('s1', stopped)], []), api: 'no', quorum: 'no' } as const
  const decision = decide(specWith({ schedule: DAYS }), observedWith({ cluster }), NO_POWER_REQUESTS)
  assert.deepEqual([decision.phase, decision.steps[0]?.verb], ['PoweringOn', 'start-k3s'])
})

test('[A43] etcd is waited for however late it is, and nobody says that it goes on without it', () => {
  const cluster = clusterWith([node('s1', { k3s: 'stopped' })], [], { api: 'no', quorum: 'no' })
  const observed = observedWith({ cluster, waitedMs: { 'quorum etcd its majority and an answer': 3_600_000 } })
  const { waits, warnings, ended, phase } = decide(specWith(), observed, ordered('on'))
  assert.deepEqual([phase, ended, waits.map(({ afterwards }) => afterwards)], ['PoweringOn', undefined, ['wait']])
  assert.deepEqual(warnings, ['etcd: its majority and an answer was awaited for longer than 60 s; it is waited for'])
})
