import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../../model/declaration.ts'
import type { Plan, PlanEntry } from '../../../model/plan.ts'
import type { PowerDeclaration } from '../../../model/power.ts'
import { coordinatePower } from '../../../plan/power/coordinate.ts'
import { clusterWith, NOW, node, observedWith, ordered, specWith } from '../../../plan/power/testing/fixture.ts'
import { EMPTY_ESTATE, fakeRuntime, planning } from '../../testing/fake-runtime.ts'
import { run } from '../health.ts'

const POWER: PowerDeclaration = {
  key: 'Power/homelab',
  name: 'homelab',
  spec: specWith(),
  policy: DEFAULT_POLICY,
  origin: { file: 'p.yaml', line: 1, column: 1 },
  generation: 'g',
}

function entry(key: string, connection: string): PlanEntry {
  const action = { do: 'wait', reason: 'Unreachable', message: 'the API of homelab does not answer' } as const
  return { key, connection, type: 'object', action } as unknown as PlanEntry
}

/** Makes a cluster with 31 unreadable objects, and these entries. */
function world(power: 'on' | 'off', more: readonly PlanEntry[] = []) {
  const state = power === 'off' ? { power: 'off', k3s: 'stopped', kube: 'unknown' } : {}
  const observed = observedWith({
    cluster: clusterWith(
      [node('s1', state as never)],
      [],
      power === 'off' ? { api: 'unknown', quorum: 'unknown' } : {},
    ),
  })
  const requests = power === 'off' ? ordered('off', { why: 'night' }) : { holds: [] }
  const done = { sinceMs: NOW, state: 'off', result: 'done' } as const
  const decision = coordinatePower(POWER.spec, observed, requests, power === 'off' ? done : undefined, NOW + 7_200_000)
  const plan: Plan = {
    entries: [
      ...Array.from({ length: 31 }, (_, at) => entry(`Addon/web@ConfigMap/web/c${at}`, 'cluster/homelab')),
      ...more,
    ],
    notes: [{ connection: 'cluster/homelab', code: 'unreachable', message: 'no answer', allow: 'wait' }],
    problems: [],
    powers: [{ declaration: POWER, observed, requests, atMs: NOW, decision }],
  }
  const connections = ['cluster/homelab', 'pve'].map((name) => ({ name }) as never)
  return fakeRuntime({
    load: async () => ({ ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, connections, powers: [POWER] } }),
    cwd: process.cwd(),
    clock: { now: () => NOW + 7_200_000, monotonicMs: () => 0, sleep: async () => {} },
    ...planning(plan),
  })
}

test('[A45] a cluster that is off on request is one line of health, and well', async () => {
  const runtime = world('off')
  const code = await run(runtime, ['.'], { state: '/nonexistent/state.db' })
  const lines = runtime.written.out.trim().split('\n')
  assert.equal(code, 0, runtime.written.out)
  assert.equal(lines.filter((line) => line.startsWith('bad')).length, 0, runtime.written.out)
  assert.match(
    lines[0] ?? '',
    /^ok +Power\/homelab: cluster homelab is off on request \(asked by tapas: night\), since 120m; 31 things rest with it/,
  )
})

test('what has nothing to do with a cluster that is off is told as always', async () => {
  const runtime = world('off', [entry('Machine/web', 'pve')])
  assert.equal(await run(runtime, ['.'], { state: '/nonexistent/state.db' }), 1)
  const bad = runtime.written.out.split('\n').filter((line) => line.startsWith('bad'))
  assert.ok(
    bad.some((line) => line.includes('Machine/web')),
    runtime.written.out,
  )
  assert.ok(!bad.some((line) => line.includes('Addon/web')), runtime.written.out)
})

test('a cluster that is on and does not answer is ill', async () => {
  const runtime = world('on')
  assert.equal(await run(runtime, ['.'], { state: '/nonexistent/state.db' }), 1)
})
