import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PowerNode } from '../../model/observed-power.ts'
import {
  clusterWith,
  decide,
  did,
  MARKED,
  NOW,
  node,
  observedWith,
  ordered,
  specWith,
  WORKLOADS,
} from './testing/fixture.ts'

test('[A42] people, backups, jobs and holds that somebody set hold it, and say who and since when', () => {
  const sinceMs = NOW - 600_000
  const observed = observedWith({
    cluster: clusterWith([node('s1')], WORKLOADS),
    holds: [
      { kind: 'person', who: 'tapas (from 10.0.0.9)', where: 's1', sinceMs, idleMs: 60_000 },
      { kind: 'backup', who: 'db', where: 'data', sinceMs },
      { kind: 'job', who: 'import', where: 'default', sinceMs },
    ],
  })
  const requests = { ...ordered('off'), holds: [{ by: 'ana', why: 'demo', sinceMs, untilMs: NOW + 60_000 }] }
  const { holds, steps, phase } = decide(specWith(), observed, requests)
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
    cluster: clusterWith([node('s1')], WORKLOADS),
    holds: [
      { kind: 'person', who: 'tapas', where: 's1', sinceMs: NOW - 9e7, idleMs: 3_600_000 },
      { kind: 'job', who: 'import', where: 'default', sinceMs: NOW - 86_400_000, ageMs: 86_400_000 },
    ],
  })
  assert.deepEqual(did(specWith(), observed), ['pause gitops'])
  const ignoring = ordered('off', { ignoreHolds: true })
  const busy = observedWith({ ...observed, holds: [{ kind: 'backup', who: 'db', where: 'data' }] })
  assert.deepEqual(did(specWith(), busy), [])
  assert.deepEqual(did(specWith(), busy, ignoring), ['pause gitops'])
})

test('[A42] a node that died silences nobody who holds it; one that croft stopped does', () => {
  const person = { kind: 'person', who: 'ana', where: 's1' } as const
  const look = (more: Partial<PowerNode>) =>
    decide(
      specWith(),
      observedWith({ cluster: clusterWith([node('s1'), node('a1', { power: 'off', ...more })], []), holds: [person] }),
    ).holds.length
  assert.equal(look({ kube: 'not-ready', k3s: 'stopped' }), 1)
  assert.equal(look({ kube: 'not-ready', k3s: 'stopped', ...MARKED }), 0)
})

test('a hold keeps machines without a cluster from being switched off, and nobody from being switched on', () => {
  const { cluster: _, ...site } = specWith({ machines: ['Machine/nas'] })
  const nas = (power: 'on' | 'off') =>
    observedWith({ machines: [{ key: 'Machine/nas', name: 'nas', role: 'machine', power, exists: 'yes' }] })
  const held = (state: 'on' | 'off') => ({
    ...ordered(state),
    holds: [{ by: 'ana', why: 'copy', sinceMs: NOW - 1, untilMs: NOW + 60_000 }],
  })
  const off = decide(site, nas('on'), held('off'))
  assert.deepEqual([off.steps, off.holds.map(({ guard }) => guard)], [[], ['hold']])
  assert.ok(decide(site, nas('on')).steps.length > 0, 'without a hold it goes off')
  const on = decide(site, nas('off'), held('on'))
  assert.deepEqual([on.steps.length > 0, on.holds], [true, []])
})
