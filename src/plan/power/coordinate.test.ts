import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPower } from '../../model/observed-power.ts'
import { NO_POWER_ORDERS, type PowerOrders, type PowerSpec } from '../../model/power.ts'
import { coordinatePower } from './coordinate.ts'
import { clusterWith, host, NOW, node, observedWith, ordered, specWith, workload } from './testing/fixture.ts'

const SERVERS = ['s1', 's2', 's3']

function decide(spec: PowerSpec, observed: ObservedPower, orders: PowerOrders = ordered('off')) {
  return coordinatePower(spec, observed, orders, undefined, NOW)
}

function did(spec: PowerSpec, observed: ObservedPower, orders?: PowerOrders): readonly string[] {
  return decide(spec, observed, orders).steps.map((step) => `${step.do} ${step.tier}`)
}

const all = [workload('gitops', 'argo'), workload('apps', 'web'), workload('databases', 'db')]
const gone = { replicas: 0, pods: 0, ready: 0, remembered: 2 }

test('[A41] the plan lists the tiers in order, each with the evidence that is awaited', () => {
  const spec = specWith({ hosts: [host('pve1'), host('pve2')], infrastructure: ['Machine/gate'] })
  const nodes = [...SERVERS.map((name) => node(name, { host: 'pve1' })), node('a1', { host: 'pve1' })]
  const cluster = clusterWith(nodes, all)
  const base = observedWith({ cluster })
  const observed: ObservedPower = {
    ...base,
    machines: [
      ...base.machines,
      { key: 'Machine/gate', name: 'gate', role: 'infrastructure', host: 'pve2', power: 'on', exists: 'yes' },
    ],
    hosts: [
      { name: 'pve1', power: 'on', strangers: [] },
      { name: 'pve2', power: 'on', strangers: [] },
    ],
    ha: [{ connection: 'pve', armed: 'armed' }],
  }
  const { tiers, phase } = decide(spec, observed)
  assert.equal(phase, 'GoingOff')
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
  ['GitOps first', observedWith({ cluster: clusterWith([node('s1')], all) }), ['pause gitops']],
  [
    'what is going is waited for, and nothing else begins',
    observedWith({
      cluster: clusterWith([node('s1')], [workload('gitops', 'argo', { ...gone, pods: 1 }), all[1] as never]),
    }),
    [],
  ],
  [
    'then applications',
    observedWith({ cluster: clusterWith([node('s1')], [workload('gitops', 'argo', gone), ...all.slice(1)]) }),
    ['pause apps'],
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

const MARK = { sinceMs: NOW, cordoned: true, tainted: true }
const marked = { mark: MARK, unschedulable: true, tainted: true }

test('down: workers are drained and stop before a server does', () => {
  const away = (more: object) =>
    observedWith({ cluster: clusterWith([node('s1', marked), node('a1', { ...marked, ...more })], []) })
  assert.deepEqual(did(specWith(), away({ podsToMove: 1 })), ['drain-node workers'])
  assert.deepEqual(did(specWith(), away({})), ['stop-k3s workers'])
  assert.deepEqual(did(specWith(), away({ k3s: 'stopped' })), ['stop-machine workers'])
  assert.deepEqual(did(specWith(), away({ k3s: 'stopped', power: 'off' })), ['stop-k3s servers'])
})

test('down: a volume that hangs on a worker keeps that worker', () => {
  const cluster = clusterWith([node('s1', marked), node('a1', { ...marked, podsToMove: 1 })], [], {
    attachments: [{ name: 'va', node: 'a1' }],
  })
  assert.deepEqual(did(specWith(), observedWith({ cluster })), ['drain-node workers'])
  const drained = { ...cluster, nodes: [node('s1', marked), node('a1', marked)] }
  const decision = decide(specWith(), observedWith({ cluster: drained }))
  assert.deepEqual(decision.steps, [])
  assert.deepEqual(
    decision.waits.map(({ awaits }) => awaits),
    ['its VolumeAttachment to be gone'],
  )
})

test('[A42] people, backups, jobs and holds that somebody set hold it, and say who and since when', () => {
  const sinceMs = NOW - 600_000
  const observed = observedWith({
    cluster: clusterWith([node('s1')], all),
    holds: [
      { kind: 'person', who: 'tapas (from 10.0.0.9)', where: 's1', sinceMs, idleMs: 60_000 },
      { kind: 'backup', who: 'db', where: 'data', sinceMs },
      { kind: 'job', who: 'import', where: 'default', sinceMs },
    ],
  })
  const orders = { ...ordered('off'), holds: [{ by: 'ana', why: 'demo', sinceMs, untilMs: NOW + 60_000 }] }
  const { holds, steps, phase } = decide(specWith(), observed, orders)
  assert.equal(phase, 'Held')
  assert.deepEqual(steps, [])
  assert.deepEqual(
    holds.map(({ guard }) => guard),
    ['hold', 'person', 'backup', 'job'],
  )
  assert.match(holds[1]?.reason ?? '', /tapas \(from 10\.0\.0\.9\) is logged in on s1 since 2025-10-09 08:43 UTC/)
  assert.match(holds[0]?.reason ?? '', /ana holds it since .* until .*: demo/)
  for (const { allow } of holds) assert.notEqual(allow, '')
})

test('[A42] a stale hold expires: somebody who went home, a job that hangs', () => {
  const observed = observedWith({
    cluster: clusterWith([node('s1')], all),
    holds: [
      { kind: 'person', who: 'tapas', where: 's1', sinceMs: NOW - 9e7, idleMs: 3_600_000 },
      { kind: 'job', who: 'import', where: 'default', sinceMs: NOW - 86_400_000 },
    ],
  })
  assert.deepEqual(did(specWith(), observed), ['pause gitops'])
  const ignoring = ordered('off', { ignoreHolds: true })
  const busy = observedWith({ ...observed, holds: [{ kind: 'backup', who: 'db', where: 'data' }] })
  assert.deepEqual(did(specWith(), busy), [])
  assert.deepEqual(did(specWith(), busy, ignoring), ['pause gitops'])
})

for (const [choice, expected] of [
  ['wait', { steps: ['drain-node workers'], ended: undefined }],
  ['force', { steps: ['drain-node workers force'], ended: undefined }],
  ['abort', { steps: [], ended: 'aborted' }],
] as const) {
  test(`[A50] a node that does not drain in time: ${choice} is followed and recorded`, () => {
    const { deadlines } = specWith()
    const spec = specWith({ deadlines: { ...deadlines, drain: { afterMs: 60_000, choice } } })
    const nodes = [node('s1', marked), node('a1', { ...marked, podsToMove: 1, drainBlockedBy: 'a budget' })]
    const waits = (ms: number) => ({ 'workers a1 its pods to be gone': ms })
    const before = decide(spec, observedWith({ cluster: clusterWith(nodes, []), waitedMs: waits(59_999) }))
    assert.deepEqual(before.warnings, [])
    const after = decide(spec, observedWith({ cluster: clusterWith(nodes, []), waitedMs: waits(60_000) }))
    assert.deepEqual(
      after.steps.map((step) => `${step.do} ${step.tier}${step.force === true ? ' force' : ''}`),
      expected.steps,
    )
    assert.equal(after.ended?.result, expected.ended)
    assert.match([...after.warnings, after.ended?.reason ?? ''].join(), /a1: its pods to be gone was awaited for 60 s/)
  })
}

test('[A44] what was given up goes back: GitOps is resumed last', () => {
  const done = { sinceMs: NOW, state: 'off', result: 'aborted', reason: 'late' } as const
  const down = [workload('gitops', 'argo', gone), workload('apps', 'web', gone)]
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
    back(down).steps.map(({ do: verb, tier }) => `${verb} ${tier}`),
    ['restore apps'],
  )
  assert.deepEqual(back([down[0] as never, workload('apps', 'web', { ready: 1 })]).steps, [])
  const last = back([down[0] as never, workload('apps', 'web')])
  assert.deepEqual(
    last.steps.map(({ do: verb, tier }) => `${verb} ${tier}`),
    ['restore gitops'],
  )
})

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
      cluster: clusterWith([node('s1', marked)], [workload('apps', 'web', gone)], { dns: { up: 'no', message: '' } }),
    }),
    [],
    'DNS to answer',
  ],
  [
    'then storage',
    observedWith({
      cluster: clusterWith([node('s1', marked)], [workload('apps', 'web', gone)], {
        storage: { up: 'no', message: '' },
      }),
    }),
    [],
    'storage to be healthy',
  ],
  [
    'a Node that only shows what it was is not freed',
    observedWith({ cluster: clusterWith([node('s1', { ...marked, back: false })], []) }),
    [],
    'the node to be Ready',
  ],
  [
    'then nodes are freed',
    observedWith({ cluster: clusterWith([node('s1', marked)], [workload('apps', 'web', gone)]) }),
    ['unmark-node nodes'],
    '',
  ],
  [
    'then workloads',
    observedWith({
      cluster: clusterWith([node('s1')], [workload('apps', 'web', gone), workload('gitops', 'argo', gone)]),
    }),
    ['restore apps'],
    '',
  ],
]

