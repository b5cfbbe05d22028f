import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom } from './manifests.ts'
import { nothingDoubledOrLost, strangersOf } from './oracle.ts'
import { type Simulation, simulate } from './run.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'containers.test.ts'
const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: 'https://127.0.0.1:8006', token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}}
`
const template = `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: debian}
spec:
  forProvider: {nodeName: fun-bedbug, datastoreId: local, contentType: vztmpl, url: 'https://images.test/debian-12.tar.zst'}
`

function container(name: string, more = '', vmId = ''): string {
  return `apiVersion: virtualenvironmentcontainer.crossplane.io/v1alpha1
kind: EnvironmentContainer
metadata: {name: ${name}}
spec:
  deletionPolicy: Delete
  forProvider:
    nodeName: fun-bedbug
    ${vmId}
    unprivileged: true
    operatingSystem: [{templateFileId: 'local:vztmpl/debian-12.tar.zst'}]
    cpu: [{cores: 1}]
    memory: [{dedicated: 512, swap: 0}]
    disk: [{datastoreId: local-zfs, size: 8}]
    mountPoint: [{volume: local-zfs, size: 4G, path: /data}]
    networkInterface: [{name: eth0, bridge: vmbr0}]
    initialization: [{ipConfig: [{ipv4: [{address: dhcp}]}]}]
    features: [{nesting: true}]
${more}`
}

const TWO = {
  'connection.yaml': connection,
  'debian.yaml': template,
  'a.yaml': container('dns-1', '', 'vmId: 210'),
  'b.yaml': container('dns-2'),
}
const estate = estateFrom(TWO)

function containersOf(run: Simulation) {
  return [...run.datacentre.world.guests.values()].filter((guest) => guest.type === 'lxc')
}

function asDeclared(run: Simulation, hint: string): void {
  const found = containersOf(run)
  assert.deepEqual(found.map((guest) => guest.config.get('hostname') ?? '').sort(), ['dns-1', 'dns-2'], hint)
  for (const guest of found) {
    assert.equal(guest.run.status, 'running', hint)
    assert.match(guest.config.get('rootfs') ?? '', /^local-zfs:.*size=8G/, hint)
    assert.match(guest.config.get('tags') ?? '', /croft-[0-9a-f]{16}/, hint)
  }
  assert.ok(run.datacentre.world.guests.get(210)?.type === 'lxc', hint)
}

test('containers are made once their template is there, changed in place, and removed', async () => {
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  const run = simulate({ seed: 31, estate })
  const before = strangersOf(run.datacentre)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  asDeclared(run, '')
  const writes = run.datacentre.writes.length
  await run.passes(run.start(), 5)
  assert.equal(run.datacentre.writes.length, writes)

  const { life } = run.datacentre.world.guests.get(210)?.run ?? {}
  const larger = container('dns-1', '', 'vmId: 210').replace('size: 8}', 'size: 12}').replace('cores: 1', 'cores: 2')
  run.estate = estateFrom({ ...TWO, 'a.yaml': larger })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const guest = run.datacentre.world.guests.get(210)
  assert.match(guest?.config.get('rootfs') ?? '', /size=12G/)
  assert.equal(guest?.config.get('cores'), '2')
  assert.equal(guest?.run.life, life)

  const { 'b.yaml': _, ...less } = TWO
  const without = { ...less, 'a.yaml': larger }
  run.estate = estateFrom(without)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(containersOf(run).length, 2, 'there is data on its mount point')
  const approval = `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: x}
spec: {deletes: [EnvironmentContainer/dns-2], reason: its data is copied, expires: "2030-01-01T00:00:00Z"}
`
  run.estate = estateFrom({ ...without, 'approval.yaml': approval })
  assert.deepEqual(
    run.estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(containersOf(run).length, 1)
  nothingDoubledOrLost(run, before, '')
})

test('[A22] a container that was moved is followed, never made anew', async () => {
  const run = simulate({ seed: 32, estate })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.datacentre.patchGuest(210, { node: 'still-fawn' })
  const writes = run.datacentre.writes.length
  const reports = await run.passes(run.start(), 5)
  const entry = reports.at(-1)?.plan.entries.find(({ key }) => key === 'EnvironmentContainer/dns-1')
  assert.equal(entry?.action.do, 'nothing')
  assert.match(entry?.notes?.[0] ?? '', /^moved: declared on fun-bedbug, runs on still-fawn/)
  assert.equal(run.datacentre.writes.length, writes)
})

test('a controller that dies anywhere on the way makes no second container', async () => {
  for (const seed of seeds(1, 30)) {
    for (const crashAt of points(60, 10)) {
      const hint = replay(FILE, seed, crashAt)
      const run = simulate({ seed, estate })
      await run.untilSettled(run.start({ crashAt }))
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      asDeclared(run, hint)
    }
  }
})

test('what only root may do is refused before anything is written', async () => {
  const rooted = container('dns-1', '    devicePassthrough: [{path: /dev/dri/renderD128}]\n', 'vmId: 210')
  const run = simulate({ seed: 33, estate: estateFrom({ 'connection.yaml': connection, 'a.yaml': rooted }) })
  const [report] = await run.passes(run.start(), 1)
  const entry = report?.plan.entries.find(({ key }) => key === 'EnvironmentContainer/dns-1')
  assert.ok(entry?.action.do === 'refuse')
  assert.match(entry.action.reason, /devices\.dev0 is a device of the host, \/dev\/dri\/renderD128.*SSH lane/)
  assert.equal(run.datacentre.writes.length, 0)
})

test('the guards stand before containers as before machines: too many at once, protected, and a tree that was not read whole', async () => {
  const plain = (name: string, more = '') =>
    container(name)
      .replace(/^ {4}mountPoint.*\n/m, '')
      .replace(`{name: ${name}}`, `{name: ${name}${more}}`)
  const names = ['dns-1', 'dns-2', 'dns-3']
  const files = (left: readonly string[]) => ({
    'connection.yaml': connection,
    'debian.yaml': template,
    ...Object.fromEntries(
      left.map((name) => [
        `${name}.yaml`,
        plain(name, name === 'dns-3' ? ', annotations: {croft.dev/protect: "true"}' : ''),
      ]),
    ),
  })
  const run = simulate({ seed: 33, estate: estateFrom(files(names)) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(containersOf(run).length, 3)
  const left = async (estate: typeof run.estate) => {
    run.estate = estate
    const reports = await run.passes(run.start(), 12)
    const guards = reports.at(-1)?.plan.entries.flatMap(({ action }) => ('guard' in action ? [action.guard] : []))
    return [containersOf(run).length, ...new Set(guards)]
  }
  assert.deepEqual(await left(estateFrom(files(['dns-3']))), [3, 'blast-radius'])
  const two = estateFrom(files(['dns-1', 'dns-3']))
  assert.deepEqual(await left({ ...two, incomplete: true }), [3, 'incomplete-source'])
  assert.deepEqual(await left(estateFrom(files(['dns-1', 'dns-2']))), [3, 'protection'])
  const approved = { name: 'x', deletes: ['EnvironmentContainer/dns-2'], origin: { file: 'a', line: 1, column: 1 } }
  assert.deepEqual(await left({ ...two, approvals: [approved] }), [2], 'one, by name')
})
