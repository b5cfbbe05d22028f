import assert from 'node:assert/strict'
import { test } from 'node:test'
import { volumes } from '../../sim/libvirt/domains.ts'
import { virsh } from '../../sim/libvirt/virsh.ts'
import { resourceUid } from '../../src/model/declaration.ts'
import { APPROVED, asDeclared, machine, seen, TWO, valid, WEB } from './libvirt-machines.ts'
import { simulateLibvirt } from './libvirt-run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'libvirt.test.ts'

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

test('a machine with a second disk stays when its declaration goes, until a person names it', async () => {
  const run = simulateLibvirt(3, TWO, 'kvm')
  assert.equal(await run.settle(), 'settled')
  const unnamed = APPROVED.replace('deletes: [Machine/web-1, Machine/web-2], ', '')
  assert.notEqual(unnamed, APPROVED)
  run.estate = valid({ 'web.yaml': `${WEB}${unnamed}` })
  await run.settle()
  assert.equal(run.host.domains.size, 2)
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

const DEVICES = `apiVersion: croft.dev/v1alpha1
kind: Device
metadata: {name: gpu}
spec: {host: kvm, pci: {id: "10de:2484", address: "0000:01:00.0"}}
---
apiVersion: croft.dev/v1alpha1
kind: Device
metadata: {name: stick}
spec: {host: kvm, usb: {ids: ["10c4:ea60"]}}
---
`

test('a card and a USB stick are passed on, put back when somebody takes them, and taken out when Git says so', async () => {
  const withDevices = (devices: string) =>
    valid({ 'web.yaml': `${WEB}${DEVICES}${machine('web-1', '192.168.122.20', devices)}` })
  const run = simulateLibvirt(6, withDevices('  devices: [gpu, stick]\n'), 'kvm')
  assert.equal(await run.settle(), 'settled')
  const [domain] = run.host.domains.values()
  assert.ok(domain)
  const passed = () => [...(domain.live ?? '').matchAll(/<hostdev [^>]*type='(pci|usb)'/g)].map(([, type]) => type)
  assert.deepEqual(passed(), ['pci', 'usb'])
  assert.match(domain.live ?? '', /<address domain='0x0000' bus='0x01' slot='0x00' function='0x0'\/>/)
  assert.match(domain.live ?? '', /<vendor id='0x10c4'\/>\s*<product id='0xea60'\/>/)
  virsh(run.host, ['define', '/dev/stdin'], domain.definition.replace(/<hostdev [^>]*type='pci'.*?<\/hostdev>/s, ''))
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual(new Set(passed()), new Set(['pci', 'usb']))
  run.estate = withDevices('  devices: [stick]\n')
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual(passed(), ['usb'])
  const writes = run.writes.length
  assert.equal(await run.settle(), 'settled')
  assert.equal(run.writes.length, writes)
})

test('a domain with a disk for data is not destroyed because its file is gone: a person must name it', async () => {
  const run = simulateLibvirt(9, TWO, 'kvm')
  assert.equal(await run.settle(), 'settled')
  const domains = () => [...run.host.domains.keys()].length
  assert.equal(domains(), 2)
  const left = `${WEB}${machine('web-1', '192.168.122.20')}`
  run.estate = valid({ 'web.yaml': left })
  const holds = new Set<string>()
  await run.settle(undefined, ({ plan }) => {
    for (const { key, action } of plan.entries) if (action.do === 'hold') holds.add(`${key} ${action.guard}`)
  })
  assert.deepEqual([...holds], ['Machine/web-2 data-disks'])
  assert.equal(domains(), 2)
  run.estate = valid({ 'web.yaml': `${left}${APPROVED}` })
  assert.equal(await run.settle(), 'settled')
  assert.equal(domains(), 1)
})

test('[F-09] a disk that ran and is not found is not made again, whatever became of its pool: nothing starts on an empty one', async () => {
  for (const slot of ['virtio0', 'virtio1']) {
    const run = simulateLibvirt(4, TWO, 'kvm')
    assert.equal(await run.settle(), 'settled')
    const domain = [...run.host.domains.values()].find(({ name }) => name === 'web-1')
    assert.ok(domain)
    const uid = resourceUid('default', 'Machine/web-1')
    const volume = `croft-${uid}-${slot}.qcow2`
    const file = volumes(run.host, 'default').get(volume)
    assert.ok(file)
    virsh(run.host, ['destroy', domain.uuid], undefined)
    volumes(run.host, 'default').delete(volume)
    const writes = run.writes.length
    const said = new Set<string>()
    await run.settle(undefined, ({ plan }) => {
      for (const { key, action } of plan.entries) if (action.do === 'refuse') said.add(`${key}: ${action.reason}`)
    })
    assert.deepEqual(
      run.writes.slice(writes).filter((line) => /vol-create|^start|croft-job/.test(line)),
      [],
      slot,
    )
    assert.match([...said].join(), new RegExp(`Machine/web-1: .*${volume}`), slot)
    // The pool is mounted again.
    volumes(run.host, 'default').set(volume, file)
    assert.equal(await run.settle(), 'settled')
    assert.equal(domain.guest.run.status, 'running', slot)
  }
})
