import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../../src/model/estate.ts'
import type { PlanEntry } from '../../src/model/plan.ts'
import { estateFrom, filesOf, IMAGE, type Wanted } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const own = (kind: string, name: string, spec: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const proxmox = (name: string) =>
  own('Proxmox', name, '{endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}}')

const settings = (files: Readonly<Record<string, string>>) =>
  estateFrom({ 'connection.yaml': proxmox('default'), ...files })

async function settled(run: Simulation, estate: Estate): Promise<void> {
  const wrong = estate.problems.filter(({ severity }) => severity === 'error')
  assert.deepEqual(
    wrong.map(({ message }) => message),
    [],
  )
  run.estate = estate
  assert.equal(await run.untilSettled(run.start()), 'settled')
}

async function entriesOf(run: Simulation, estate: Estate): Promise<readonly PlanEntry[]> {
  const stop = new AbortController()
  return (await run.clock.runUntil(run.start().engine.plan(estate, stop.signal))).entries
}

const doing = (entries: readonly PlanEntry[]) =>
  entries.filter(({ action }) => action.do !== 'nothing').map(({ key, action }) => `${action.do} ${key}`)

const USER = (name: string, id: string) => own('ProxmoxUser', name, `{id: ${id}, comment: on call}`)
const ACL = (role: string) => own('ProxmoxAcl', 'bob-rights', `{path: /, user: bob@pve, role: ${role}}`)

test('a right whose role changed in Git is taken away, and the plan says so', async () => {
  const run = simulate({ seed: 1, estate: settings({}) })
  const files = { 'bob.yaml': USER('bob', 'bob@pve') }
  await settled(run, settings({ ...files, 'acl.yaml': ACL('Administrator') }))
  const { acl } = run.datacentre.world.access
  const roles = () => acl.filter(({ ugid }) => ugid === 'bob@pve').map(({ roleid }) => roleid)
  assert.deepEqual(roles(), ['Administrator'])
  const estate = settings({ ...files, 'acl.yaml': ACL('PVEAuditor') })
  const planned = doing(await entriesOf(run, estate))
  assert.equal(planned.filter((line) => line.startsWith('create ProxmoxAcl/bob-rights')).length, 1, planned.join())
  assert.equal(planned.filter((line) => line.startsWith('delete ProxmoxAcl/bob-rights@at:')).length, 1, planned.join())
  await settled(run, estate)
  const left = run.datacentre.world.access.acl.filter(({ ugid }) => ugid === 'bob@pve')
  assert.deepEqual(
    left.map(({ roleid }) => roleid),
    ['PVEAuditor'],
  )
  assert.deepEqual(doing(await entriesOf(run, estate)), [])
})

test('an account that croft made goes when its id changes in Git; the one that a person made under the new id stays for good', async () => {
  const run = simulate({ seed: 2, estate: settings({}) })
  await settled(run, settings({ 'p.yaml': USER('person', 'dave@pve') }))
  const users = () => [...run.datacentre.world.access.users.keys()].filter((id) => id.endsWith('@pve'))
  const dave = run.datacentre.world.access.users.get('dave@pve')
  assert.ok(dave !== undefined)
  run.datacentre.world.access.users.set('carol@pve', { ...dave })
  await settled(run, settings({ 'p.yaml': USER('person', 'carol@pve') }))
  assert.deepEqual(users(), ['carol@pve'], 'dave is ours and no longer declared')
  await settled(run, settings({}))
  assert.deepEqual(users(), ['carol@pve'], 'carol was made by a person')
})

test('an object that is renamed in Git and keeps its id is the same account, pool or storage entry: nothing is destroyed, and it still goes with its declaration', async () => {
  const before = {
    'u.yaml': USER('erin', 'erin@pve'),
    'p.yaml': own('ProxmoxPool', 'ops', '{id: Ops, comment: c}'),
    's.yaml': own('ProxmoxStorage', 'nas', '{type: dir, path: /srv/nas, content: [iso]}'),
  }
  const after = {
    'u.yaml': USER('erin-smith', 'erin@pve'),
    'p.yaml': own('ProxmoxPool', 'operators', '{id: Ops, comment: c}'),
    's.yaml': own('ProxmoxStorage', 'archive', '{id: nas, type: dir, path: /srv/nas, content: [iso]}'),
  }
  const run = simulate({ seed: 3, estate: settings({}) })
  await settled(run, settings(before))
  assert.deepEqual(doing(await entriesOf(run, settings(after))), [])
  const writes = run.datacentre.writes.length
  await settled(run, settings(after))
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
  assert.equal(run.disk.records.has('ProxmoxUser/erin'), false)
  assert.equal(run.disk.records.get('ProxmoxUser/erin-smith')?.made, true)
  await settled(run, settings({}))
  const { access, pools, storages } = run.datacentre.world
  assert.deepEqual([access.users.has('erin@pve'), pools.has('Ops'), storages.has('nas')], [false, false, false])
})

test('a rename in Git meets a crash at any point and still destroys nothing', async () => {
  const files = (name: string) =>
    settings({ 'u.yaml': USER(name, 'erin@pve'), 'v.yaml': USER('vic', `vic-${name}@pve`) })
  for (let crashAt = 1; crashAt < 14; crashAt++) {
    const run = simulate({ seed: 4, estate: settings({}) })
    await settled(run, files('erin'))
    const writes = run.datacentre.writes.length
    run.estate = files('erin-smith')
    await run.untilSettled(run.start({ crashAt }))
    assert.equal(await run.untilSettled(run.start()), 'settled')
    const touched = run.datacentre.writes.slice(writes).filter(({ path }) => /\/erin(?:%40|@)pve/.test(path))
    assert.deepEqual(touched, [], `crash at ${crashAt}`)
    const users = [...run.datacentre.world.access.users.keys()].filter((id) => id.startsWith('vic-'))
    assert.deepEqual(users, ['vic-erin-smith@pve'], `crash at ${crashAt}`)
  }
})

test('two objects of Git that name one pool, user or file are refused, both with their places', () => {
  const problems = (files: Readonly<Record<string, string>>) =>
    settings(files).problems.filter(({ code }) => code === 'id-claimed-twice')
  const pools = problems({
    'a.yaml': own('ProxmoxPool', 'ops', '{id: Ops, comment: a}'),
    'b.yaml': own('ProxmoxPool', 'operators', '{id: Ops, comment: b}'),
  })
  assert.deepEqual(pools.map(({ origin }) => origin.file).sort(), ['a.yaml', 'b.yaml'])
  assert.match(pools[0]?.message ?? '', /Ops is also claimed by ProxmoxPool\/\w+ \(\w\.yaml:/)
  assert.equal(problems({ 'a.yaml': USER('x', 'x@pve'), 'b.yaml': USER('y', 'x@pve') }).length, 2)
  assert.equal(problems({ 'a.yaml': USER('x', 'x@pve'), 'b.yaml': USER('y', 'y@pve') }).length, 0)
})

/** A machine on one of two sites; the image for it is on both. */
function onSite(site: 'site-a' | 'default', machines: readonly Wanted[], more: Readonly<Record<string, string>> = {}) {
  const files = filesOf(machines)
  const image = (at: string) =>
    `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: noble-${at}}
spec:
  providerConfigRef: {name: ${at}}
  forProvider: {nodeName: fun-bedbug, datastoreId: local, contentType: import, fileName: ${IMAGE}, url: "https://cloud-images.ubuntu.com/noble/current/${IMAGE}"}
`
  const at = Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => path.startsWith('machines/'))
      .map(([path, text]) => [path, text.replace('spec:\n', `spec:\n  providerConfigRef: {name: ${site}}\n`)]),
  )
  return estateFrom({
    'a.yaml': proxmox('site-a'),
    'connection.yaml': proxmox('default'),
    'ia.yaml': image('site-a'),
    'ib.yaml': image('default'),
    ...at,
    ...more,
  })
}

