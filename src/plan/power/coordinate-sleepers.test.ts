import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPower } from '../../model/observed-power.ts'
import { NO_POWER_REQUESTS } from '../../model/power.ts'
import { clusterWith, decide, MARKED, node, observedWith, ordered, SERVERS, specWith } from './testing/fixture.ts'

test('[A46] a node on demand: off is healthy, a pod that only it can run wakes it, idleness puts it to sleep', () => {
  const duck = (more: object) => node('duck', { onDemand: true, ...more })
  const look = (more: object, rest: Partial<ObservedPower> = {}, wanting = {}) =>
    decide(
      specWith(),
      observedWith({ cluster: clusterWith([node('s1'), duck(more)], [], { wanting }), ...rest }),
      NO_POWER_REQUESTS,
    )
  const asleep = look({ power: 'off', kube: 'not-ready', k3s: 'stopped', ...MARKED })
  assert.equal(asleep.phase, 'On')
  assert.deepEqual(asleep.asleep, ['duck'])
  assert.deepEqual(asleep.machines, { 'Machine/duck': 'off' })
  const woken = look({ power: 'off', kube: 'not-ready', k3s: 'stopped', ...MARKED }, {}, { duck: ['default/train'] })
  assert.deepEqual(
    woken.steps.map(({ verb, node: name }) => `${verb} ${name}`),
    ['start-machine duck'],
  )
  const idle = look({}, { waitedMs: { 'workers duck nothing to run': 599_999 } })
  assert.deepEqual(idle.steps, [])
  const sleepy = look({}, { waitedMs: { 'workers duck nothing to run': 600_000 } })
  assert.deepEqual(
    sleepy.steps.map(({ verb, node: name }) => `${verb} ${name}`),
    ['mark-node duck'],
  )
  const busy = look({ podsToMove: 1 }, { waitedMs: { 'workers duck nothing to run': 600_000 } })
  assert.deepEqual(busy.steps, [])
})

test('[A46] one that never joined is woken to join; one that is on its way to sleep is not freed with the others', () => {
  const steps = (duck: object, s1: object = {}) =>
    decide(
      specWith(),
      observedWith({ cluster: clusterWith([node('s1', s1), node('duck', { onDemand: true, ...duck })], []) }),
      ordered('on'),
    ).steps.map(({ verb, node: name }) => `${verb} ${name}`)
  assert.deepEqual(steps({ power: 'off', kube: 'absent', k3s: 'stopped' }), ['start-machine duck'])
  assert.deepEqual(steps(MARKED, MARKED), ['stop-k3s duck', 'unmark-node s1'])
})

test('[A46] [R26] a server never sleeps: it holds a vote', () => {
  const servers = SERVERS.map((name) => node(name, { onDemand: true }))
  const waitedMs = Object.fromEntries(SERVERS.map((name) => [`workers ${name} nothing to run`, 1e9]))
  const decision = decide(specWith(), observedWith({ cluster: clusterWith(servers, []), waitedMs }), NO_POWER_REQUESTS)
  assert.deepEqual(decision.steps, [])
  assert.equal(decision.refusals.length, 3)
})
