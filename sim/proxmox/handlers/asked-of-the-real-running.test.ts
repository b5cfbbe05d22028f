import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../test-client.ts'
import { holds } from '../../testing/answered-rows.ts'

/** Rows about VMs that run, which the real daemon was asked in the same order with a VM that has no system inside. */

const QEMU = '/nodes/pve1/qemu'
const VM = `${QEMU}/700`
const CARD = 'virtio=BC:24:11:00:00:03,bridge=vmbr0'

async function running(config: Readonly<Record<string, string>> = {}): Promise<TestClient> {
  const client = createTestClient({ preset: 'recording' })
  const parts = { scsi0: 'local:1', scsi1: 'local:1', net0: CARD, ide2: 'none,media=cdrom' }
  await holds(client, [
    ['POST', QEMU, { vmid: '700', memory: '64', scsihw: 'virtio-scsi-pci', ...parts, ...config }, 'task: OK'],
    ['POST', `${VM}/status/start`, {}, 'task: OK'],
  ])
  return client
}

const config = (client: TestClient, current = false) =>
  client.data<Record<string, unknown>>('GET', `${VM}/config${current ? '?current=1' : ''}`)

/** What waits: a value, or `gone`. */
async function waits(client: TestClient): Promise<Record<string, unknown>> {
  const rows = await client.data<readonly Record<string, unknown>[]>('GET', `${VM}/pending`)
  return Object.fromEntries(
    rows.flatMap(({ key, pending, delete: gone }) =>
      pending === undefined && gone === undefined ? [] : [[key, pending ?? 'gone']],
    ),
  )
}

async function logOf(client: TestClient, path: string, params: Readonly<Record<string, string>>) {
  const upid = await client.data<string>('POST', path, params)
  await client.pass(120_000)
  const lines = await client.data<readonly { t: string }[]>('GET', `/nodes/pve1/tasks/${upid}/log`)
  return lines.map(({ t }) => t)
}

test('the disk that a VM boots from cannot be taken out while it runs', async () => {
  const client = await running()
  const bootDisk = { scsi0: "hotplug problem - can't unplug bootdisk 'scsi0'\n" }
  await holds(client, [
    ['PUT', `${VM}/unlink`, { idlist: 'scsi0' }, bootDisk],
    ['PUT', `${VM}/config`, { revert: 'scsi0' }, 'done'],
    ['PUT', `${VM}/config`, { delete: 'scsi0,scsi1', name: 'x' }, bootDisk],
  ])
  const now = await config(client, true)
  assert.deepEqual([now.scsi1, now.unused0, now.name], [undefined, 'local:700/vm-700-disk-1.raw', 'x'])
  assert.equal((await waits(client)).scsi0, 'gone')
})

test('a disk that waited to be plugged and is wanted no more stays as an unused one', async () => {
  const client = await running({ hotplug: '0' })
  await holds(client, [
    ['PUT', `${VM}/config`, { scsi2: 'local:1' }, 'done'],
    ['PUT', `${VM}/config`, { revert: 'scsi2' }, 'done'],
    ['PUT', `${VM}/config`, { sata1: 'local:1' }, 'done'],
    ['PUT', `${VM}/config`, { delete: 'sata1' }, 'done'],
  ])
  const { unused0, unused1, scsi2, sata1 } = await config(client)
  assert.deepEqual(
    [unused0, unused1, scsi2, sata1],
    ['local:700/vm-700-disk-2.raw', 'local:700/vm-700-disk-3.raw', undefined, undefined],
  )
  assert.deepEqual(await waits(client), {})
})