const B1: Wanted = { name: 'b1', host: 'fun-bedbug' }
const KEY = 'EnvironmentVM/b1'

function running(run: Simulation): readonly string[] {
  const all = [['default', run.datacentre] as const, ...run.sites]
  return all.flatMap(([name, { world }]) =>
    [...world.guests.values()]
      .filter(({ config }) => config.get('name') === 'b1')
      .map(({ run: { status } }) => `${name} ${String(status)}`),
  )
}

test('a machine that moves to another connection is shut down at the old place, made at the new one, and the old one goes when the new one is Ready', async () => {
  const run = simulate({ seed: 6, estate: onSite('default', [B1]), sites: ['site-a'] })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(running(run), ['default running'])
  const both: string[][] = []
  run.estate = onSite('site-a', [B1])
  const planned = doing(await entriesOf(run, run.estate))
  assert.ok(
    planned.some((line) => line.includes(`${KEY}@at:default/`)),
    planned.join(),
  )
  const outcome = await run.untilSettled(run.start(), {
    onPass: () => both.push(running(run).filter((one) => one.endsWith('running')) as string[]),
  })
  assert.equal(outcome, 'settled')
  assert.deepEqual(running(run), ['site-a running'])
  assert.ok(
    both.every((there) => there.length < 2),
    'they never ran at the same time',
  )
})

