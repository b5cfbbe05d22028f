import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPower, PowerNode, UpsReading } from '../../model/observed-power.ts'
import { NO_POWER_REQUESTS, type PowerRequests } from '../../model/power.ts'
import {
  clusterWith,
  decide,
  did,
  EMPTY,
  host,
  MARKED,
  NOW,
  node,
  observedWith,
  ordered,
  SERVERS,
  specWith,
  WORKLOADS,
} from './testing/fixture.ts'

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
      wakeAbove: 20,
    },
  })
  const look = (charge: number, onBattery: boolean, off: readonly string[] = []) => {
    const nodes = ['one', 'two', 'three'].map((name, at) =>
      node(`a${at}`, off.includes(name) ? { host: name, power: 'off', kube: 'not-ready', ...MARKED } : { host: name }),
    )
    return decide(
      spec,
      observedWith({
        cluster: clusterWith([...SERVERS.map((name) => node(name)), ...nodes], []),
        hosts: ['one', 'two', 'three'].map((name) => ({
          name,
          power: off.includes(name) ? 'off' : 'on',
          guests: EMPTY,
        })),
        ups: { 'rack@nut': { onBattery, charge, low: false } },
      }),
      NO_POWER_REQUESTS,
    )
  }
  const marking = (decision: ReturnType<typeof look>) =>
    decision.steps.flatMap((step) => (step.verb === 'mark-node' ? [step.node] : []))
  assert.deepEqual(marking(look(41, true)), [])
  assert.deepEqual(marking(look(39, true)), ['a0'])
  assert.deepEqual(marking(look(19, true, ['one'])), ['a1'])
  assert.deepEqual(look(9, true).wanted.state, 'off')
  assert.deepEqual(marking(look(39, false)), [])
  const returned = look(25, false, ['one'])
  assert.deepEqual(
    returned.steps.map(({ verb, host: name }) => `${verb} ${name}`),
    ['wake-host one'],
  )
  // While the UPS is on battery, a wavering charge starts no host.
  assert.deepEqual(look(45, true, ['one']).steps, [])
})

test('a host with most servers on it takes the cluster down in order, and not its majority by surprise', () => {
  const spec = specWith({
    hosts: [host('one', { level: 1 }), host('two', { level: 2 })],
    ups: { name: 'rack@nut', levels: [{ below: 40, level: 1 }], wakeAbove: 30 },
  })
  const nodes = SERVERS.map((name, at) => node(name, { host: at < 2 ? 'one' : 'two' }))
  const observed = observedWith({
    cluster: clusterWith(nodes, WORKLOADS),
    hosts: ['one', 'two'].map((name) => ({ name, power: 'on', guests: EMPTY })),
    ups: { 'rack@nut': { onBattery: true, charge: 30, low: false } },
  })
  assert.deepEqual(did(spec, observed, NO_POWER_REQUESTS), ['pause gitops'])
})

const BATTERY = specWith({
  hosts: [host('one', { level: 1 }), host('two', { level: 2 })],
  ups: { name: 'rack@nut', levels: [{ below: 40, level: 1 }], wakeAbove: 30 },
})

/** Three servers on the last host, a worker on the first to go off, and a hold of a person. */
function onBattery(ups: Partial<UpsReading>, more: Partial<ObservedPower> = {}, a1: Partial<PowerNode> = {}) {
  const servers = SERVERS.map((name) => node(name, { host: 'two' }))
  return observedWith({
    cluster: clusterWith([...servers, node('a1', { host: 'one', ...a1 })], WORKLOADS),
    hosts: ['one', 'two'].map((name) => ({ name, power: 'on', guests: EMPTY })),
    ups: { 'rack@nut': { onBattery: true, charge: 50, low: false, ...ups } },
    ...more,
  })
}

const HOLD = { by: 'ana', why: 'demo', sinceMs: NOW, untilMs: NOW + 1_000 }

test('[A47] a battery that runs out waits for nobody who holds it, also in the middle of a power-off', () => {
  const held = { ...ordered('off'), holds: [HOLD] }
  assert.deepEqual(did(BATTERY, onBattery({}), held), [])
  // A hold does not stop the hosts of the battery's level, but everything else.
  assert.deepEqual(decide(BATTERY, onBattery({ charge: 30 }), held).phase, 'Held')
  assert.deepEqual(did(BATTERY, onBattery({ charge: 30 }), held), ['mark-node workers'])
  assert.deepEqual(did(BATTERY, onBattery({ low: true }), held), ['pause gitops'])
  assert.deepEqual(did(BATTERY, onBattery({ low: true }), { holds: [HOLD] }), ['pause gitops'])
})

test('[A47] a host without a node takes its machine along, alone: no hook of nodes runs for it', () => {
  const machine = { key: 'Machine/nas', name: 'nas', role: 'machine', host: 'one', power: 'on', exists: 'yes' } as const
  const hook = { when: 'off', on: 'cow', run: ['true'] } as const
  const hooks = (['workers', 'servers', 'machines'] as const).map((tier) => ({ ...hook, name: `of-${tier}`, tier }))
  const observed = observedWith({
    machines: [machine],
    hosts: ['one', 'two'].map((name) => ({ name, power: 'on', guests: EMPTY })),
    ups: { 'rack@nut': { onBattery: true, charge: 30, low: false } },
  })
  assert.deepEqual(did(BATTERY, observed, NO_POWER_REQUESTS), ['stop-machine machines'])
  const { steps } = decide({ ...BATTERY, hooks }, observed, ordered('on'))
  assert.deepEqual(
    steps.map(({ verb, hook: name }) => `${verb} ${name}`),
    ['run-hook of-machines'],
  )
  const gone = { ...observed, machines: [{ ...machine, power: 'off' } as const] }
  assert.deepEqual(did(BATTERY, gone, NO_POWER_REQUESTS), ['stop-host hosts'])
})

