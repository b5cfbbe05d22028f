import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withConfig } from '../../src/drivers/proxmox/guest-details.ts'
import type { Action } from '../../src/model/plan.ts'
import { estateFrom, filesOf, type Wanted } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const KEY = 'EnvironmentVM/legacy'
const LEGACY: Wanted = { name: 'legacy', host: 'still-fawn', started: false }

/** One machine that Git takes over by its id. */
function adopting(annotations: Readonly<Record<string, string>> = {}) {
  const files = filesOf([LEGACY])
  const written = Object.entries({ 'crossplane.io/external-name': '300', ...annotations })
    .map(([name, value]) => `    ${name}: "${value}"\n`)
    .join('')
  const text = (files['machines/legacy.yaml'] ?? '').replace(
    'metadata: {name: legacy}\n',
    `metadata:\n  name: legacy\n  annotations:\n${written}`,
  )
  return estateFrom({ ...files, 'machines/legacy.yaml': text })
}

const gone = () => estateFrom(filesOf([{ ...LEGACY, name: 'another' }]))

function guest(run: Simulation) {
  return run.datacentre.world.guests.get(300)
}

async function actionNow(run: Simulation, key = KEY): Promise<Action | undefined> {
  const [report] = await run.passes(run.start(), 1)
  return report?.plan.entries.find((entry) => entry.key === key)?.action
}

/** A person's machine under 300 was adopted; the person deletes it and uses the id again. */
async function reused(seed: number, running = true): Promise<Simulation> {
  const run = simulate({ seed, estate: adopting() })
  run.datacentre.addGuest(300, 'still-fawn', { name: 'legacy', memory: '2048', cores: '2' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.match(guest(run)?.config.get('tags') ?? '', /croft-/, 'it is adopted')
  run.datacentre.removeGuest(300)
  run.datacentre.addGuest(300, 'still-fawn', { name: 'payroll-db', memory: '4096', cores: '4' }, running)
  return run
}

test('a VM that a person made under an adopted id is not the adopted one: nothing is written to it, and both births are told', async () => {
  const run = await reused(1)
  const writes = run.datacentre.writes.length
  const reports = await run.passes(run.start(), 4)
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
  assert.equal(guest(run)?.config.get('name'), 'payroll-db')
  const action = reports.at(-1)?.plan.entries.find((entry) => entry.key === KEY)?.action
  assert.ok(action?.do === 'refuse' && action.guard === 'identity', JSON.stringify(action))
  const births = action.reason.match(/uuid [0-9a-f-]{36}/g) ?? []
  assert.equal(new Set(births).size, 2, action.reason)
})

test('when its declaration leaves, the VM that a person made under an adopted id stays', async () => {
  const run = await reused(2)
  run.estate = { ...gone(), resources: gone().resources.filter(({ kind }) => kind !== 'EnvironmentVM') }
  const writes = run.datacentre.writes.length
  await run.passes(run.start(), 4)
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
  assert.equal(guest(run)?.config.get('name'), 'payroll-db')
})

test('the annotation that the refusal names takes over the new VM, and no other one after it', async () => {
  const run = await reused(3, false)
  const action = await actionNow(run)
  assert.ok(action?.do === 'refuse', JSON.stringify(action))
  const [, annotation = '', birth = ''] = /(croft\.dev\/birth): "([^"]+)"/.exec(action.allow) ?? []
  assert.equal(annotation, 'croft.dev/birth', action.allow)
  run.estate = adopting({ [annotation]: birth })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.match(guest(run)?.config.get('tags') ?? '', /croft-/)
  run.datacentre.removeGuest(300)
  run.datacentre.addGuest(300, 'still-fawn', { name: 'third' })
  const third = await actionNow(run)
  assert.ok(third?.do === 'refuse' && third.guard === 'identity', JSON.stringify(third))
})

