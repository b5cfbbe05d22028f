import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { uuidOf } from '../../src/drivers/libvirt/names.ts'
import type { Estate } from '../../src/model/estate.ts'
import { resourceUid } from '../../src/model/key.ts'
import { guestAddresses } from '../../src/sim/guest/addresses.ts'
import type { Domain } from '../../src/sim/libvirt/domains.ts'
import { volumes } from '../../src/sim/libvirt/domains.ts'
import { virsh } from '../../src/sim/libvirt/virsh.ts'
import { nodesOf } from './cluster-oracle.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'
import { estateFrom } from './manifests.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'libvirt.test.ts'
const EXAMPLE = join(import.meta.dirname, '../../examples/k3s-libvirt')

function exampleFiles(): Record<string, string> {
  return Object.fromEntries(readdirSync(EXAMPLE).map((name) => [name, readFileSync(join(EXAMPLE, name), 'utf8')]))
}

function valid(files: Record<string, string>): Estate {
  const estate = estateFrom(files)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  return estate
}

const WEB = `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: kvm}
spec: {host: kvm}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: kvm}
spec:
  local: true
  bindings: {networks: {lan: {bridge: default}}, storages: {vms: default}}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, gateway: 192.168.122.1}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: 192.168.122.0/24}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: debian}
spec: {url: "https://example.org/debian.qcow2", storage: vms}
---
`
const machine = (name: string, address: string, more = '') => `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec:
  host: kvm
  cpu: {cores: 2}
  memory: 1Gi
  disks: [{size: 10Gi, image: debian, storage: vms}, {size: 5Gi, storage: vms}]
  networks: [{network: lan, address: ${address}}]
  user: ops
${more}---
`
const TWO = valid({
  'web.yaml': `${WEB}${machine('web-1', '192.168.122.20')}${machine('web-2', '192.168.122.21', '  libvirt: {disks: copy, seed: cdrom, bios: ovmf}\n')}`,
})

const APPROVED = `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: all-of-them}
spec: {reason: They are made again, maxDeletes: 10, expires: "2030-01-01T00:00:00Z"}
---
`

/** What a person would see on the host. */
function seen({ host }: LibvirtRun): unknown {
  const shown = ({ uuid, name, definition, guest, autostart }: Domain) => ({
    uuid,
    name,
    definition,
    autostart,
    status: guest.run.status,
    addresses: guestAddresses(guest),
    hostname: guest.machine?.system.hostname,
  })
  return {
    domains: [...host.domains.values()].map(shown).sort((a, b) => (a.name < b.name ? -1 : 1)),
    volumes: [...volumes(host, 'default').values()].map(({ name, sizeBytes }) => `${name} ${sizeBytes}`).sort(),
  }
}

function asDeclared(run: LibvirtRun, hint: string): void {
  assert.equal(run.host.domains.size, 2, hint)
  for (const [name, address] of [
    ['web-1', '192.168.122.20'],
    ['web-2', '192.168.122.21'],
  ] as const) {
    const uid = resourceUid('default', `Machine/${name}`)
    const domain = run.host.domains.get(uuidOf(uid))
    assert.ok(domain, hint)
    assert.deepEqual(
      [domain.name, domain.guest.run.status, guestAddresses(domain.guest)],
      [name, 'running', [address]],
      hint,
    )
    assert.equal(domain.guest.inside?.runs, 1, hint)
    const names = [...volumes(run.host, 'default').keys()].filter((volume) => volume.includes(uid)).sort()
    assert.deepEqual(names, [`croft-${uid}-virtio0.qcow2`, `croft-${uid}-virtio1.qcow2`], hint)
  }
}

test('[A12] [A13] machines with fixed addresses come up, matched by hardware address, and no lease is asked for', async () => {
  for (const seed of seeds(2, 100)) {
    const hint = replay(FILE, seed)
    const run = simulateLibvirt(seed, TWO, 'kvm')
    assert.equal(await run.settle(), 'settled', hint)
    asDeclared(run, hint)
    const writes = run.writes.length
    assert.equal(await run.settle(), 'settled', hint)
    assert.equal(run.writes.length, writes, `${hint}: ${run.writes.slice(writes).join('; ')}`)
    assert.ok(!run.writes.some((line) => /lease|dhcp/i.test(line)), hint)
    for (const { guest } of run.host.domains.values())
      assert.ok([...(guest.inside?.cards?.values() ?? [])].every(({ dhcp }) => !dhcp))
  }
})

