import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { removed } from '../../../model/destruction.ts'
import type { Definition, SettingSpec, SettingValue } from '../../../model/rest.ts'
import { DEFINITIONS } from '../../../proxmox/registry.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import { settingRules } from './setting-rules.ts'
import { APART, APART_SIMULATED, neededBy } from './testing/company.ts'
import { type Keeper, PASSWORD, paperKeeper, simKeeper } from './testing/keeper.ts'
import { anotherValue, exampleOf } from './testing/samples.ts'

const made = DEFINITIONS.filter(({ rootOnly }) => rootOnly === undefined)

for (const definition of made) {
  describe(`the life of a ${definition.noun} (${definition.name})`, () => {
    it('on paper: made, listed, changed field by field, put in another order, taken away', async () => {
      const keeper = paperKeeper()
      prepare(keeper, definition)
      await life(keeper, definition)
      assert.deepEqual(keeper.complaints, [], 'requests that the real API would refuse')
    })
  })
}

async function life(keeper: Keeper, definition: Definition): Promise<void> {
  const example = exampleOf(definition)
  const others = async () =>
    JSON.stringify(
      (await keeper.list(example))
        .filter(({ externalId }) => externalId !== example.id)
        .map(({ externalId, close }) => [externalId, close?.config]),
    )
  const before = await others()
  const steps = await keeper.settle(example)
  assert.ok(steps.length > 0 || definition.create !== undefined, 'the example changes nothing')
  assert.deepEqual(await keeper.settle(example), [], 'a second look finds nothing to do')
  await changes(keeper, definition, example)
  await reordering(keeper, definition, example)
  await unsetting(keeper, definition, example)
  assert.equal(await others(), before, 'what is not ours was touched')
  if (definition.remove === undefined) {
    const seen = await keeper.find(example)
    assert.ok(seen !== undefined && settingRules.deleteSteps(removed(seen, [])).length === 0)
    return
  }
  await keeper.remove(example)
  assert.equal(await keeper.find(example), undefined)
  assert.equal(await others(), before, 'what is not ours was touched')
}

async function changes(
  keeper: Keeper,
  definition: Definition,
  example: SettingSpec,
  apart: ReadonlySet<string> = APART,
): Promise<void> {
  for (const [name, field] of Object.entries(definition.fields)) {
    if (apart.has(`${definition.name}.${name}`) || field.type === 'secret' || field.unread === true) continue
    if (field.types?.includes(valueText(example.fields.type)) === false) continue
    const value = anotherValue(definition.name, name, field, example.fields[name])
    assert.notEqual(value, undefined, `no other value for ${name}`)
    const changed = { ...example, fields: { ...example.fields, [name]: value as SettingValue } }
    const seen = await keeper.find(example)
    assert.ok(seen)
    const found = settingRules.diff(changed, seen)
    assert.deepEqual(
      found.map(({ path, effect }) => [path, effect]),
      [[name, field.fixed === true ? 'replace' : 'live']],
      `${name}: ${JSON.stringify(found)}`,
    )
    if (field.fixed === true) continue
    assert.ok((await keeper.settle(changed)).length > 0)
    assert.deepEqual(await keeper.settle(changed), [], `${name} comes back as it was declared`)
    await keeper.settle(example)
  }
}

/** [F-38] The order of an unordered list means nothing. */
async function reordering(keeper: Keeper, definition: Definition, example: SettingSpec): Promise<void> {
  for (const [name, field] of Object.entries(definition.fields)) {
    const value = example.fields[name]
    if (
      !Array.isArray(value) ||
      value.length < 2 ||
      !['list', 'repeated', 'blocks', 'entries', 'hosts'].includes(field.type)
    )
      continue
    const turned = { ...example, fields: { ...example.fields, [name]: value.toReversed() as SettingValue } }
    assert.deepEqual(await keeper.settle(turned), [], `${name} in another order`)
  }
}

async function unsetting(
  keeper: Keeper,
  definition: Definition,
  example: SettingSpec,
  apart: ReadonlySet<string> = APART,
): Promise<void> {
  for (const [name, field] of Object.entries(definition.fields)) {
    if (apart.has(`${definition.name}.${name}`)) continue
    if (!(name in example.fields) || field.required === true || field.fixed === true || field.unread === true) continue
    const empty =
      field.type === 'list' || field.type === 'repeated'
        ? []
        : field.type === 'text' || field.type === 'prose'
          ? ''
          : undefined
    if (empty === undefined || field.choices !== undefined) continue
    const without = { ...example, fields: { ...example.fields, [name]: empty } }
    await keeper.settle(without)
    const seen = await keeper.find(without)
    assert.ok(seen && settingRules.diff(without, seen).length === 0, `${name} can be taken back`)
    await keeper.settle(example)
  }
}