test('a machine that moves never runs twice although a path that is not read could declare it', async () => {
  const run = simulate({ seed: 6, estate: onSite('default', [B1]), sites: ['site-a'] })
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  run.estate = { ...onSite('site-a', [B1]), unread: [{ path: 'x.yaml', mark: '1', why: 'a symbolic link' }] }
  let most = 0
  const onPass = () => {
    most = Math.max(most, running(run).filter((one) => one.endsWith('running')).length)
  }
  assert.equal(await run.untilSettled(process, { onPass }), 'settled')
  assert.equal(most, 1)
  assert.deepEqual(running(run), ['site-a running'])
  const { problems } = run.estate
  const plan = await run.clock.runUntil(process.engine.plan(run.estate, new AbortController().signal))
  assert.deepEqual(plan.problems, problems, 'it is declared, and nothing is said to be missing')
})

test('a protected machine that moves to another connection keeps its old one, shut down', async () => {
  const run = simulate({ seed: 7, estate: onSite('default', [B1]), sites: ['site-a'] })
  const guarded = (estate: Estate): Estate => ({
    ...estate,
    resources: estate.resources.map((one) =>
      one.key === KEY ? { ...one, policy: { ...one.policy, protect: true } } : one,
    ),
  })
  await settled(run, guarded(onSite('default', [B1])))
  run.estate = guarded(onSite('site-a', [B1]))
  await run.untilSettled(run.start(), { givesUp: true })
  assert.deepEqual([...running(run)].sort(), ['default stopped', 'site-a running'])
})

test('a machine whose new place cannot be made stays where it is, running', async () => {
  const run = simulate({ seed: 8, estate: onSite('default', [B1]), sites: ['site-a'] })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.estate = onSite('site-a', [{ ...B1, vmid: 201 }])
  run.sites.get('site-a')?.addGuest(201, 'fun-bedbug', { name: 'stranger' })
  await run.passes(run.start(), 6)
  assert.deepEqual(running(run), ['default running'])
})