test('[F-01] a crash before or after any call: the same machines, none of them twice, nothing left over', async (t) => {
  let crashes = 0
  for (const seed of seeds(1, 50)) {
    const calm = simulateLibvirt(seed, TWO, 'kvm')
    assert.equal(await calm.settle(), 'settled', replay(FILE, seed))
    for (const point of points(calm.points(), 12)) {
      const hint = replay(FILE, seed, point)
      const run = simulateLibvirt(seed, TWO, 'kvm')
      assert.equal(await run.settle(point), 'killed', hint)
      assert.equal(await run.settle(), 'settled', hint)
      asDeclared(run, hint)
      crashes++
    }
  }
  t.diagnostic(`${crashes} crashes`)
})

test('[F-25] a store that is lost makes nothing anew', async () => {
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const run = simulateLibvirt(seed, TWO, 'kvm')
    assert.equal(await run.settle(), 'settled', hint)
    const [before, writes] = [seen(run), run.writes.length]
    run.disk = simulateLibvirt(seed, TWO, 'kvm').disk
    assert.equal(await run.settle(), 'settled', hint)
    assert.deepEqual(seen(run), before, hint)
    assert.equal(run.writes.length, writes, hint)
  }
})

test('drift is put back, and what croft did not write stays', async () => {
  const run = simulateLibvirt(1, TWO, 'kvm')
  assert.equal(await run.settle(), 'settled')
  const domain = [...run.host.domains.values()].find(({ name }) => name === 'web-1')
  assert.ok(domain)
  const theirs = domain.definition
    .replace(/<vcpu>2<\/vcpu>/, '<vcpu>7</vcpu>')
    .replace('</devices>', "  <tpm model='tpm-crb'><backend type='emulator' version='2.0'/></tpm>\n  </devices>")
  assert.notEqual(theirs, domain.definition)
  virsh(run.host, ['define', '/dev/stdin'], theirs)
  assert.equal(await run.settle(), 'settled')
  assert.match(domain.definition, /<vcpu>2<\/vcpu>/)
  assert.match(domain.definition, /<tpm model='tpm-crb'>/)
})

test('destroyed and applied again: identical machines', async () => {
  const run = simulateLibvirt(3, TWO, 'kvm')
  assert.equal(await run.settle(), 'settled')
  const before = seen(run)
  run.estate = valid({ 'web.yaml': `${WEB}${APPROVED}` })
  assert.equal(await run.settle(), 'settled')
  assert.equal(run.host.domains.size, 0)
  assert.deepEqual(
    [...volumes(run.host, 'default').keys()].filter((name) => name.startsWith('croft-')),
    [],
  )
  run.estate = TWO
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual(seen(run), before)
})

test('[A2] the example of one server and two agents forms its cluster; destroyed and applied again it is identical', async () => {
  const files = exampleFiles()
  // Otherwise its server would stay when the cluster leaves Git.
  files['cluster.yaml'] += '  protect: false\n'
  const estate = valid(files)
  const run = simulateLibvirt(5, estate, 'kvm')
  const names = new Set<string>()
  const watch = () => {
    for (const cluster of run.datacentre.world.k3s.clusters.values())
      for (const { metadata } of nodesOf(cluster)) names.add(metadata.name)
  }
  assert.equal(await run.settle(undefined, watch), 'settled')
  const before = seen(run)
  assert.equal(run.host.domains.size, 3)
  // Never under another name than the declared one, not even for a moment.
  assert.deepEqual([...names].sort(), ['k3s-cp-01', 'k3s-worker-01', 'k3s-worker-02'])
  run.estate = valid({ ...files, 'cluster.yaml': APPROVED })
  assert.equal(await run.settle(), 'settled')
  assert.equal(run.host.domains.size, 0)
  // With its machines the cluster is gone; whoever forms it anew does not keep the old one's secrets.
  run.vault.kept.clear()
  run.disk = simulateLibvirt(5, estate, 'kvm').disk
  run.estate = estate
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual(seen(run), before)
})
