import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Connection } from '../model/estate.ts'
import type { PlanEntry } from '../model/plan.ts'
import type { ThingIntention } from '../model/record.ts'
import type { Step } from '../model/step.ts'
import { admit } from './admit.ts'
import { CONNECTION, NOW, step } from './testing/fixture.ts'

function updating(key: string, next: Step): PlanEntry {
  return {
    key,
    uid: key,
    connection: 'default',
    type: 'vm',
    action: { do: 'update', externalId: key, changes: [], steps: [next], reason: '' },
  }
}

function flying(key: string, next: Step): ThingIntention {
  return {
    id: key,
    epoch: 1,
    key,
    uid: key,
    connection: 'default',
    externalId: key,
    host: 'alpha',
    step: next,
    generation: '',
    atMs: NOW,
    state: 'started',
  }
}

const connections = new Map([['default', CONNECTION]])
const queues = fc.record({
  host: fc.constantFrom('a', 'b'),
  storage: fc.constantFrom(undefined, 's', 't'),
  restart: fc.boolean(),
})

test('[A23] no queue ever holds more than its limit, and never two restarts at once', () => {
  const steps = fc.array(
    queues.map(({ host, storage, restart }) =>
      step('create', 'x', {
        queues: [`host/${host}`, ...(storage === undefined ? [] : [`storage/${host}/${storage}`])],
        disruption: restart ? 'restart' : 'none',
      }),
    ),
  )
  fc.assert(
    fc.property(steps, steps, fc.integer({ min: 0, max: 2 }), (planned, begun, unready) => {
      const entries = planned.map((next, i) => updating(`p${i}`, next))
      const intentions = begun.map((next, i) => flying(`f${i}`, next))
      const admitted = admit(entries, { intentions, connections, unready })
      for (const queue of new Set(planned.flatMap((one) => one.queues))) {
        const before = intentions.filter((one) => one.step.queues.includes(queue)).length
        const after = before + admitted.filter((one) => one.step.queues.includes(queue)).length
        const limit = queue.startsWith('storage/') ? 1 : 3
        assert.ok(after <= Math.max(limit, before))
      }
      const restarts = admitted.filter((one) => one.step.disruption === 'restart').length
      const flyingRestarts = intentions.filter((one) => one.step.disruption === 'restart').length
      assert.ok(restarts <= (unready > 0 || flyingRestarts > 0 ? 0 : 1))
    }),
  )
})

test('what is free to begin, begins', () => {
  const entries = [updating('a', step('configure', 'a')), updating('b', step('configure', 'b'))]
  assert.equal(admit(entries, { intentions: [], connections, unready: 0 }).length, 2)
})

test('a restart of a box waits until nothing else is done on it, and what could be done first is', () => {
  const on = (host: string, ...more: string[]) => step('configure', 'x', { queues: [`host/${host}`, ...more] })
  const restart = updating('restart', on('a', 'alone'))
  const keys = (entries: readonly PlanEntry[], intentions: readonly ThingIntention[] = []) =>
    admit(entries, { intentions, connections, unready: 0 }).map(({ entry }) => entry.key)
  assert.deepEqual(keys([restart, updating('file', on('a')), updating('other', on('b'))]), ['file', 'other'])
  assert.deepEqual(keys([restart], [flying('file', on('a'))]), [])
  assert.deepEqual(keys([restart, updating('other', on('b'))]), ['other', 'restart'])
})

test('[T-01] no more guests are made on one host at once than the connection says; other changes go on beside them', () => {
  const most = { ...CONNECTION, limits: { ...CONNECTION.limits, perHost: 32, perStorage: 32, creations: 3 } }
  const create = (id: string, host = 'alpha') => step('create', id, { host, queues: [`host/${host}`] })
  const start = (id: string) => step('start', id, { queues: ['host/alpha'] })
  const file = (key: string): PlanEntry => ({ ...updating(key, create(key)), type: 'file' })
  const ids = (entries: readonly PlanEntry[], intentions: readonly ThingIntention[], connection: Connection = most) =>
    admit(entries, { intentions, connections: new Map([['default', connection]]), unready: 0 }).map(
      ({ entry }) => entry.key,
    )
  const five = ['1', '2', '3', '4', '5'].map((key) => updating(key, create(key)))
  assert.deepEqual(ids(five, []), ['1', '2', '3'])
  assert.deepEqual(ids(five, [flying('4', create('4')), flying('5', create('5'))]), ['1'])
  assert.deepEqual(ids([...five, updating('6', create('6', 'beta'))], []), ['1', '2', '3', '6'], 'each host by itself')
  assert.deepEqual(ids([...five, updating('7', start('7')), file('8')], []), ['1', '2', '3', '7', '8'])
  assert.deepEqual(ids([...five, file('8')], [flying('8', create('8'))]), ['1', '2', '3', '8'], 'a file is no guest')
  const others = { ...CONNECTION, limits: { ...CONNECTION.limits, perHost: 32, perStorage: 32 } }
  assert.equal(ids(five, [], others).length, 5, 'not declared')
})