/** Adds a foreign entry to the same list, and its prerequisites. */
function prepare(keeper: ReturnType<typeof paperKeeper>, definition: Definition): void {
  const example = exampleOf(definition)
  const path = settingRules.listOf(example).replace(/^settings/, '')
  const place = decodeURIComponent(path)
  if (definition.identity !== undefined && 'constant' in definition.identity) {
    if (definition.create === undefined && definition.list.rows === 'one')
      keeper.put(place, 'constant', { data: '# by hand\n127.0.0.1 localhost\n', timezone: 'UTC' })
    return
  }
  if (definition.name === 'apt-repository') {
    keeper.put(place, 'ours', { sort: 'file', path: example.fields.file, enabled: 1, key: example.id })
    return
  }
  const [key = ''] = definition.key
  const row =
    definition.name === 'acl'
      ? { path: '/', users: 'admin@pve', roles: 'Administrator', propagate: 1 }
      : { [key]: 'somebody', ...definition.only, comment: 'by hand' }
  keeper.put(place, definition.name === 'acl' ? '/ admin@pve Administrator' : 'somebody', row)
}

describe('secrets', () => {
  it('[S-02] are sent when the thing is made, and stand in no step, change or observation', async () => {
    const keeper = paperKeeper()
    const definition = made.find(({ name }) => name === 'user')
    assert.ok(definition)
    const example = exampleOf(definition)
    const steps = await keeper.settle(example)
    assert.deepEqual(steps[0]?.secretParams, ['password'])
    assert.ok(keeper.requests.some((request) => request.includes(encodeURIComponent(PASSWORD))))
    assert.ok(!JSON.stringify([steps, await keeper.list(example)]).includes(PASSWORD))
  })
})

describe('[R11] rotating secrets', () => {
  it('sends them again when a person says so, once, and never what Proxmox would not take', async () => {
    const keeper = paperKeeper()
    for (const name of ['storage', 'metric-server', 'certificate', 'user', 'pool']) {
      const definition = made.find((one) => one.name === name)
      assert.ok(definition)
      const example = exampleOf(definition)
      const [made1] = settingRules.createSteps(example, 'first')
      if (made1?.secretParams !== undefined) assert.deepEqual(made1.learns?.done, { rotated: 'first' })
      await keeper.settle(example)
      const seen = await keeper.find(example)
      assert.ok(seen)
      const ask = (rotate: string | undefined, known: Record<string, string> | undefined) =>
        settingRules.diff(example, seen, { rotate, known })
      assert.deepEqual(ask(undefined, undefined), [])
      assert.deepEqual(ask('first', { rotated: 'first' }), [])
      const changes = ask('second', { rotated: 'first' })
      if (name === 'user' || name === 'pool') {
        assert.deepEqual(changes, [], 'no password can be changed by a token, and a pool has none')
        continue
      }
      assert.deepEqual(
        changes.map(({ path, secret }) => [path, secret]),
        [['secrets', true]],
      )
      const [step, ...more] = settingRules.updateSteps(example, seen, changes, 'second')
      assert.ok(step !== undefined && more.length === 0)
      assert.equal(step.secretParams?.length, 1)
      assert.deepEqual(step.learns?.done, { rotated: 'second' })
      assert.ok(!JSON.stringify([changes, step]).includes(PASSWORD))
    }
    assert.deepEqual(keeper.complaints, [])
  })
})

describe('on the simulator', () => {
  for (const definition of made) {
    it(`${definition.name}: made, changed field by field, taken away`, async () => {
      const keeper = simKeeper()
      const others = async () => JSON.stringify((await keeper.list(exampleOf(definition))).map((one) => one.externalId))
      try {
        const example = exampleOf(definition)
        for (const needed of neededBy(definition.name)) await keeper.settle(needed)
        const before = await others()
        await keeper.settle(example)
        assert.deepEqual(await keeper.settle(example), [])
        await changes(keeper, definition, example, APART_SIMULATED)
        await reordering(keeper, definition, example)
        // A VLAN needs its card unless its name has it, and a zone of VLANs needs bridge and tags.
        const needed = ['vlan.device', 'sdn-zone.bridge', 'sdn-vnet.tag']
        await unsetting(keeper, definition, example, new Set([...APART_SIMULATED, ...needed]))
        if (definition.remove !== undefined) {
          await keeper.remove(example)
          assert.equal(await others(), before)
        }
        assert.deepEqual(keeper.complaints, [])
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        if (definition.name === 'ha-group') {
          assert.match(text, /migrated to rules; .*ProxmoxHaRule/)
          return
        }
        throw error
      }
    })
  }
})
