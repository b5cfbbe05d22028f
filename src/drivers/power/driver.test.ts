import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createDatacentre } from '../../../sim/datacentre.ts'
import { redfishWire } from '../../../sim/metal/redfish.ts'
import { metalShell } from '../../../sim/metal/shell.ts'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { systemClock } from '../../lib/clock.ts'
import { sendDatagram } from '../../lib/datagram.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Shell } from '../../lib/shell.ts'
import { magicPacket } from '../../lib/wake.ts'
import type { BmcTarget, PowerHost } from '../../model/power.ts'
import { Secret } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import { specWith } from '../../plan/power/testing/fixture.ts'
import { createPowerDriver } from './driver.ts'
import { unitText } from './last-word.ts'
import { readWho } from './people.ts'
import { tierOf, type WorkloadTraits } from './tiers.ts'

const signal = new AbortController().signal
const step = (verb: Step<'power'>['verb'], host: string): Step<'power'> => ({
  about: 'power',
  verb,
  tier: 'hosts',
  host,
  lane: 'local',
  summary: `${verb} ${host}`,
  awaits: '',
})

function shellThat(run: Shell['run']): Shell {
  return { run, readFile: async () => undefined, writeFile: async () => {}, close: async () => {} }
}

test('[A46] a host is woken by a magic packet that is really sent', async () => {
  const socket = createSocket('udp4')
  const heard = new Promise<Buffer>((resolve) => socket.once('message', resolve))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  try {
    const driver = createPowerDriver({ clock: systemClock, sendDatagram, resolveSecret: async () => new Secret('') })
    const mac = 'BC:24:11:00:00:07'
    const duck: PowerHost = {
      name: 'duck',
      level: 1,
      own: false,
      tells: [],
      wake: { mac, broadcast: '127.0.0.1', port: socket.address().port },
    }
    const spec = specWith({ hosts: [duck] })
    assert.deepEqual(await driver.perform(step('wake-host', 'duck'), { spec, shells: new Map() }, signal), {
      result: 'done',
    })
    assert.deepEqual(new Uint8Array(await heard), magicPacket(mac))
  } finally {
    socket.close()
  }
})

/** Two boxes with management controllers on a simulated clock. */
function boxes() {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(3), preset: 'empty' })
  datacentre.addBox('cow', ['192.168.4.11'], 'off')
  datacentre.addBox('duck', ['192.168.4.12'], 'on')
  const driver = createPowerDriver({
    clock,
    sendDatagram: async () => {},
    resolveSecret: async () => new Secret('x'),
    openBmc: ({ address }) => redfishWire(datacentre.world, address),
  })
  const hostOf = (name: string): PowerHost => ({ name, level: 1, own: false, tells: [], bmc: target(name) })
  const target = (address: string): BmcTarget => ({
    address,
    port: 443,
    user: 'root',
    password: { from: 'env', name: 'X' } as never,
  })
  const [cow, duck] = [hostOf('cow'), hostOf('duck')]
  const reach = { spec: specWith({ hosts: [cow, duck] }), shells: new Map() }
  const perform = (verb: Step<'power'>['verb'], host: string, force = false) =>
    clock.runUntil(driver.perform({ ...step(verb, host), force }, reach, signal), { maxMs: 60_000 })
  const powerOf = (host: PowerHost) => clock.runUntil(driver.hostPower(host, signal), { maxMs: 60_000 })
  const resets = (name: string) => datacentre.world.metal.get(name)?.resets
  return { clock, datacentre, cow, duck, perform, powerOf, resets }
}

test('[F-30] a lost reply of a management controller: looked at again, and never a cycle', async () => {
  const { clock, datacentre, cow, duck, perform, powerOf, resets } = boxes()
  datacentre.loseBmcReplies('cow', 1)
  assert.equal((await perform('wake-host', 'cow')).result, 'unclear')
  assert.equal((await powerOf(cow)).power, 'on')
  assert.equal((await perform('wake-host', 'cow')).result, 'done')
  assert.equal((await powerOf(duck)).power, 'on')
  assert.equal((await perform('stop-host', 'duck')).result, 'done')
  await clock.advanceTo(clock.now() + 10_000)
  assert.equal((await powerOf(duck)).power, 'off')
  assert.deepEqual([resets('cow'), resets('duck')], [['On', 'On'], ['GracefulShutdown']])
})