test('what changes under a running VM, and what waits for its next start', async () => {
  const client = await running()
  await holds(client, [
    ['PUT', `${VM}/config`, { hotplug: '0' }, 'done'],
    // The same card takes another bridge or goes down, even where hotplug is off; another card does not.
    ['PUT', `${VM}/config`, { net0: `${CARD},link_down=1` }, 'done'],
    ['PUT', `${VM}/config`, { net1: 'virtio=BC:24:11:00:00:04,bridge=vmbr0' }, 'done'],
    ['PUT', `${VM}/config`, { tablet: '0' }, 'done'],
    ['PUT', `${VM}/config`, { scsi1: 'local:700/vm-700-disk-1.raw,iops=100,serial=a' }, 'done'],
  ])
  assert.deepEqual(Object.keys(await waits(client)).sort(), ['net1', 'tablet'])
  await holds(client, [
    ['PUT', `${VM}/config`, { revert: 'net1,tablet', delete: 'hotplug' }, 'done'],
    ['PUT', `${VM}/config`, { tablet: '0' }, 'done'],
    ['PUT', `${VM}/config`, { balloon: '32' }, 'done'],
    ['PUT', `${VM}/config`, { balloon: '0' }, 'done'],
    ['PUT', `${VM}/config`, { usb0: 'spice' }, 'done'],
    ['PUT', `${VM}/config`, { bootdisk: 'scsi0' }, 'done'],
    ['PUT', `${VM}/config`, { hotplug: 'network,disk,cpu' }, 'done'],
    ['PUT', `${VM}/config`, { scsi1: 'local:700/vm-700-disk-1.raw,ssd=1' }, 'done'],
    ['PUT', `${VM}/config`, { ide2: 'local:1' }, { ide2: 'hotplug problem - unable to change media type\n' }],
  ])
  assert.deepEqual(Object.keys(await waits(client)).sort(), ['balloon', 'bootdisk', 'hotplug', 'ide2', 'scsi1', 'usb0'])
  assert.equal((await config(client, true)).balloon, 32)
})

test('the boot order of a change is made from the one in force', async () => {
  const client = await running({ boot: 'order=scsi0;ide2;net0' })
  await holds(client, [
    ['PUT', `${VM}/config`, { boot: 'order=scsi0' }, 'done'],
    ['PUT', `${VM}/config`, { delete: 'ide2' }, 'done'],
  ])
  assert.equal((await waits(client)).boot, 'order=scsi0;net0')
})

test('a drive for cloud-init that is still to come is filled with every change, and when the VM stops', async () => {
  const client = await running()
  await holds(client, [
    ['PUT', `${VM}/config`, { ide3: 'local:cloudinit' }, 'done'],
    ['PUT', `${VM}/config`, { ciuser: 'a', ipconfig0: 'ip=dhcp' }, 'done'],
  ])
  assert.deepEqual(await logOf(client, `${VM}/status/stop`, {}), ['generating cloud-init ISO', 'TASK OK'])
})

test('a shutdown asks the agent first, and says when it ends by force', async () => {
  const client = await running({ agent: '1' })
  const agent = "QEMU Guest Agent is not running - VM 700 qga command 'guest-ping' failed - got timeout"
  assert.deepEqual(await logOf(client, `${VM}/status/reboot`, { timeout: '1' }), [
    agent,
    'TASK ERROR: VM quit/powerdown failed - got timeout',
  ])
  assert.deepEqual(await logOf(client, `${VM}/status/shutdown`, { timeout: '1', forceStop: '1' }), [
    agent,
    'VM still running - terminating now with SIGTERM',
    'TASK OK',
  ])
})

test('a disk that grows under a running VM grows without a word', async () => {
  const client = await running()
  const upid = await client.data<string>('PUT', `${VM}/resize`, { disk: 'scsi0', size: '+1G' })
  await client.pass(10_000)
  assert.deepEqual(await client.data('GET', `/nodes/pve1/tasks/${upid}/log`), [{ n: 1, t: 'TASK OK' }])
})

test('a snapshot of a running VM says what it does about caches and memory', async () => {
  const client = await running({ scsi0: 'local:1,format=qcow2', scsi1: 'local:1,format=qcow2,backup=0' })
  const disks = ['scsi0', 'scsi1'].flatMap((key, index) => [
    `snapshotting 'drive-${key}' (local:700/vm-700-disk-${index}.qcow2)`,
    'internal qemu snapshot',
  ])
  assert.deepEqual(await logOf(client, `${VM}/snapshot`, { snapname: 'one' }), [
    'skipping guest filesystem freeze - disabled in VM options',
    ...disks,
    'TASK OK',
  ])
  const [formatted, saving, saved, ...rest] = await logOf(client, `${VM}/snapshot`, { snapname: 'mem', vmstate: '1' })
  assert.equal(
    formatted,
    "Formatting '/var/lib/vz/images/700/vm-700-state-mem.raw', fmt=raw size=658505728 preallocation=off",
  )
  assert.equal(saving, "saving VM state and RAM using storage 'local'")
  assert.match(saved ?? '', /^completed saving the VM state in \S+, saved /)
  assert.deepEqual(rest, [...disks, 'TASK OK'])
  await holds(client, [['POST', `${VM}/status/stop`, {}, 'task: OK']])
  assert.equal((await logOf(client, `${VM}/snapshot`, { snapname: 'off' })).length, 3)
})