test('a machine whose old connection left Git with the move is not made a second time before a person says that it is gone', async () => {
  const run = simulate({ seed: 9, estate: onSite('default', [B1]), sites: ['site-a'] })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const moved = onSite('site-a', [B1])
  const alone: Estate = {
    ...moved,
    connections: moved.connections.filter(({ name }) => name === 'site-a'),
    resources: moved.resources.filter(({ connection }) => connection === 'site-a'),
  }
  run.estate = alone
  const reports = await run.passes(run.start(), 5)
  assert.deepEqual(running(run), ['default running'])
  const action = reports.at(-1)?.plan.entries.find(({ key }) => key === KEY)?.action
  assert.ok(action?.do === 'refuse' && action.guard === 'moved', JSON.stringify(action))
  const origin = { file: 'gone.yaml', line: 1, column: 1 }
  run.estate = { ...alone, approvals: [{ name: 'gone', deletes: [], absence: ['default'], origin }] }
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual([...running(run)].sort(), ['default running', 'site-a running'])
})

test('a second connection to the same system, and a connection that is renamed, move nothing', async () => {
  const run = simulate({ seed: 10, estate: onSite('default', [B1]) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const writes = run.datacentre.writes.length
  // Without a separate datacentre, site-a reaches the same one.
  run.estate = onSite('site-a', [B1])
  await run.passes(run.start(), 4)
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
  assert.deepEqual(running(run), ['default running'])
  assert.deepEqual(doing(await entriesOf(run, run.estate)), [])
})

test('a machine that is on two connections and declared on neither leaves under two keys, so that both are shown and approved', async () => {
  const run = simulate({ seed: 11, estate: onSite('default', [B1]), sites: ['site-a'] })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const there = [...run.datacentre.world.guests.values()].find(({ config }) => config.get('name') === 'b1')
  assert.ok(there !== undefined)
  run.sites.get('site-a')?.addGuest(there.vmid, 'fun-bedbug', Object.fromEntries(there.config))
  const estate = onSite('default', [])
  const naming = (deletes: readonly string[]): Estate => ({
    ...estate,
    approvals: [{ name: 'croft delete', deletes, orphans: true, origin: { file: 'x', line: 1, column: 1 } }],
  })
  const twin = `${KEY}@at:site-a/${there.vmid}`
  const lines = doing(await entriesOf(run, naming([KEY, twin]))).filter((line) => line.includes(KEY))
  assert.deepEqual(lines.sort(), [`delete ${KEY}`, `delete ${twin}`])
  run.estate = estate
  await run.untilSettled(run.start(), { givesUp: true })
  assert.equal(run.datacentre.world.guests.has(there.vmid), false, 'its record says that it is ours')
  assert.equal(
    run.sites.get('site-a')?.world.guests.has(there.vmid),
    true,
    'no record and no person says that it may go',
  )
})

test('a store from before is taken over as it is: no write, and what an earlier move left behind is shown and held', async () => {
  const files = {
    'u.yaml': USER('erin', 'erin@pve'),
    'p.yaml': own('ProxmoxPool', 'ops', '{id: Ops, comment: c, connection: default}'),
  }
  const run = simulate({ seed: 12, estate: onSite('default', [B1]), sites: ['site-a'] })
  const withSettings = onSite('default', [B1], {
    ...files,
    'u.yaml': files['u.yaml'].replace('{id', '{connection: default, id'),
  })
  await settled(run, withSettings)
  for (const [key, { birth: _, absent: __, ...record }] of run.disk.records) run.disk.records.set(key, record)
  // As if the machine had been moved here before places were kept: another one runs there under its mark.
  const there = [...run.datacentre.world.guests.values()].find(({ config }) => config.get('name') === 'b1')
  assert.ok(there !== undefined)
  run.sites.get('site-a')?.addGuest(there.vmid, 'fun-bedbug', Object.fromEntries(there.config))
  const writes = run.datacentre.writes.length
  const reports = await run.passes(run.start(), 5)
  assert.deepEqual(run.datacentre.writes.slice(writes), [])
  assert.deepEqual(
    run.sites.get('site-a')?.writes.filter(({ path }) => path.includes('/qemu')),
    [],
  )
  const left = reports.at(-1)?.plan.entries.find(({ key }) => key === `${KEY}@at:site-a/${there.vmid}`)?.action
  assert.ok(left?.do === 'hold' && left.guard === 'not-of-this-directory', JSON.stringify(left))
})
