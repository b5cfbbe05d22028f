import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { sendDatagram } from '../../lib/datagram.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Shell } from '../../lib/shell.ts'
import { magicPacket } from '../../lib/wake.ts'
import { type Wire, WireFailure } from '../../lib/wire.ts'
import type { BmcTarget, PowerHost } from '../../model/power.ts'
import type { PowerStep } from '../../model/power-decision.ts'
import { Secret } from '../../model/secret.ts'
import { specWith } from '../../plan/power/testing/fixture.ts'
import { createDatacentre } from '../../sim/datacentre.ts'
import { type BmcVerb, type Box, bmc } from '../../sim/metal/box.ts'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { createPowerDriver } from './driver.ts'
import { unitText } from './last-word.ts'
import { readWho } from './people.ts'
import { type Described, tierOf } from './tiers.ts'

const signal = new AbortController().signal
const step = (verb: PowerStep['do'], host: string): PowerStep => ({
  do: verb,
  tier: 'hosts',
  host,
  lane: 'local',
  summary: `${verb} ${host}`,
  awaits: '',
})

function shellThat(run: Shell['run'], written: string[] = []): Shell {
  return {
    run,
    readFile: async () => undefined,
    writeFile: async (path) => {
      written.push(path)
    },
    close: async () => {},
  }
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

/** The management controller of a simulated box, as Redfish. */
function redfishOf(box: Box, cycles: string[]): Wire {
  const answer = (body: unknown) => ({ status: 200, reason: 'OK', headers: {}, body: JSON.stringify(body) })
  return {
    async send({ method, path, body }) {
      const world = box.computer.world
      if (method === 'GET' && path === '/redfish/v1/Systems')
        return answer({ Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] })
      if (method === 'GET') return answer({ PowerState: bmc(world, box, 'status')?.power === 'on' ? 'On' : 'Off' })
      const { ResetType } = JSON.parse(String(body)) as { ResetType: string }
      cycles.push(ResetType)
      const verb: BmcVerb =
        ResetType === 'On' ? 'on' : ResetType.includes('Off') || ResetType.includes('Shutdown') ? 'off' : 'reset'
      if (bmc(world, box, verb) === undefined) throw new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
      return answer({})
    },
    close: async () => {},
  }
}

test('[F-30] a lost reply of a management controller: looked at again, and never a cycle', async () => {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(3), preset: 'empty' })
  datacentre.addBox('cow', ['192.168.4.11'], 'off')
  datacentre.addBox('duck', ['192.168.4.12'], 'on')
  const cycles: string[] = []
  const target = (name: string): BmcTarget => ({
    address: name,
    port: 443,
    user: 'root',
    password: { from: 'env', name: 'X' } as never,
  })
  const driver = createPowerDriver({
    clock,
    sendDatagram: async () => {},
    resolveSecret: async () => new Secret('x'),
    openBmc: ({ address }) => {
      const box = datacentre.world.metal.get(address)
      assert.ok(box)
      return redfishOf(box, cycles)
    },
  })
  const hosts: PowerHost[] = ['cow', 'duck'].map((name) => ({ name, level: 1, own: false, bmc: target(name) }))
  const [cow, duck] = hosts
  assert.ok(cow && duck)
  const reach = { spec: specWith({ hosts }), shells: new Map() }
  datacentre.loseBmcReplies('cow', 1)
  assert.equal((await driver.perform(step('wake-host', 'cow'), reach, signal)).result, 'unclear')
  assert.equal((await driver.hostPower(cow, signal)).power, 'on')
  assert.equal((await driver.perform(step('wake-host', 'cow'), reach, signal)).result, 'done')
  assert.equal((await driver.hostPower(duck, signal)).power, 'on')
  assert.equal((await driver.perform(step('stop-host', 'duck'), reach, signal)).result, 'done')
  assert.equal((await driver.hostPower(duck, signal)).power, 'off')
  assert.deepEqual(cycles, ['On', 'On', 'GracefulShutdown'])
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