for (const [name, observed, steps, awaits] of UP) {
  test(`[A43] up: ${name}`, () => {
    const decision = decide(specWith(), observed, ordered('on'))
    assert.deepEqual(
      decision.steps.map((step) => `${step.do} ${step.tier}`),
      steps,
    )
    assert.equal(decision.waits[0]?.awaits ?? '', awaits)
    assert.equal(decision.holdsCluster, true)
  })
}

test('[A45] a cluster that is off by order stays off, whatever its machines are declared to be', () => {
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
    workload('gitops', 'argo', gone),
    workload('operators', 'op', gone),
    workload('apps', 'web', { ...gone, pods: 1 }),
  ]
  const observed = observedWith({ cluster: clusterWith([node('s1')], [...half, workload('databases', 'db')]) })
  const decision = decide(specWith(), observed)
  assert.deepEqual(decision.steps, [])
  assert.deepEqual(
    decision.waits.map(({ what }) => what),
    ['default/web'],
  )
})

test('[A46] a node on demand: off is healthy, a pod that only it can run wakes it, idleness puts it to sleep', () => {
  const duck = (more: object) => node('duck', { onDemand: true, ...more })
  const look = (more: object, rest: Partial<ObservedPower> = {}, wanting = {}) =>
    decide(
      specWith(),
      observedWith({ cluster: clusterWith([node('s1'), duck(more)], [], { wanting }), ...rest }),
      NO_POWER_ORDERS,
    )
  const asleep = look({ power: 'off', kube: 'not-ready', k3s: 'stopped', ...marked })
  assert.equal(asleep.phase, 'On')
  assert.deepEqual(asleep.asleep, ['duck'])
  assert.deepEqual(asleep.machines, { 'Machine/duck': 'off' })
  const woken = look({ power: 'off', kube: 'not-ready', k3s: 'stopped', ...marked }, {}, { duck: ['default/train'] })
  assert.deepEqual(
    woken.steps.map(({ do: verb, node: name }) => `${verb} ${name}`),
    ['start-machine duck'],
  )
  const idle = look({}, { waitedMs: { 'workers duck nothing to run': 599_999 } })
  assert.deepEqual(idle.steps, [])
  const sleepy = look({}, { waitedMs: { 'workers duck nothing to run': 600_000 } })
  assert.deepEqual(
    sleepy.steps.map(({ do: verb, node: name }) => `${verb} ${name}`),
    ['mark-node duck'],
  )
  const busy = look({ podsToMove: 1 }, { waitedMs: { 'workers duck nothing to run': 600_000 } })
  assert.deepEqual(busy.steps, [])
})

