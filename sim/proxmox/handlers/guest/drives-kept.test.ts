import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'

/** What a write to one option does to others, as seen on Proxmox VE 9.2. */

const GUESTS = '/nodes/pve1/qemu'
const VM = `${GUESTS}/400`
type Config = Record<string, unknown>

async function site(options: Record<string, string> = {}) {
  const client = createTestClient({ preset: 'recording' })
  const made = { vmid: '400', scsi0: 'local:1', scsi1: 'local:1', boot: 'order=scsi0', ...options }
  assert.equal(await client.task('POST', GUESTS, made), 'OK')
  const config = () => client.data<Config>('GET', `${VM}/config`)
  return { client, config }
}

test('a volume that a drive names is not kept as unused', async () => {
  const { client, config } = await site()
  await client.data('PUT', `${VM}/config`, { unused3: 'local:400/vm-400-disk-1.raw' })
  assert.equal('unused3' in (await config()), false)
})

test('an empty drive for discs joins the boot order, too', async () => {
  const { client, config } = await site()
  await client.data('PUT', `${VM}/config`, { scsi5: 'none' })
  assert.deepEqual([(await config()).scsi5, (await config()).boot], ['none,media=cdrom', 'order=scsi0;scsi5'])
})

test('an image of odd size is attached in whole sectors', async () => {
  const { client, config } = await site()
  await client.data('PUT', `${VM}/config`, { ide2: 'local:iso/cloud.img,media=cdrom' })
  assert.equal((await config()).ide2, 'local:iso/cloud.img,media=cdrom,size=197120')
})

test('a serial port of the host is refused in the words of what is done to it', async () => {
  const { client } = await site()
  const real = { serial0: '/dev/ttyS1' }
  const words = (deed: string) => `only root can ${deed} 'serial0' config for real devices`
  assert.equal((await client.call('POST', GUESTS, { vmid: '401', ...real })).reason, words('set'))
  assert.equal((await client.call('PUT', `${VM}/config`, real)).reason, words('modify'))
  client.datacentre.patchGuest(400, real)
  assert.equal((await client.call('PUT', `${VM}/config`, { serial0: 'socket' })).reason, words('modify'))
  assert.equal((await client.call('PUT', `${VM}/config`, { delete: 'serial0' })).reason, words('delete'))
})

test('what cannot go while the guest runs leaves the boot order of its next start', async () => {
  const { client } = await site({ net0: 'virtio,bridge=vmbr0', boot: 'order=scsi0;net0' })
  assert.equal(await client.task('POST', `${VM}/status/start`), 'OK')
  assert.equal((await client.call('PUT', `${VM}/config`, { delete: 'net0' })).status, 400)
  const rows = await client.data<Config[]>('GET', `${VM}/pending`)
  const row = (name: string) => rows.find(({ key }) => key === name)
  assert.equal(row('net0')?.delete, 1)
  assert.deepEqual([row('boot')?.value, row('boot')?.pending], ['order=scsi0;net0', 'order=scsi0'])
})

test('an unused volume that is moved stays a bare name', async () => {
  const { client, config } = await site()
  await client.data('POST', '/storage', { storage: 's9', type: 'dir', path: '/var/lib/s9', content: 'images' })
  await client.data('PUT', `${VM}/config`, { delete: 'scsi1' })
  assert.equal(await client.task('POST', `${VM}/move_disk`, { disk: 'unused0', storage: 's9', delete: '1' }), 'OK')
  assert.equal((await config()).unused0, 's9:400/vm-400-disk-0.raw')
})

test('of a VM that is not there the host says so when it is asked what can be done with it', async () => {
  const { client } = await site()
  const { reason } = await client.call('GET', `${GUESTS}/999/feature?feature=snapshot`)
  assert.equal(reason, "unable to find configuration file for VM 999 on node 'pve1'")
})

test('a container keeps a wish for a new root as it came', async () => {
  const { client } = await site()
  const template = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
  const made = { vmid: '704', ostemplate: template, rootfs: 'local:0' }
  assert.equal(await client.task('POST', '/nodes/pve1/lxc', made), 'OK')
  await client.data('PUT', '/nodes/pve1/lxc/704/config', { rootfs: 'local:0' })
  const config = await client.data<Config>('GET', '/nodes/pve1/lxc/704/config')
  assert.deepEqual([config.rootfs, config.unused0], ['local:0', undefined])
})
