import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPower } from '../../model/observed-power.ts'
import { coordinatePower } from './coordinate.ts'
import {
  clusterWith,
  decide,
  did,
  EMPTY,
  GONE,
  host,
  MARKED,
  NOW,
  node,
  observedWith,
  ordered,
  SERVERS,
  specWith,
  WORKLOADS,
  workload,
} from './testing/fixture.ts'

test('[A41] the plan lists the tiers in order, each with the evidence that is awaited', () => {
  const spec = specWith({ hosts: [host('pve1'), host('pve2')], infrastructure: ['Machine/gate'] })
  const nodes = [...SERVERS.map((name) => node(name, { host: 'pve1' })), node('a1', { host: 'pve1' })]
  const cluster = clusterWith(nodes, WORKLOADS)
  const base = observedWith({ cluster })
  const observed: ObservedPower = {
    ...base,
    machines: [
      ...base.machines,
      { key: 'Machine/gate', name: 'gate', role: 'infrastructure', host: 'pve2', power: 'on', exists: 'yes' },
    ],
    hosts: [
      { name: 'pve1', power: 'on', guests: EMPTY },
      { name: 'pve2', power: 'on', guests: EMPTY },
    ],
    ha: [{ connection: 'pve', armed: 'armed' }],
  }
  const { tiers, phase } = decide(spec, observed)
  assert.equal(phase, 'PoweringOff')
  assert.deepEqual(
    tiers.map(({ tier }) => tier),
    ['gitops', 'apps', 'databases', 'volumes', 'ha', 'workers', 'servers', 'hosts', 'infrastructure', 'last-hosts'],
  )
  assert.deepEqual(
    tiers.map(({ state }) => state),
    ['doing', 'todo', 'todo', 'done', 'todo', 'todo', 'todo', 'todo', 'todo', 'todo'],
  )
  for (const { tier, awaits } of tiers) assert.notEqual(awaits, '', tier)
})

const DOWN: readonly [string, ObservedPower, readonly string[]][] = [
  ['GitOps first', observedWith({ cluster: clusterWith([node('s1')], WORKLOADS) }), ['pause gitops']],
  [
    'what is going is waited for, and nothing else begins',
    observedWith({
      cluster: clusterWith([node('s1')], [workload('gitops', 'argo', { ...GONE, pods: 1 }), WORKLOADS[1] as never]),
    }),
    [],
  ],
  [
    'then applications',
    observedWith({ cluster: clusterWith([node('s1')], [workload('gitops', 'argo', GONE), ...WORKLOADS.slice(1)]) }),
    ['pause apps'],
  ],
  [
    'operators before what they bring back',
    observedWith({ cluster: clusterWith([node('s1')], [workload('apps', 'web'), workload('operators', 'op')]) }),
    ['pause operators'],
  ],
  [
    'while nobody can list the volumes, no node is touched',
    observedWith({ cluster: clusterWith([node('s1')], [], { attachments: 'unknown' }) }),
    [],
  ],
  [
    'what somebody scaled back up is taken down again',
    observedWith({ cluster: clusterWith([node('s1')], [workload('gitops', 'argo', { remembered: 2 })]) }),
    ['pause gitops'],
  ],
  [
    'volumes that hang on a node stop everything',
    observedWith({ cluster: clusterWith([node('s1')], [], { attachments: [{ name: 'va', node: 's1' }] }) }),
    [],
  ],
  [
    '[A48] HA is disarmed before anything stops',
    observedWith({ cluster: clusterWith([node('s1'), node('a1')], []), ha: [{ connection: 'pve', armed: 'armed' }] }),
    ['disarm-ha ha'],
  ],
  [
    'all nodes are marked at once',
    observedWith({ cluster: clusterWith([node('s1'), node('a1')], []) }),
    ['mark-node servers', 'mark-node workers'],
  ],
]

for (const [name, observed, steps] of DOWN) {
  test(`down: ${name}`, () => assert.deepEqual(did(specWith(), observed), steps))
}

test('down: workers are drained and stop before a server does', () => {
  const away = (more: object) =>
    observedWith({ cluster: clusterWith([node('s1', MARKED), node('a1', { ...MARKED, ...more })], []) })
  assert.deepEqual(did(specWith(), away({ podsToMove: 1 })), ['drain-node workers'])
  assert.deepEqual(did(specWith(), away({})), ['stop-k3s workers'])
  assert.deepEqual(did(specWith(), away({ k3s: 'stopped' })), ['stop-machine workers'])
  assert.deepEqual(did(specWith(), away({ k3s: 'stopped', power: 'off' })), ['stop-k3s servers'])
})

test('down: an API that is away for a moment is waited for; one whose majority is gone is not', () => {
  const away = (more: object) => {
    const nodes = SERVERS.map((name, at) => node(name, { kube: 'unknown', ...(at < 2 ? more : {}) }))
    const cluster = clusterWith(nodes, 'unknown' as never, { api: 'no', attachments: 'unknown' })
    return did(specWith(), observedWith({ cluster }))
  }
  assert.deepEqual(away({}), [])
  assert.deepEqual(away({ k3s: 'stopped', power: 'off' }), ['stop-k3s servers'])
})

