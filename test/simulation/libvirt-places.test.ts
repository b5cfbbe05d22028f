import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestAddresses } from '../../sim/guest/addresses.ts'
import { volumes } from '../../sim/libvirt/domains.ts'
import { virsh } from '../../sim/libvirt/virsh.ts'
import { hostWith, valid } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'
import { replay } from './volume.ts'

/* Networks and pools of libvirt that Git declares, with a machine that is made in them: the whole engine. */

const FILE = 'libvirt-places.test.ts'
const PLACES = hostWith(
  { bridge: 'lab', pool: 'machines', subnet: '192.168.150', imageHosts: 'kvm' },
  `apiVersion: croft.dev/v1alpha1
kind: LibvirtPool
metadata: {name: machines}
spec: {host: kvm, path: /srv/machines}
---
apiVersion: croft.dev/v1alpha1
kind: LibvirtNetwork
metadata: {name: lab}
spec: {host: kvm, addresses: [192.168.150.1/24], mtu: MTU}
---
`,
)
const MACHINE = `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-1}
spec:
  host: kvm
  cpu: {cores: 2}
  memory: 1Gi
  disks: [{size: 10Gi, image: debian, storage: vms}]
  networks: [{network: lan, address: 192.168.150.20}]
  user: ops
`

const declared = (mtu: number, machine = true) =>
  valid({ 'lab.yaml': `${PLACES.replace('MTU', String(mtu))}${machine ? MACHINE : ''}` })

function asDeclared({ host }: LibvirtRun, hint: string): void {
  assert.deepEqual([...host.networks.keys()].sort(), ['default', 'lab'], hint)
  assert.deepEqual([...host.pools.keys()].sort(), ['default', 'machines'], hint)
  for (const place of [host.networks.get('lab'), host.pools.get('machines')])
    assert.deepEqual([place?.live !== undefined, place?.autostart], [true, true], hint)
  assert.match(host.networks.get('lab')?.live ?? '', /<mtu size='1400'\/>/, hint)
  assert.equal(host.domains.size, 1, hint)
  for (const { guest } of host.domains.values()) assert.deepEqual(guestAddresses(guest), ['192.168.150.20'], hint)
  assert.deepEqual([...volumes(host, 'default').keys()], [], hint)
}

test('[F-01] pool and network come before the machine in them, and a crash at any call changes nothing of it', async (t) => {
  const calm = simulateLibvirt(1, declared(1400), 'kvm')
  assert.equal(await calm.settle(), 'settled')
  asDeclared(calm, 'calm')
  const writes = calm.writes.length
  assert.equal(await calm.settle(), 'settled')
  assert.equal(calm.writes.length, writes, calm.writes.slice(writes).join('; '))
  const fresh = simulateLibvirt(1, declared(1400), 'kvm')
  await fresh.settle()
  const crashes = fresh.points()
  for (let point = 1; point <= crashes; point++) {
    const hint = replay(FILE, 1, point)
    const run = simulateLibvirt(1, declared(1400), 'kvm')
    assert.equal(await run.settle(point), 'killed', hint)
    assert.equal(await run.settle(), 'settled', hint)
    asDeclared(run, hint)
  }
  t.diagnostic(`${crashes} crashes`)
})

test('drift of a network is put back; a change waits until nobody is in it', async () => {
  const run = simulateLibvirt(2, declared(1400), 'kvm')
  assert.equal(await run.settle(), 'settled')
  const network = run.host.networks.get('lab')
  assert.ok(network)
  virsh(run.host, ['net-destroy', 'lab'], undefined)
  assert.equal(await run.settle(), 'settled')
  asDeclared(run, 'started again')
  run.estate = declared(1300)
  const held: string[] = []
  await run.settle(undefined, ({ plan }) => {
    for (const { action } of plan.entries) if (action.do === 'refuse') held.push(action.reason)
  })
  assert.ok(
    held.some((reason) => /1 card is in it/.test(reason)),
    held.join('; '),
  )
  asDeclared(run, 'as before')
  run.estate = declared(1300, false)
  assert.equal(await run.settle(), 'settled')
  assert.match(network.live ?? '', /<mtu size='1300'\/>/)
})

test('a network of that name that somebody else made is neither changed nor taken over', async () => {
  const run = simulateLibvirt(3, declared(1400, false), 'kvm')
  const theirs = `<network><name>lab</name><uuid>11111111-2222-4333-8444-555555555555</uuid><bridge name='theirs'/></network>`
  virsh(run.host, ['net-define', '/dev/stdin'], theirs)
  const said: string[] = []
  await run.settle(undefined, ({ records }) => {
    for (const { conditions } of records) for (const { message } of conditions) said.push(message)
  })
  assert.equal(run.host.networks.get('lab')?.definition, theirs)
  assert.ok(
    said.some((message) => message.includes('already exists with uuid')),
    said.join('; '),
  )
})

test('with its declaration a network goes; a pool with volumes stays', async () => {
  const run = simulateLibvirt(4, declared(1400, false), 'kvm')
  assert.equal(await run.settle(), 'settled')
  const without = (kind: string) =>
    PLACES.replace('MTU', '1400')
      .split('---\n')
      .filter((part) => !part.includes(`kind: ${kind}\n`))
      .join('---\n')
  run.estate = valid({ 'lab.yaml': without('LibvirtNetwork') })
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual([...run.host.networks.keys()], ['default'])
  run.estate = valid({ 'lab.yaml': without('LibvirtPool') })
  assert.equal(await run.settle(), 'settled')
  assert.ok(run.host.pools.has('machines'))
})
