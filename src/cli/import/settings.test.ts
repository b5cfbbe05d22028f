import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestClient, type TestClient } from '../../../sim/test-client.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Estate } from '../../model/estate.ts'
import { DEFINITIONS } from '../../proxmox/registry.ts'
import { printDrafts } from '../../source/foreign/draft.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { CONNECTION, driverDeps, imported, loaded } from './testing/simulated.ts'

/** Version 9 has no HA groups; the creation options of a pool and the key of a certificate cannot be read back. */
const NOT_MADE = new Set(['ha-group', 'zfs-pool', 'certificate'])
const MAKEABLE = DEFINITIONS.filter(({ name, rootOnly }) => rootOnly === undefined && !NOT_MADE.has(name))

const PROSE = ['hello', 'Grüße', 'a: b # c', '100 %', "it's", '"quoted"']

/** The example of each chosen definition, some with another text for people. */
const estates = fc.record({
  chosen: fc.subarray(MAKEABLE, { minLength: 4 }),
  prose: fc.constantFrom(...PROSE),
})

function manifestsOf(chosen: typeof MAKEABLE, prose: string): string {
  return printDrafts(
    chosen.map((definition) => {
      const spec: Record<string, unknown> = { ...definition.example }
      for (const [name, field] of Object.entries(definition.fields))
        if (field.type === 'prose' && spec[name] !== undefined) spec[name] = prose
      const name = definition.exampleName ?? definition.name
      return {
        manifest: { apiVersion: 'croft.dev/v1alpha1', kind: definition.kind, metadata: { name }, spec },
        comments: [],
      }
    }),
  )
}

function engineOn(client: TestClient) {
  return createEngine({
    clock: client.clock,
    random: seededRandom(3),
    store: createMemoryStore(),
    drivers: [proxmoxDriver],
    driverDeps: driverDeps(client),
  })
}

async function planOf(client: TestClient, estate: Estate) {
  const engine = engineOn(client)
  const plan = await client.clock.runUntil(engine.plan(estate, new AbortController().signal))
  await engine.close()
  return plan
}

test('[R31] whatever settings there are: imported, they plan to nothing', async () => {
  const met = new Set<string>()
  await fc.assert(
    fc.asyncProperty(estates, async ({ chosen, prose }) => {
      const client = createTestClient({ timing: { callMs: [1, 1], shortTaskMs: 1 } })
      client.datacentre.addGuest(114, 'still-fawn', { name: 'web' })
      const made = loaded({ 'c.yaml': CONNECTION, 'm.yaml': manifestsOf(chosen, prose) })
      assert.deepEqual(
        made.estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
        [],
      )
      const engine = engineOn(client)
      const signal = new AbortController().signal
      await client.clock.runUntil(engine.settle(made.estate, { signal, deadlineMs: 600_000 }))
      await engine.close()

      const { code, out, err } = await imported(client, { 'c.yaml': CONNECTION }, '--settings')
      assert.equal(code, 0, err)
      const back = loaded({ 'c.yaml': CONNECTION, 'i.yaml': out })
      assert.deepEqual(
        back.estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
        [],
        out,
      )
      const plan = await planOf(client, back.estate)
      for (const { key, action } of plan.entries)
        assert.equal(action.do, 'nothing', `${key} ${JSON.stringify(action)}\n${out}`)
      for (const { kind } of back.declarations) met.add(kind)

      // Imported again beside what was imported, there is nothing left.
      const again = await imported(client, { 'c.yaml': CONNECTION, 'i.yaml': out }, '--settings')
      assert.equal(again.out, '')
    }),
    { numRuns: 8, seed: 31, endOnFailure: true },
  )
  for (const kind of ['ProxmoxRealm', 'ProxmoxToken', 'ProxmoxAcmePlugin']) assert.ok(met.has(kind), kind)
  // A test that imports nothing would pass as well.
  assert.ok(met.size >= 25, `only ${[...met].sort().join(', ')}`)
})

test('one kind of setting can be chosen, and what a person never wrote is left out', async () => {
  const client = createTestClient()
  await client.data('POST', '/pools', { poolid: 'prod', comment: 'Production' })
  const { out } = await imported(client, { 'c.yaml': CONNECTION }, '--settings', 'ProxmoxPool')
  assert.equal(
    out,
    `apiVersion: croft.dev/v1alpha1
kind: ProxmoxPool
metadata:
  name: prod
spec:
  comment: Production
  deletionPolicy: Orphan
`,
  )
  const roles = await imported(client, { 'c.yaml': CONNECTION }, '--settings', 'ProxmoxRole')
  assert.equal(roles.out, '')
})