test('down: a volume that hangs on a worker keeps that worker', () => {
  const cluster = clusterWith([node('s1', MARKED), node('a1', { ...MARKED, podsToMove: 1 })], [], {
    attachments: [{ name: 'va', node: 'a1' }],
  })
  assert.deepEqual(did(specWith(), observedWith({ cluster })), ['drain-node workers'])
  const drained = { ...cluster, nodes: [node('s1', MARKED), node('a1', MARKED)] }
  const decision = decide(specWith(), observedWith({ cluster: drained }))
  assert.deepEqual(decision.steps, [])
  assert.deepEqual(
    decision.waits.map(({ awaits }) => awaits),
    ['its VolumeAttachment to be gone'],
  )
})

for (const [choice, expected] of [
  ['wait', { steps: ['drain-node workers'], ended: undefined }],
  ['force', { steps: ['drain-node workers force'], ended: undefined }],
  ['abort', { steps: [], ended: 'aborted' }],
] as const) {
  test(`[A50] a node that does not drain in time: ${choice} is followed and recorded`, () => {
    const { deadlines } = specWith()
    const spec = specWith({ deadlines: { ...deadlines, drain: { afterMs: 60_000, choice } } })
    const nodes = [node('s1', MARKED), node('a1', { ...MARKED, podsToMove: 1, drainBlockedBy: 'a budget' })]
    const waits = (ms: number) => ({ 'workers a1 its pods to be gone': ms })
    const before = decide(spec, observedWith({ cluster: clusterWith(nodes, []), waitedMs: waits(59_999) }))
    assert.deepEqual(before.warnings, [])
    const after = decide(spec, observedWith({ cluster: clusterWith(nodes, []), waitedMs: waits(60_000) }))
    assert.deepEqual(
      after.steps.map((step) => `${step.verb} ${step.tier}${step.force === true ? ' force' : ''}`),
      expected.steps,
    )
    assert.equal(after.ended?.result, expected.ended)
    assert.match(
      [...after.warnings, after.ended?.reason ?? ''].join(),
      /a1: its pods to be gone was awaited for longer than 60 s/,
    )
  })
}

test('[A44] what was given up goes back: GitOps is resumed last', () => {
  const done = { sinceMs: NOW, state: 'off', result: 'aborted', reason: 'late' } as const
  const down = [workload('gitops', 'argo', GONE), workload('apps', 'web', GONE)]
  const back = (workloads: typeof down) =>
    coordinatePower(
      specWith(),
      observedWith({ cluster: clusterWith([node('s1')], workloads) }),
      ordered('off'),
      done,
      NOW,
    )
  assert.equal(back(down).wanted.state, 'on')
  assert.deepEqual(
    back(down).steps.map(({ verb, tier }) => `${verb} ${tier}`),
    ['restore apps'],
  )
  assert.deepEqual(back([down[0] as never, workload('apps', 'web', { ready: 1 })]).steps, [])
  const last = back([down[0] as never, workload('apps', 'web')])
  assert.deepEqual(
    last.steps.map(({ verb, tier }) => `${verb} ${tier}`),
    ['restore gitops'],
  )
})

test('hooks run before their tier, once, and one that fails stops everything', () => {
  const spec = specWith({ hooks: [{ name: 'flag', tier: 'apps', when: 'off', on: 'cow', run: ['true'] }] })
  const look = (hooks: ObservedPower['hooks']) =>
    decide(spec, observedWith({ cluster: clusterWith([node('s1')], [workload('apps', 'web')]), hooks }))
  assert.deepEqual(
    look({}).steps.map(({ verb }) => verb),
    ['run-hook'],
  )
  assert.deepEqual(
    look({ flag: { ok: true, output: '' } }).steps.map(({ verb }) => verb),
    ['pause'],
  )
  const failed = look({ flag: { ok: false, output: 'no' } })
  assert.equal(failed.phase, 'Held')
  assert.match(failed.holds[0]?.reason ?? '', /the hook flag failed: no/)
})

test('[A48] guests wait until HA is really disarmed; it is asked once', () => {
  const drained = { ...MARKED, podsToMove: 0, k3s: 'running' } as const
  const at = (armed: ObservedPower['ha'][number]['armed']) =>
    observedWith({ cluster: clusterWith([node('s1', drained)], []), ha: [{ connection: 'pve', armed }] })
  assert.deepEqual(did(specWith(), at('armed')), ['disarm-ha ha'])
  assert.deepEqual(did(specWith(), at('disarming')), [])
  assert.deepEqual(decide(specWith(), at('disarming')).waits[0]?.awaits, 'HA to be disarmed')
  assert.deepEqual(did(specWith(), at('disarmed')), ['stop-k3s servers'])
  assert.deepEqual(did(specWith({ ha: false }), at('armed')), ['stop-k3s servers'])
})