test('[A46] [R26] a server never sleeps: it holds a vote', () => {
  const servers = SERVERS.map((name) => node(name, { onDemand: true }))
  const waitedMs = Object.fromEntries(SERVERS.map((name) => [`workers ${name} nothing to run`, 1e9]))
  const decision = decide(specWith(), observedWith({ cluster: clusterWith(servers, []), waitedMs }), NO_POWER_ORDERS)
  assert.deepEqual(decision.steps, [])
  assert.equal(decision.refusals.length, 3)
})

test('[A47] [R46] the UPS takes hosts off level by level, and mains bring them back', () => {
  const spec = specWith({
    hosts: [host('one', { level: 1 }), host('two', { level: 2 }), host('three', { level: 3 })],
    ups: {
      name: 'rack@nut',
      levels: [
        { below: 40, level: 1 },
        { below: 20, level: 2 },
        { below: 10, level: 9 },
      ],
    },
  })
  const look = (charge: number, onBattery: boolean, off: readonly string[] = []) => {
    const nodes = ['one', 'two', 'three'].map((name, at) =>
      node(`a${at}`, off.includes(name) ? { host: name, power: 'off', kube: 'not-ready', ...marked } : { host: name }),
    )
    return decide(
      spec,
      observedWith({
        cluster: clusterWith([...SERVERS.map((name) => node(name)), ...nodes], []),
        hosts: ['one', 'two', 'three'].map((name) => ({
          name,
          power: off.includes(name) ? 'off' : 'on',
          strangers: [],
        })),
        ups: { onBattery, charge, low: false },
      }),
      NO_POWER_ORDERS,
    )
  }
  const marking = (decision: ReturnType<typeof look>) =>
    decision.steps.flatMap((step) => (step.do === 'mark-node' ? [step.node] : []))
  assert.deepEqual(marking(look(41, true)), [])
  assert.deepEqual(marking(look(39, true)), ['a0'])
  assert.deepEqual(marking(look(19, true, ['one'])), ['a1'])
  assert.deepEqual(look(9, true).wanted.state, 'off')
  assert.deepEqual(marking(look(39, false)), [])
  const returned = look(25, false, ['one'])
  assert.deepEqual(
    returned.steps.map(({ do: verb, host: name }) => `${verb} ${name}`),
    ['wake-host one'],
  )
  // While the battery feeds, a charge that wavers wakes nobody.
  assert.deepEqual(look(45, true, ['one']).steps, [])
})