test('a box that does not go down when it is asked is switched off only when that is forced', async () => {
  const { clock, datacentre, duck, perform, powerOf, resets } = boxes()
  datacentre.setTrouble('duck', { neverStops: true })
  await perform('stop-host', 'duck')
  await clock.advanceTo(clock.now() + 600_000)
  assert.equal((await powerOf(duck)).power, 'on')
  await perform('stop-host', 'duck', true)
  assert.equal((await powerOf(duck)).power, 'off')
  assert.deepEqual(resets('duck'), ['GracefulShutdown', 'ForceOff'])
})

test('what a box takes is read from its management controller', async () => {
  const { duck, powerOf } = boxes()
  assert.deepEqual(await powerOf(duck), { power: 'on', watts: 60 })
})

test('[A42] [R27] who is logged in, since when, and for how long without a key', async () => {
  const text = `tapas    pts/0        2026-11-15 06:41 00:05        1234 (192.168.4.10)
ana      tty1         2026-11-14 20:00  old         800
root     pts/1        2026-11-15 06:59   .          1300 (cow.home)
system boot
`
  assert.deepEqual(readWho(text, 's1'), [
    {
      kind: 'person',
      who: 'tapas (from 192.168.4.10)',
      where: 's1',
      idleMs: 300_000,
      sinceMs: Date.parse('2026-11-15T06:41:00Z'),
    },
    { kind: 'person', who: 'ana', where: 's1', idleMs: 86_400_000, sinceMs: Date.parse('2026-11-14T20:00:00Z') },
    {
      kind: 'person',
      who: 'root (from cow.home)',
      where: 's1',
      idleMs: 0,
      sinceMs: Date.parse('2026-11-15T06:59:00Z'),
    },
  ])
  const driver = createPowerDriver({
    clock: systemClock,
    sendDatagram: async () => {},
    resolveSecret: async () => new Secret(''),
  })
  const shells = new Map([
    ['s1', shellThat(async () => ({ code: 0, stdout: text, stderr: '' }))],
    ['s2', shellThat(async () => Promise.reject(new Error('closed')))],
  ])
  assert.equal((await driver.people(shells, signal)).length, 3)
})

test('our own box goes down by a unit of its own, and what it wrote is read back, from its last run alone', async () => {
  const clock = createVirtualClock(1_760_000_000_000)
  const { world, ...datacentre } = createDatacentre({ clock, random: seededRandom(3), preset: 'empty' })
  datacentre.addBox('own', ['192.168.4.11'], 'on')
  const driver = createPowerDriver({
    clock,
    sendDatagram: async () => {},
    resolveSecret: async () => new Secret(''),
    openShell: ({ name }) => metalShell(world, name),
  })
  const own: PowerHost = { name: 'own', level: 1, own: true, tells: [], ssh: { name: 'own' } as never }
  const reach = { spec: specWith({ hosts: [own] }), shells: new Map() }
  const told: (readonly string[])[] = []
  for (let time = 0; time < 2; time++) {
    const done = await clock.runUntil(driver.perform(step('stop-host', 'own'), reach, signal), { maxMs: 60_000 })
    assert.equal(done.result, 'done')
    await clock.advanceTo(clock.now() + 10_000)
    assert.equal(world.metal.get('own')?.power, 'off')
    datacentre.boxPower('own', 'on')
    await clock.advanceTo(clock.now() + 200_000)
    told.push(await clock.runUntil(driver.ownJournal(own, signal), { maxMs: 60_000 }))
  }
  for (const words of told) {
    assert.equal(words.length, 2, words.join('\n'))
    assert.match(words[0] ?? '', /everything else is off$/)
    assert.match(words[1] ?? '', /power off$/)
  }
  assert.notEqual(told[0]?.[0], told[1]?.[0])
})

