import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneApi } from '../../sim/testing/kubernetes-lab.ts'
import { createKubernetesClient } from '../kubernetes/client.ts'
import { acquireLease, isFree } from './lease.ts'

test('one holds the Lease; a dead holder is replaced within 15 s, also by a replica whose clock is 10 minutes off', async () => {
  const { lab, wire } = await oneApi()
  const { clock } = lab
  const none = new AbortController().signal
  const as = (holder: string, offMs = 0) => ({
    client: createKubernetesClient(wire()),
    clock: { ...clock, now: () => clock.now() + offMs },
    namespace: 'default',
    name: 'croft-operator',
    holder,
  })
  const first = await clock.runUntil(acquireLease(as('one'), none))
  assert.ok(first)
  const dies = new AbortController()
  const keeping = first.keep(dies.signal)
  let second: unknown
  const waiting = acquireLease(as('two', -600_000), none).then((held) => {
    second = held
    return held
  })
  await lab.pass(60_000)
  assert.equal(second, undefined, 'a holder that renews keeps it')
  dies.abort()
  await clock.runUntil(keeping)
  const diedMs = clock.now()
  const held = await clock.runUntil(waiting)
  assert.ok(clock.now() - diedMs <= 15_000, `${clock.now() - diedMs}`)
  assert.ok(held)
  // It was only paused: it finds out at its next renewal, and takes nothing back.
  await clock.runUntil(first.keep(none), { maxMs: 10_000 })
  const stop = new AbortController()
  const still = held.keep(stop.signal)
  let lost = false
  void still.then(() => {
    lost = true
  })
  await lab.pass(30_000)
  assert.equal(lost, false)
  stop.abort()
  await clock.runUntil(still)
  await clock.runUntil(held.release())
  const third = acquireLease(as('three'), none)
  const releasedMs = clock.now()
  assert.ok(await clock.runUntil(third))
  assert.ok(clock.now() - releasedMs < 2_000, 'what was given back is free at once')
})

test('a Lease is free without a holder, or when it has not changed for its duration', () => {
  const of = (spec: object) => ({ spec })
  assert.equal(isFree(of({}), 0), true)
  assert.equal(isFree(of({ holderIdentity: '' }), 0), true)
  assert.equal(isFree(of({ holderIdentity: 'a', leaseDurationSeconds: 10 }), 9_999), false)
  assert.equal(isFree(of({ holderIdentity: 'a', leaseDurationSeconds: 10 }), 10_000), true)
  assert.equal(isFree(of({ holderIdentity: 'a', leaseDurationSeconds: 'x' }), 9_999), false)
  assert.equal(isFree(of({ holderIdentity: 'a', leaseDurationSeconds: 0 }), 500), false)
})