test('a host with most servers on it takes the cluster down in order, and not its majority by surprise', () => {
  const spec = specWith({
    hosts: [host('one', { level: 1 }), host('two', { level: 2 })],
    ups: { name: 'rack@nut', levels: [{ below: 40, level: 1 }] },
  })
  const nodes = SERVERS.map((name, at) => node(name, { host: at < 2 ? 'one' : 'two' }))
  const observed = observedWith({
    cluster: clusterWith(nodes, all),
    hosts: ['one', 'two'].map((name) => ({ name, power: 'on', strangers: [] })),
    ups: { onBattery: true, charge: 30, low: false },
  })
  assert.deepEqual(did(spec, observed, NO_POWER_ORDERS), ['pause gitops'])
})

test('[A48] HA is armed again when the machines are on', () => {
  const observed = observedWith({
    cluster: clusterWith([node('s1')], []),
    ha: [{ connection: 'pve', armed: 'disarmed' }],
  })
  assert.deepEqual(did(specWith(), observed, ordered('on')), ['arm-ha ha'])
})

test('[A49] infrastructure stops last and starts first', () => {
  const spec = specWith({ hosts: [host('pve1'), host('pve2')], infrastructure: ['Machine/gate'] })
  const look = (gate: 'on' | 'off', pve1: 'on' | 'off', s1: 'on' | 'off', state: 'on' | 'off') => {
    const cluster = clusterWith([node('s1', { host: 'pve1', power: s1, kube: 'unknown', k3s: 'stopped' })], [], {
      api: 'unknown',
      quorum: 'no',
    })
    const base = observedWith({ cluster })
    return decide(
      spec,
      {
        ...base,
        machines: [
          ...base.machines,
          { key: 'Machine/gate', name: 'gate', role: 'infrastructure', host: 'pve2', power: gate, exists: 'yes' },
        ],
        hosts: [
          { name: 'pve1', power: pve1, strangers: [] },
          { name: 'pve2', power: 'on', strangers: [] },
        ],
      },
      ordered(state),
    )
  }
  const verbs = (decision: ReturnType<typeof look>) =>
    decision.steps.map((step) => `${step.do} ${step.machine ?? step.host ?? step.node}`)
  assert.deepEqual(verbs(look('on', 'on', 'off', 'off')), ['stop-host pve1'])
  assert.deepEqual(verbs(look('on', 'off', 'off', 'off')), ['stop-machine Machine/gate'])
  assert.deepEqual(verbs(look('off', 'off', 'off', 'off')), ['stop-host pve2'])
  const up = look('off', 'on', 'off', 'on')
  assert.deepEqual(verbs(up), ['start-machine Machine/gate'])
  assert.equal(up.machines['Machine/s1'], 'leave')
  assert.deepEqual(verbs(look('on', 'on', 'off', 'on')), ['start-machine Machine/s1'])
})

