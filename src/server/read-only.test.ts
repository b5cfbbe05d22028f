import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { EstateView } from '../model/estate-view.ts'
import { ROUTES } from './api/routes.ts'
import { testServer } from './testing/client.ts'
import { fakeController, withResource } from './testing/fake-controller.ts'
import { heldDeletion, smallEstate } from './testing/fake-estate.ts'
import { NOW } from './testing/fake-moment.ts'
import { fakePower, goingOff } from './testing/fake-power.ts'
import { KEY, questionOf } from './testing/questions.ts'

const SNAPSHOT = new URL('./testing/read-only-fields.json', import.meta.url)
const HOLD = { tier: 'apps' as const, guard: 'person', reason: 'r', allow: 'a', sinceMs: NOW, untilMs: NOW }
const HELD = { by: 'anna', why: 'demo', sinceMs: NOW, untilMs: NOW }
/** Tables whose names are data, not fields of ours. */
const TABLES = ['observed', 'params']

test('[S-19] somebody who may only read gets the fields that are listed, and no other', async () => {
  const controller = fakeController(planted(rich()))
  await using it = await testServer({ controller, users: { vera: 'viewer' } })
  const vera = await it.signIn('vera')
  const seen: Record<string, readonly string[]> = {}
  for (const { method, path } of ROUTES) {
    if (method !== 'GET' || path === '/api/openapi.json') continue
    const nobody = await it.ask(questionOf(path))
    const viewer = await it.ask(questionOf(path), { headers: vera })
    for (const answer of [nobody, viewer]) {
      assert.equal(answer.status, 200, path)
      assert.ok(!answer.text.includes('canary'), `${path} shows a field that nobody listed`)
      assert.ok(!answer.text.includes('ref:password'), `${path} shows the value of a secret parameter`)
      assert.ok(!answer.text.includes('hunter2'), `${path} shows the value of a secret change`)
      assert.ok(!answer.text.includes('caHash-is-not-shown'), `${path} shows what identifies a cluster's CA`)
    }
    if (path !== '/api/me') assert.deepEqual(fieldsOf(viewer.json()), fieldsOf(nobody.json()), path)
    seen[path] = fieldsOf(viewer.json())
  }
  if (process.env.CROFT_UPDATE === '1') writeFileSync(SNAPSHOT, `${JSON.stringify(seen, undefined, 2)}\n`)
  const kept: unknown = JSON.parse(readFileSync(SNAPSHOT, 'utf8'))
  assert.deepEqual(seen, kept, 'If a new field is meant to be public, run this test once with CROFT_UPDATE=1.')
})

/** An estate in which every optional field is there. */
function rich(): EstateView {
  const estate = smallEstate()
  const { resources } = withResource(estate, KEY, (one) => ({
    ...one,
    action: heldDeletion('k3s-vm-still-fawn', 'still-fawn', 109),
  }))
  const origin = { file: 'machines/broken.yaml', line: 4, column: 7 }
  return {
    ...estate,
    resources: [
      ...resources,
      {
        ...resources[0],
        key: 'Machine/changing',
        kind: 'Machine',
        name: 'changing',
        connection: 'default',
        status: 'Pending',
        conditions: [],
        paused: false,
        action: {
          do: 'update',
          reason: 'differs',
          externalId: '120',
          steps: [],
          changes: [
            { path: 'cipassword', from: 'hunter2', to: 'hunter2-new', effect: 'restart', secret: true },
            { path: 'cpu.cores', from: 2, to: 4, effect: 'live', blocked: { message: 'm', allow: 'a' } },
          ],
        },
      },
    ],
    problems: [
      {
        code: 'unknown-field',
        origin,
        object: 'Machine/x',
        field: 'spec.cpus',
        message: 'm',
        hint: 'h',
        excerpt: 'e',
        severity: 'error',
      },
    ],
    connections: estate.connections.map((one) => ({ ...one, state: 'suspect', message: 'm', allow: 'a' })),
    sources: estate.sources.map((one) => ({ ...one, trouble: 'not signed' })),
    power: [fakePower({ ...goingOff(), holds: [HOLD], refusals: [HOLD], held: [HELD], warnings: ['w'] })],
    drifts: [
      {
        key: KEY,
        field: 'cpu.cores',
        declared: '4',
        observed: '6',
        sinceMs: NOW,
        by: { user: 'root@pam', task: 'qmset', atMs: NOW },
        policy: 'report',
      },
    ],
    clusters: estate.clusters.map((one) => ({
      ...one,
      decision: {
        ...one.decision,
        holds: [{ node: 'n', guard: 'quorum', reason: 'r', allow: 'a' }],
        refusals: [{ node: 'n', guard: 'version', reason: 'r', allow: 'a' }],
        waits: [{ node: 'n', awaits: 'w', sinceMs: NOW, untilMs: NOW }],
      },
    })),
  }
}

/** The same with a field that nobody knows in every object of it. */
function planted(view: EstateView): EstateView {
  const plant = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => plant(one, name))
    if (typeof value !== 'object' || value === null || TABLES.includes(name)) return value
    const fields = Object.entries(value).map(([key, one]) => [key, plant(one, key)])
    return { ...Object.fromEntries(fields), canaryField: 'canary-value' }
  }
  return plant(view, '') as EstateView
}

/** Every path to a value: `rows[].key`. */
function fieldsOf(value: unknown): readonly string[] {
  const paths = new Set<string>()
  const walk = (one: unknown, path: string, name: string): void => {
    if (Array.isArray(one)) for (const item of one) walk(item, `${path}[]`, name)
    else if (typeof one === 'object' && one !== null && !TABLES.includes(name))
      for (const [key, inner] of Object.entries(one)) walk(inner, path === '' ? key : `${path}.${key}`, key)
    else paths.add(path)
  }
  walk(value, '', '')
  return [...paths].toSorted()
}