/** Only parses a file: starts nothing. */
const analyze = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' })
const noAnalyze = analyze.status === 0 ? undefined : 'systemd-analyze is not installed (package systemd)'

test('systemd takes the unit of our own box', { skip: process.env.CI === undefined && noAnalyze }, () => {
  assert.equal(noAnalyze, undefined)
  const place = mkdtempSync(path.join(tmpdir(), 'croft-unit-'))
  try {
    const file = path.join(place, 'croft-power-off.service')
    writeFileSync(file, unitText())
    const judged = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    assert.deepEqual([judged.status, judged.stderr], [0, ''])
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
})

const labelled = (labels: Readonly<Record<string, string>>): Partial<WorkloadTraits> => ({
  labels: new Map(Object.entries(labels)),
})

const TIERS: readonly [string, Partial<WorkloadTraits>, string][] = [
  ['an operator', { name: 'photos-operator' }, 'operators'],
  [
    'the operator of databases goes after them',
    { name: 'cnpg-controller-manager', ...labelled({ 'app.kubernetes.io/name': 'cloudnative-pg' }) },
    'storage-clients',
  ],
  ['a database of CloudNativePG', { kind: 'Database', name: 'pg' }, 'databases'],
  ['a database by its label', { name: 'db', ...labelled({ 'app.kubernetes.io/component': 'database' }) }, 'databases'],
  [
    'OSDs stop with their nodes, wherever Rook is',
    {
      namespace: 'ceph',
      name: 'rook-ceph-osd-0',
      ...labelled({ 'app.kubernetes.io/managed-by': 'rook-ceph-operator' }),
    },
    'storage',
  ],
  [
    'what attaches volumes of Rook up to 1.18',
    { namespace: 'rook-ceph', name: 'x', ...labelled({ app: 'csi-rbdplugin-provisioner' }) },
    'storage-clients',
  ],
  [
    'what attaches volumes of Rook 1.19',
    { namespace: 'rook-ceph', name: 'rook-ceph.rbd.csi.ceph.com-ctrlplugin', containers: ['log', 'csi-attacher'] },
    'storage-clients',
  ],
  ['an application beside Argo CD', { namespace: 'argocd', name: 'web' }, 'apps'],
  ['an application beside Rook', { namespace: 'rook-ceph', name: 'web' }, 'apps'],
  ['what has a volume must be put down, wherever it is', { namespace: 'kube-system', name: 'x', claims: true }, 'apps'],
  ['whoever must agree to every write stays', { name: 'policies', answersWebhooks: true }, 'system'],
  ['anything else', { name: 'web' }, 'apps'],
  [
    'what a person wrote comes first',
    labelled({ 'app.kubernetes.io/part-of': 'argocd', 'croft.dev/power-tier': 'apps' }),
    'apps',
  ],
]

const PLAIN: WorkloadTraits = {
  namespace: 'default',
  name: 'x',
  kind: 'Deployment',
  labels: new Map(),
  containers: ['main'],
  claims: false,
  answersWebhooks: false,
}

for (const [name, more, tier] of TIERS) {
  test(`[R25] the tier of ${name}: ${tier}`, () => {
    assert.equal(tierOf({ ...PLAIN, ...more }, []), tier)
  })
}

test('a rule of the Power comes before what is known of software', () => {
  const workload = { ...PLAIN, namespace: 'media', name: 'web', labels: new Map([['a', 'b']]) }
  assert.equal(tierOf(workload, [{ tier: 'databases', namespaces: ['media'], labels: {} }]), 'databases')
  assert.equal(tierOf(workload, [{ tier: 'storage', namespaces: [], labels: { a: 'b' } }]), 'storage')
  assert.equal(tierOf(workload, [{ tier: 'storage', namespaces: ['other'], labels: { a: 'b' } }]), 'apps')
  assert.equal(tierOf(workload, [{ tier: 'storage', namespaces: [], labels: {} }]), 'apps')
})