test('a guest that nobody declared holds its host', () => {
  const spec = specWith({ hosts: [host('pve1')] })
  const off = [node('s1', { host: 'pve1', power: 'off', kube: 'unknown', k3s: 'stopped' })]
  const observed = observedWith({
    cluster: clusterWith(off, [], { api: 'unknown', quorum: 'no' }),
    hosts: [{ name: 'pve1', power: 'on', strangers: ['105 (old)'] }],
  })
  const decision = decide(spec, observed)
  assert.equal(decision.phase, 'Held')
  assert.match(decision.holds[0]?.reason ?? '', /105 \(old\) run on pve1/)
  assert.deepEqual(did({ ...spec, strangers: 'shutdown' }, observed), ['stop-host hosts'])
})

test('the host that croft runs on goes after all others, by itself', () => {
  const spec = specWith({ hosts: [host('pve1'), host('own', { own: true })] })
  const look = (pve1: 'on' | 'off') =>
    decide(
      spec,
      observedWith({
        cluster: clusterWith([], []),
        hosts: [
          { name: 'pve1', power: pve1, strangers: [] },
          { name: 'own', power: 'on', strangers: [] },
        ],
      }),
    )
  assert.deepEqual(
    look('on').steps.map(({ host: name }) => name),
    ['pve1'],
  )
  assert.deepEqual(
    look('off').steps.map(({ host: name, lane }) => `${name} ${lane}`),
    ['own local'],
  )
})

test('hooks run before their tier, once, and one that fails stops everything', () => {
  const spec = specWith({ hooks: [{ name: 'flag', tier: 'apps', when: 'off', on: 'cow', run: ['true'] }] })
  const look = (hooks: ObservedPower['hooks']) =>
    decide(spec, observedWith({ cluster: clusterWith([node('s1')], [workload('apps', 'web')]), hooks }))
  assert.deepEqual(
    look({}).steps.map(({ do: verb }) => verb),
    ['run-hook'],
  )
  assert.deepEqual(
    look({ flag: { ok: true, output: '' } }).steps.map(({ do: verb }) => verb),
    ['pause'],
  )
  const failed = look({ flag: { ok: false, output: 'no' } })
  assert.equal(failed.phase, 'Held')
  assert.match(failed.holds[0]?.reason ?? '', /the hook flag failed: no/)
})