test('our own box goes down by a unit of its own, and what it wrote is read back', async () => {
  const ran: string[] = []
  const written: string[] = []
  const shell = shellThat(async (argv) => {
    ran.push(argv.join(' '))
    const words = '-- Boot 1 --\n2026-11-15T06:00:00 own sh[1]: croft: power off\n'
    return { code: 0, stdout: argv[0] === 'journalctl' ? words : '', stderr: '' }
  }, written)
  const driver = createPowerDriver({
    clock: systemClock,
    sendDatagram: async () => {},
    resolveSecret: async () => new Secret(''),
    openShell: () => shell,
  })
  const own: PowerHost = { name: 'own', level: 1, own: true, ssh: { name: 'own' } as never }
  const reach = { spec: specWith({ hosts: [own] }), shells: new Map() }
  assert.equal((await driver.perform(step('stop-host', 'own'), reach, signal)).result, 'done')
  assert.deepEqual(written, ['/etc/systemd/system/croft-power-off.service'])
  assert.deepEqual(ran, ['systemctl daemon-reload', 'systemctl start --no-block croft-power-off.service'])
  assert.match(unitText(), /poweroff/)
  assert.deepEqual(await driver.ownJournal(own, signal), ['2026-11-15T06:00:00 own sh[1]: croft: power off'])
})

const TIERS: readonly [string, Partial<Described>, string][] = [
  ['Argo CD', { namespace: 'argocd', name: 'argocd-application-controller' }, 'gitops'],
  ['Flux', { namespace: 'flux-system', name: 'kustomize-controller' }, 'gitops'],
  ['an operator', { name: 'photos-operator' }, 'operators'],
  [
    'the operator of databases goes after them',
    { namespace: 'cnpg-system', name: 'cnpg-controller-manager' },
    'storage-clients',
  ],
  ['a database of CloudNativePG', { kind: 'Database', name: 'pg' }, 'databases'],
  [
    'a database by its label',
    { name: 'db', labels: new Map([['app.kubernetes.io/component', 'database']]) },
    'databases',
  ],
  ['OSDs stop with their nodes', { namespace: 'rook-ceph', name: 'rook-ceph-osd-0' }, 'storage'],
  ['what attaches volumes', { namespace: 'rook-ceph', name: 'csi-rbdplugin-provisioner' }, 'storage-clients'],
  ['CoreDNS stops with its node', { namespace: 'kube-system', name: 'coredns' }, 'system'],
  ['what has a volume must be put down, wherever it is', { namespace: 'kube-system', name: 'x', claims: true }, 'apps'],
  ['anything else', { name: 'web' }, 'apps'],
  [
    'what a person wrote comes first',
    { namespace: 'argocd', labels: new Map([['croft.dev/power-tier', 'apps']]) },
    'apps',
  ],
]

for (const [name, more, tier] of TIERS) {
  test(`[R25] the tier of ${name}: ${tier}`, () => {
    const workload = { namespace: 'default', name: 'x', kind: 'Deployment', labels: new Map(), claims: false, ...more }
    assert.equal(tierOf(workload, []), tier)
  })
}

test('a rule of the Power comes before what is known of software', () => {
  const workload = { namespace: 'media', name: 'web', kind: 'Deployment', labels: new Map([['a', 'b']]), claims: false }
  assert.equal(tierOf(workload, [{ tier: 'databases', namespaces: ['media'], labels: {} }]), 'databases')
  assert.equal(tierOf(workload, [{ tier: 'storage', namespaces: [], labels: { a: 'b' } }]), 'storage')
  assert.equal(tierOf(workload, [{ tier: 'storage', namespaces: ['other'], labels: { a: 'b' } }]), 'apps')
  assert.equal(tierOf(workload, [{ tier: 'storage', namespaces: [], labels: {} }]), 'apps')
})
