import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../test/simulation/manifests.ts'
import { type Harness, startHarness } from './testing/harness.ts'

const ANNA = { name: 'page:anna', from: 'page' } as const

async function settled(harness: Harness): Promise<void> {
  await harness.until(
    () =>
      harness.controller.view().resources.length > 0 &&
      harness.controller
        .view()
        .resources.every(
          (one) => one.action.do === 'nothing' && one.conditions.some((c) => c.type === 'Ready' && c.status === 'True'),
        ),
  )
}

const THREE = SIX.slice(0, 3)

test('[A55] a push that is told by webhook has its first write within half a second, and the commit beside it', async () => {
  const harness = await startHarness({ machines: THREE })
  await settled(harness)
  harness.writes.length = 0
  harness.push(filesOf(THREE.map((one) => ({ ...one, memory: 4096 }))), 'a'.repeat(40))
  await harness.pass(3_000)
  assert.equal(harness.writes.length, 0, 'nobody told it, and the next poll is far')
  const pokedMs = harness.clock.now()
  harness.controller.poke('main')
  await harness.until(() => harness.writes.length > 0)
  const latencyMs = (harness.writes[0]?.atMs ?? 0) - pokedMs
  assert.ok(latencyMs <= 500, `the first write came after ${latencyMs} ms`)
  await harness.until(() => harness.heard.some((event) => event.reason === 'Done' && event.commit === 'a'.repeat(40)))
  const done = harness.heard.find((event) => event.reason === 'Done' && event.commit === 'a'.repeat(40))
  assert.match(done?.cause?.plan ?? '', /memory/)
  assert.match(done?.cause?.call ?? '', /^(?:PUT|POST) \/nodes\//)
  assert.equal(harness.controller.view().sources[0]?.commit, 'a'.repeat(40))
  await harness.stop()
})

test('[A57] a settled estate is looked at seldom, writes nothing anywhere and changes no view', async () => {
  const harness = await startHarness({ machines: THREE, pollMs: 600_000 })
  await settled(harness)
  await harness.pass(60_000)
  harness.writes.length = 0
  harness.calls()
  const { version } = harness.controller.view()
  const stored = JSON.stringify([...harness.disk.records.values(), harness.disk.events, [...harness.disk.values]])
  await harness.pass(600_000)
  assert.equal(harness.writes.length, 0)
  assert.equal(harness.controller.view().version, version)
  assert.equal(
    JSON.stringify([...harness.disk.records.values(), harness.disk.events, [...harness.disk.values]]),
    stored,
  )
  const calls = harness.calls()
  assert.ok(calls <= 61 * (2 + 3 + 3 + 3), `${calls} calls in ten minutes`)
  await harness.stop()
})

test('[A56] a field that somebody changed by hand is named, with old and new value, and put back', async () => {
  const harness = await startHarness({ machines: THREE })
  await settled(harness)
  const guest = harness.datacentre.world.guests.get(201)
  assert.ok(guest)
  guest.config.set('memory', '1024')
  await harness.until(() => harness.heard.some((event) => event.reason === 'Drift'), 3_600_000)
  const drift = harness.heard.find((event) => event.reason === 'Drift')
  assert.equal(drift?.key, 'EnvironmentVM/server-1')
  assert.match(drift?.message ?? '', /memory\S* 2048 → 1024/)
  await harness.until(() => guest.config.get('memory') === '2048', 3_600_000)
  assert.ok(harness.heard.some((event) => event.cause?.drift === true))
  await settled(harness)
  assert.deepEqual(harness.controller.view().drifts, [])
  await harness.stop()
})

test('[A56] who stopped a machine is named, with the task and the time', async () => {
  const harness = await startHarness({ machines: THREE })
  await settled(harness)
  await harness.pass(30_000)
  const atMs = harness.clock.now()
  const stop = {
    method: 'POST',
    path: '/api2/json/nodes/pumped-piglet/qemu/201/status/stop',
    headers: { authorization: `PVEAPIToken=${harness.datacentre.token}` },
  }
  assert.equal((await harness.clock.runUntil(harness.datacentre.handle(stop))).status, 200)
  await harness.until(() => harness.heard.some((event) => event.reason === 'Drift'), 3_600_000)
  const record = harness.disk.records.get('EnvironmentVM/server-1')
  assert.match(record?.driftBy?.user ?? '', /^root@pam/)
  assert.equal(record?.driftBy?.task, 'qmstop')
  assert.ok((record?.driftBy?.atMs ?? 0) >= atMs - 1_000)
  await harness.until(() => harness.datacentre.world.guests.get(201)?.run.status === 'running')
  await settled(harness)
  await harness.stop()
})

test('[A56] with croft.dev/drift: report it is shown and held until a person reverts it', async () => {
  const files = filesOf(THREE)
  const name = 'machines/server-1.yaml'
  files[name] = (files[name] ?? '').replace(
    'metadata: {name: server-1}',
    'metadata: {name: server-1, annotations: {croft.dev/drift: report}}',
  )
  const harness = await startHarness({ files })
  await settled(harness)
  const guest = harness.datacentre.world.guests.get(201)
  assert.ok(guest)
  guest.config.set('memory', '1024')
  await harness.until(() => harness.controller.view().drifts.length > 0, 3_600_000)
  const [drift] = harness.controller.view().drifts
  assert.equal(drift?.policy, 'report')
  assert.equal(drift?.declared, '2048')
  assert.equal(drift?.observed, '1024')
  await harness.pass(120_000)
  assert.equal(guest.config.get('memory'), '1024', 'held')
  assert.deepEqual(await harness.controller.ask({ wish: 'revert-drift', key: 'EnvironmentVM/server-2' }, ANNA), {
    ok: false,
    reason: 'not-found',
    message: 'EnvironmentVM/server-2 has not drifted: when croft last looked, it was as Git declares it',
  })
  const revert = { wish: 'revert-drift', key: 'EnvironmentVM/server-1' } as const
  assert.equal((await harness.controller.ask(revert, ANNA)).ok, true)
  guest.config.set('memory', '1536')
  await harness.until(() => harness.controller.view().drifts[0]?.observed === '1536', 3_600_000)
  await harness.pass(120_000)
  assert.equal(guest.config.get('memory'), '1536', 'what came after the question was not asked about')
  assert.equal((await harness.controller.ask(revert, ANNA)).ok, true)
  await harness.until(() => guest.config.get('memory') === '2048')
  await settled(harness)
  const audit = await harness.store.audit({})
  assert.deepEqual(
    audit.map(({ actor, what, outcome }) => ({ actor, what, outcome })),
    [
      { actor: 'git:anna', what: 'commit', outcome: 'done' },
      { actor: 'page:anna', what: 'revert-drift', outcome: 'refused' },
      { actor: 'page:anna', what: 'revert-drift', outcome: 'done' },
      { actor: 'page:anna', what: 'revert-drift', outcome: 'done' },
    ],
  )
  await harness.stop()
})

test('[A54] deleting four of six machines is held; an approval from the page lets it pass until it expires', async () => {
  const harness = await startHarness({ machines: SIX })
  await settled(harness)
  harness.push(filesOf(SIX.slice(0, 2)))
  harness.controller.poke('main')
  const held = () => harness.controller.view().resources.filter((one) => one.action.do === 'hold')
  await harness.until(() => held().length === 4)
  await harness.pass(60_000)
  assert.equal(held().length, 4)
  const keys = held().map((one) => one.key)
  const late = await harness.controller.ask({ wish: 'approve', keys, expiresMs: harness.clock.now() - 1 }, ANNA)
  assert.equal(late.ok, false)
  const granted = await harness.controller.ask(
    { wish: 'approve', keys, expiresMs: harness.clock.now() + 3_600_000 },
    ANNA,
  )
  assert.equal(granted.ok, true)
  await harness.until(
    () =>
      [201, 202].every((id) => harness.datacentre.world.guests.has(id)) && !harness.datacentre.world.guests.has(203),
  )
  await harness.until(
    () => harness.controller.view().resources.filter((one) => one.kind === 'EnvironmentVM').length === 2,
  )
  await harness.stop()
})

test('[D-07] an approval of two of four held deletions lets these two go at once, and the others never by themselves', async () => {
  const harness = await startHarness({ machines: SIX })
  await settled(harness)
  harness.push(filesOf(SIX.slice(0, 2)))
  harness.controller.poke('main')
  const held = () => harness.controller.view().resources.filter((one) => one.action.do === 'hold')
  await harness.until(() => held().length === 4)
  const approve = (keys: readonly string[]) =>
    harness.controller.ask({ wish: 'approve', keys, expiresMs: harness.clock.now() + 600_000 }, ANNA)
  assert.equal((await approve(['EnvironmentVM/agent-1', 'EnvironmentVM/agent-2'])).ok, true)
  await harness.until(() => held().length === 2)
  await harness.until(
    () => harness.controller.view().resources.filter((one) => one.kind === 'EnvironmentVM').length === 4,
  )
  assert.equal((await approve(['EnvironmentVM/agent-3'])).ok, true)
  await harness.until(
    () => harness.controller.view().resources.filter((one) => one.kind === 'EnvironmentVM').length === 3,
  )
  // A single one is left, which the limit alone would allow, and the approvals expire.
  await harness.pass(1_200_000)
  assert.deepEqual(
    held().map(({ key }) => key),
    ['EnvironmentVM/server-3'],
  )
  assert.ok(harness.datacentre.world.guests.has(203))
  await harness.stop()
})

test('[S-12] one invalid object among many: the others are reconciled, the one is marked', async () => {
  const files = {
    ...filesOf(THREE),
    'machines/bad.yaml': 'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: bad}\nspec: {nonsense: 1}\n',
  }
  const harness = await startHarness({ files })
  await settled(harness)
  const view = harness.controller.view()
  assert.equal(view.resources.filter((one) => one.kind === 'EnvironmentVM').length, 3)
  assert.ok(
    view.problems.some((problem) => problem.object === 'Machine/bad' && problem.origin.file === 'machines/bad.yaml'),
  )
  await harness.stop()
})

test('[F-36] an empty tree deletes nothing, and the trouble is shown and told once', async () => {
  const harness = await startHarness({ machines: THREE, pollMs: 1_000 })
  await settled(harness)
  harness.push({}, 'e'.repeat(40))
  await harness.pass(30_000)
  assert.match(harness.controller.view().sources[0]?.trouble ?? '', /declares nothing/)
  assert.equal(harness.heard.filter((event) => event.reason === 'SourceTrouble').length, 1)
  assert.equal(harness.datacentre.world.guests.has(201), true)
  assert.equal(harness.controller.view().sources[0]?.commit, 'c'.repeat(40))
  await harness.stop()
})

test('a resource that is suspended is not written to, and a restart does not forget it', async () => {
  const harness = await startHarness({ machines: THREE })
  await settled(harness)
  assert.equal((await harness.controller.ask({ wish: 'suspend', key: 'EnvironmentVM/server-1' }, ANNA)).ok, true)
  await harness.stop()
  assert.match(harness.disk.values.get('controller/wishes') ?? '', /server-1/)
  const again = await startHarness({ files: filesOf(THREE), disk: harness.disk })
  await again.until(() => again.controller.view().resources.some((one) => one.key === 'EnvironmentVM/server-1'))
  assert.equal(again.controller.view().resources.find((one) => one.key === 'EnvironmentVM/server-1')?.paused, true)
  await again.stop()
})

test('the manifest of a resource is shown as it was written, without its secrets', async () => {
  const files = filesOf(THREE)
  files['machines/server-1.yaml'] =
    `# keep this\n${files['machines/server-1.yaml']?.replace('spec:', '# password: hunter2 is not here\nspec:')}`
  const harness = await startHarness({ files })
  await harness.until(() => harness.controller.ready())
  const text = await harness.controller.manifest('EnvironmentVM/server-1')
  assert.match(text ?? '', /# keep this/)
  assert.ok(!text?.includes('hunter2'))
  assert.equal(await harness.controller.manifest('EnvironmentVM/none'), undefined)
  await harness.stop()
})

test('[A53] a directory and an object that are renamed with the same content: renamed, nothing deleted, nothing made', async () => {
  const harness = await startHarness({ machines: THREE })
  await settled(harness)
  const files = filesOf(THREE)
  const text = files['machines/server-1.yaml'] ?? ''
  delete files['machines/server-1.yaml']
  files['hosts/first/control-1.yaml'] = text.replace('metadata: {name: server-1}', 'metadata: {name: control-1}')
  const before = [...harness.datacentre.world.guests.keys()].sort((a, b) => a - b)
  harness.writes.length = 0
  harness.push(files, 'b'.repeat(40))
  harness.controller.poke('main')
  await harness.until(() => harness.controller.view().resources.some((one) => one.key === 'EnvironmentVM/control-1'))
  await settled(harness)
  assert.deepEqual(
    [...harness.datacentre.world.guests.keys()].sort((a, b) => a - b),
    before,
  )
  assert.deepEqual(
    harness.writes.filter(({ line }) => !/^PUT .*\/config$|^POST .*\/config$/.test(line)),
    [],
    'only the mark is written',
  )
  const view = harness.controller.view()
  assert.equal(view.resources.find((one) => one.key === 'EnvironmentVM/control-1')?.externalId, '201')
  assert.ok(!view.resources.some((one) => one.key === 'EnvironmentVM/server-1'))
  await harness.until(() => harness.heard.some((event) => event.reason === 'Renamed'))
  assert.ok(harness.heard.some((event) => event.cause?.plan === 'renamed from EnvironmentVM/server-1'))
  await harness.pass(60_000)
  assert.equal(harness.writes.length, 1)
  await harness.stop()
})

test('where nobody asks for a view none is made, and whoever listens hears the same events', async () => {
  const plain = await startHarness({ machines: THREE })
  const headless = await startHarness({ machines: THREE, options: { headless: true } })
  for (const harness of [plain, headless]) await harness.pass(120_000)
  const { version, resources } = headless.controller.view()
  assert.deepEqual([version, resources], [0, []])
  assert.ok(plain.controller.view().resources.length > 0)
  const said = ({ heard }: Harness) => heard.map(({ reason, key }) => `${reason} ${key ?? ''}`)
  assert.deepEqual(said(headless), said(plain))
  assert.ok(said(headless).length > 0)
  await plain.stop()
  await headless.stop()
})
