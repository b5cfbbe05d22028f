import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simWire } from '../../sim/wire.ts'
import { proxmoxDriver } from '../../src/drivers/proxmox/driver.ts'
import { APART_SIMULATED, neededBy } from '../../src/drivers/proxmox/rest/testing/company.ts'
import { secretFor, simKeeper } from '../../src/drivers/proxmox/rest/testing/keeper.ts'
import { anotherValue, exampleOf } from '../../src/drivers/proxmox/rest/testing/samples.ts'
import { createEngine } from '../../src/engine/create.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Definition, SettingValue } from '../../src/model/rest.ts'
import { Secret } from '../../src/model/secret.ts'
import { DEFINITIONS } from '../../src/proxmox/registry.ts'
import { printDrafts } from '../../src/source/foreign/draft.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateFrom } from './manifests.ts'

const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: TOKEN}}
`

/** Version 9 has no HA groups any more, and some things only root may make. */
const KEPT = DEFINITIONS.filter(({ name, rootOnly }) => rootOnly === undefined && name !== 'ha-group')

function estateOf(definition: Definition) {
  const manifest = {
    apiVersion: 'croft.dev/v1alpha1',
    kind: definition.kind,
    metadata: { name: definition.exampleName ?? definition.name },
    spec: definition.example,
  }
  return estateFrom({ 'c.yaml': CONNECTION, 'm.yaml': printDrafts([{ manifest, comments: [] }]) })
}

/** Changes every field in turn without croft; each look must report the old and the new value. */
async function lookAt(definition: Definition): Promise<number> {
  const keeper = simKeeper()
  const { clock, datacentre } = keeper
  const engine = createEngine({
    clock,
    random: seededRandom(3),
    store: createMemoryStore(),
    drivers: [proxmoxDriver],
    driverDeps: {
      clock,
      random: seededRandom(4),
      openWire: () => simWire(datacentre),
      resolveSecret: async (reference) => new Secret(secretFor(reference, datacentre.token)),
    },
  })
  const { signal } = new AbortController()
  for (const needed of neededBy(definition.name)) await keeper.settle(needed)
  const estate = estateOf(definition)
  const settle = () => clock.runUntil(engine.settle(estate, { signal, deadlineMs: 600_000 }))
  assert.equal((await settle()).outcome, 'settled', definition.name)
  const example = exampleOf(definition)
  let seen = 0
  for (const [name, field] of Object.entries(definition.fields)) {
    const place = `${definition.name}.${name}`
    if (APART_SIMULATED.has(place) || field.type === 'secret' || field.unread === true || field.fixed === true) continue
    // Only declared fields are compared; an undeclared field cannot drift.
    if (!(name in (definition.example as object))) continue
    const value = anotherValue(definition.name, name, field, example.fields[name])
    await keeper.settle({ ...example, fields: { ...example.fields, [name]: value as SettingValue } })
    const plan = await clock.runUntil(engine.plan(estate, signal))
    const [entry] = plan.entries
    assert.ok(entry?.action.do === 'update', `${place}: ${JSON.stringify(entry?.action)}`)
    const change = entry.action.changes.find(({ path }) => path === name || path.startsWith(`${name}.`))
    assert.ok(change !== undefined, `${place}: ${JSON.stringify(entry.action.changes)}`)
    assert.notDeepEqual(change.from, change.to, place)
    assert.equal(entry.drift, true, place)
    assert.equal((await settle()).outcome, 'settled', place)
    seen += 1
  }
  await engine.close()
  return seen
}

test('drift in any declared field of any setting is seen, named with the old and the new value, and put right', async (t) => {
  let fields = 0
  for (const definition of KEPT) fields += await lookAt(definition)
  t.diagnostic(`${KEPT.length} kinds, ${fields} fields`)
  assert.ok(fields > 80, `only ${fields} fields`)
})
