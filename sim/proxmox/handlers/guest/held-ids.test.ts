import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'
import { holding } from '../../../world/locks.ts'

/** Whoever makes a guest under an id that somebody works on waits five seconds, before there is a task. Asked of the real. */

const NODE = '/nodes/pve1'
const TEMPLATE = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
const CT = { ostemplate: TEMPLATE, rootfs: 'local:0', unprivileged: '1' }

/** Somebody holds the lock file of an id, for as long as it takes. */
function hold({ datacentre: { world }, clock }: TestClient, vmid: number, ms = 3_600_000): void {
  const host = world.hosts.get('pve1') ?? assert.fail()
  void holding(
    world,
    host,
    `lock-${vmid}`,
    () => new Error('not free'),
    () => clock.sleep(ms),
  )
}

const busy = (vmid: number) => `can't lock file '/run/lock/lxc/pve-config-${vmid}.lock' - got timeout`

async function backupOf(client: TestClient, vmid: string): Promise<string> {
  assert.equal(await client.task('POST', `${NODE}/vzdump`, { vmid, storage: 'local', mode: 'stop' }), 'OK')
  const [kept] = await client.data<{ volid: string }[]>('GET', `${NODE}/storage/local/content?content=backup`)
  return kept?.volid ?? assert.fail()
}

test('a new container waits for its id, and nothing is left of it', async () => {
  const client = createTestClient({ preset: 'recording' })
  hold(client, 205)
  const beganMs = client.clock.now()
  await holds(client, [
    ['POST', `${NODE}/lxc`, { vmid: '205', ...CT }, `500 unable to create CT 205 - ${busy(205)}`],
    ['GET', `${NODE}/lxc/205/config`, undefined, "500 Configuration file 'nodes/pve1/lxc/205.conf' does not exist"],
  ])
  assert.equal(client.clock.now() - beganMs, 5_000)
  hold(client, 206, 3_000)
  await holds(client, [['POST', `${NODE}/lxc`, { vmid: '206', ...CT }, 'task: OK']])
})

test('a copy of a container waits for its id, and its source is free again', async () => {
  const client = createTestClient({ preset: 'recording' })
  assert.equal(await client.task('POST', `${NODE}/lxc`, { vmid: '200', ...CT }), 'OK')
  hold(client, 205)
  await holds(client, [['POST', `${NODE}/lxc/200/clone`, { newid: '205' }, `500 ${busy(205)}`]])
  const { guests } = client.datacentre.world
  assert.deepEqual([guests.has(205), guests.get(200)?.config.get('lock')], [false, undefined])
  await holds(client, [['POST', `${NODE}/lxc/200/clone`, { newid: '206' }, 'task: OK']])
})

test('a container that is put back waits too, and stays as it was', async () => {
  const client = createTestClient({ preset: 'recording' })
  assert.equal(await client.task('POST', `${NODE}/lxc`, { vmid: '200', ...CT }), 'OK')
  const back = { ostemplate: await backupOf(client, '200'), restore: '1' }
  hold(client, 200)
  hold(client, 205)
  await holds(client, [
    ['POST', `${NODE}/lxc`, { vmid: '200', force: '1', ...back }, `500 unable to restore CT 200 - ${busy(200)}`],
    ['POST', `${NODE}/lxc`, { vmid: '205', ...back }, `500 unable to restore CT 205 - ${busy(205)}`],
  ])
  const { guests } = client.datacentre.world
  assert.deepEqual([guests.has(205), guests.get(200)?.config.get('lock')], [false, undefined])
})

test('a VM that is put back waits too; it is not made of the backup of a container', async () => {
  const client = createTestClient({ preset: 'recording' })
  assert.equal(await client.task('POST', `${NODE}/qemu`, { vmid: '100', scsi0: 'local:1' }), 'OK')
  const archive = await backupOf(client, '100')
  hold(client, 100)
  await holds(client, [
    [
      'POST',
      `${NODE}/qemu`,
      { vmid: '100', archive, force: '1' },
      "500 unable to restore VM 100 - can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout",
    ],
    ['DELETE', `${NODE}/storage/local/content/${archive}`, undefined, 'task: OK'],
    ['POST', `${NODE}/lxc`, { vmid: '200', ...CT }, 'task: OK'],
  ])
  const other = await backupOf(client, '200')
  const file = `/var/lib/vz/dump/${other.split('/')[1]}`
  await holds(client, [
    [
      'POST',
      `${NODE}/qemu`,
      { vmid: '106', archive: other },
      `task: ERROR: file '${file}' does not look like a QemuServer vzdump backup`,
    ],
  ])
})