test('[A47] [A50] on battery a deadline that is over forces, whatever is declared, and never goes back', () => {
  const { deadlines } = specWith()
  const late = { waitedMs: { 'workers a1 its pods to be gone': 60_000 } }
  for (const choice of ['wait', 'abort'] as const) {
    const spec = { ...BATTERY, deadlines: { ...deadlines, drain: { afterMs: 60_000, choice } } }
    const { steps, ended } = decide(
      spec,
      onBattery({ charge: 30 }, late, { ...MARKED, podsToMove: 1 }),
      NO_POWER_REQUESTS,
    )
    assert.deepEqual(
      steps.map(({ verb, force }) => `${verb} ${force}`),
      ['drain-node true'],
    )
    assert.equal(ended, undefined)
  }
})

test('[A47] a volume keeps a worker whose host the battery takes, and a node that is to stay off is not freed', () => {
  const volume = onBattery({ charge: 30 }, {}, MARKED)
  const hanging = { ...volume, cluster: { ...volume.cluster, attachments: [{ name: 'va', node: 'a1' }] } }
  assert.deepEqual(did(BATTERY, hanging as ObservedPower, NO_POWER_REQUESTS), [])
  assert.deepEqual(did(BATTERY, volume, NO_POWER_REQUESTS), ['stop-k3s workers'])
})

test('[A47] a UPS that falls silent on battery wakes nobody, unless a person says on after that', () => {
  const off = { hosts: (['one', 'two'] as const).map((name) => ({ name, power: 'off' as const, guests: EMPTY })) }
  const silent = onBattery({ silentSinceMs: NOW }, off)
  const woken = (requests: PowerRequests) =>
    decide(BATTERY, silent, requests).steps.filter(({ verb }) => verb === 'wake-host').length
  assert.equal(woken(NO_POWER_REQUESTS), 0)
  assert.equal(woken(ordered('on', { atMs: NOW - 1 })), 0)
  assert.equal(woken(ordered('on', { atMs: NOW + 1 })), 2)
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
          { name: 'pve1', power: pve1, guests: EMPTY },
          { name: 'pve2', power: 'on', guests: EMPTY },
        ],
      },
      ordered(state),
    )
  }
  const verbs = (decision: ReturnType<typeof look>) =>
    decision.steps.map((step) => `${step.verb} ${step.machine ?? step.host ?? step.node}`)
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
    hosts: [{ name: 'pve1', power: 'on', guests: { ...EMPTY, undeclared: ['105 (old)'] } }],
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
          { name: 'pve1', power: pve1, guests: EMPTY },
          { name: 'own', power: 'on', guests: EMPTY },
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

test('the host that croft runs on goes after the one that carries the infrastructure', () => {
  const spec = specWith({ hosts: [host('gate'), host('own', { own: true })], infrastructure: ['Machine/gw'] })
  const look = (gate: 'on' | 'off') =>
    decide(
      spec,
      observedWith({
        cluster: clusterWith([], []),
        machines: [
          { key: 'Machine/gw', name: 'gw', role: 'infrastructure', host: 'gate', power: 'off', exists: 'yes' },
        ],
        hosts: [
          { name: 'gate', power: gate, guests: EMPTY },
          { name: 'own', power: 'on', guests: EMPTY },
        ],
      }),
    ).steps.map(({ host: name }) => name)
  assert.deepEqual(look('on'), ['gate'])
  assert.deepEqual(look('off'), ['own'])
})

const BMC = { address: '192.168.4.3', port: 443, user: 'root', password: { from: 'env', name: 'X' } } as const

for (const [choice, bmc, waitedMs, steps, warned] of [
  ['wait', true, 3_600_000, ['stop-host box'], true],
  ['force', true, 59_000, ['stop-host box'], false],
  ['force', true, 60_000, ['stop-host box force'], true],
  // Forcing it is useless too: the rest continues without it.
  ['force', true, 120_000, ['stop-host box force', 'stop-host last'], true],
  ['force', false, 60_000, ['stop-host box', 'stop-host last'], true],
] as const) {
  test(`[A50] a host${bmc ? ' with a management controller' : ''} that is still on after ${waitedMs} ms, ${choice}: ${steps.join(', ')}`, () => {
    const { deadlines } = specWith()
    const spec = specWith({
      hosts: [host('box', bmc ? { bmc: BMC as never } : {}), host('last', { own: true })],
      deadlines: { ...deadlines, stop: { afterMs: 60_000, choice } },
    })
    const observed = observedWith({
      hosts: ['box', 'last'].map((name) => ({ name, power: 'on', guests: EMPTY })),
      waitedMs: { 'hosts box the host to be off': waitedMs },
    })
    const { steps: found, warnings } = decide(spec, observed)
    assert.deepEqual(
      found.map((step) => `${step.verb} ${step.host}${step.force === true ? ' force' : ''}`),
      steps,
    )
    assert.equal(warnings.length > 0, warned)
  })
}
