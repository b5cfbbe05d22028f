import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { volumes } from '../../src/sim/libvirt/domains.ts'
import { virsh } from '../../src/sim/libvirt/virsh.ts'
import { nodesOf } from './cluster-oracle.ts'
import { APPROVED, asDeclared, seen, TWO, valid, WEB } from './libvirt-machines.ts'
import { simulateLibvirt } from './libvirt-run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'libvirt.test.ts'
const EXAMPLE = join(import.meta.dirname, '../../examples/k3s-libvirt')

function exampleFiles(): Record<string, string> {
  return Object.fromEntries(readdirSync(EXAMPLE).map((name) => [name, readFileSync(join(EXAMPLE, name), 'utf8')]))
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