test('an adopted VM whose mark a person took away is still the adopted one: its mark is written again', async () => {
  const run = simulate({ seed: 4, estate: adopting() })
  run.datacentre.addGuest(300, 'still-fawn', { name: 'legacy', memory: '2048', cores: '2' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.datacentre.patchGuest(300, { tags: '', description: '' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.match(guest(run)?.config.get('tags') ?? '', /croft-/)
})

test('a database from before births were kept takes an adopted VM over as it is, and learns its birth', async () => {
  const run = simulate({ seed: 5, estate: adopting() })
  run.datacentre.addGuest(300, 'still-fawn', { name: 'legacy', memory: '2048', cores: '2' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const record = run.disk.records.get(KEY)
  assert.ok(record?.birth !== undefined)
  const { birth: _, ...before } = record
  run.disk.records.set(KEY, before)
  const writes = run.datacentre.writes.length
  await run.passes(run.start(), 3)
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
  assert.equal(run.disk.records.get(KEY)?.birth, record.birth)
})

test('a machine of ours that was restored under its id with another birth is kept, and not destroyed with its declaration', async () => {
  const estate = estateFrom(filesOf([{ ...LEGACY, vmid: 205 }]))
  const run = simulate({ seed: 6, estate })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.datacentre.patchGuest(205, { smbios1: 'uuid=11111111-2222-3333-4444-555555555555' })
  await run.passes(run.start(), 3)
  run.estate = { ...estate, resources: estate.resources.filter(({ key }) => key !== KEY) }
  const action = await actionNow(run)
  assert.ok(action?.do === 'hold' && action.guard === 'another-birth', JSON.stringify(action))
  assert.match(action.reason, /uuid 11111111-2222-3333-4444-555555555555/)
  run.estate = {
    ...run.estate,
    approvals: [{ name: 'restored', deletes: [KEY], origin: { file: 'a.yaml', line: 1, column: 1 } }],
  }
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.world.guests.get(205), undefined)
})

test('an adopted VM that wears no mark is known by its birth too, and one under its id from an old database is not learned as it', async () => {
  const estate = adopting()
  const unmarked = (one: (typeof estate.resources)[number]) =>
    one.key === KEY ? { ...one, policy: { ...one.policy, unmarked: true as const } } : one
  const run = simulate({ seed: 7, estate: { ...estate, resources: estate.resources.map(unmarked) } })
  run.datacentre.addGuest(300, 'still-fawn', { name: 'legacy', memory: '2048', cores: '2' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const record = run.disk.records.get(KEY)
  assert.ok(record?.birth !== undefined)
  run.datacentre.removeGuest(300)
  run.datacentre.addGuest(300, 'still-fawn', { name: 'payroll-db', memory: '4096', cores: '4' })
  const writes = run.datacentre.writes.length
  const { birth: _, details: __, ...before } = record
  for (const known of [record, before]) {
    run.disk.records.set(KEY, known)
    await run.passes(run.start(), 3)
    const action = await actionNow(run)
    assert.ok(action?.do === 'refuse' && action.guard === 'identity', JSON.stringify(action))
    assert.notEqual(run.disk.records.get(KEY)?.birth, guest(run)?.config.get('smbios1')?.replace('uuid=', 'uuid '))
  }
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
})

test('a container under an adopted id is told from another one by the MAC address that Proxmox drew', async () => {
  const seen = (mac: string) =>
    withConfig(
      { connection: 'default', type: 'container', externalId: '120', host: 'still-fawn' },
      {
        config: { net1: 'name=eth1,hwaddr=BC:24:11:00:00:99', net0: `name=eth0,bridge=vmbr0,hwaddr=${mac},ip=dhcp` },
        pending: [],
        inForce: {},
      },
      0,
    ).close.birth
  assert.equal(seen('bc:24:11:00:00:01'), 'mac BC:24:11:00:00:01')
  assert.notEqual(seen('bc:24:11:00:00:02'), seen('bc:24:11:00:00:01'))
})
