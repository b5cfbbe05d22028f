import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, type TestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Qemu says about a VM that runs: its states, its monitor, its agent, its cloud-init drive. */

const QEMU = '/nodes/pve1/qemu'
const VM = `${QEMU}/100`

async function siteWithVm(config: Readonly<Record<string, string>> = {}): Promise<TestClient> {
  const client = createTestClient({ preset: 'recording' })
  await client.task('POST', QEMU, { vmid: '100', scsi0: 'local:1', ...config })
  return client
}

test('options of the other end of a migration are for root', async () => {
  const client = await siteWithVm()
  const rootOnly = (name: string) => ({ [name]: 'Only root may use this option.' })
  await holds(client, [
    ['POST', `${VM}/status/start`, { skiplock: '0', stateuri: 'tcp' }, rootOnly('stateuri')],
    ['POST', `${VM}/status/start`, { skiplock: '1', 'force-cpu': 'host' }, rootOnly('skiplock')],
    ['POST', `${VM}/status/start`, { migratedfrom: 'pve1' }, rootOnly('migratedfrom')],
    ['POST', `${VM}/status/start`, { targetstorage: 'local' }, rootOnly('targetstorage')],
    ['POST', `${VM}/status/stop`, { keepActive: '1' }, rootOnly('keepActive')],
    ['POST', `${VM}/status/shutdown`, { keepActive: '1' }, rootOnly('keepActive')],
    ['POST', `${VM}/status/resume`, { nocheck: '1' }, rootOnly('nocheck')],
  ])
})

test('a paused VM is not asked to go down', async () => {
  const client = await siteWithVm()
  await holds(client, [
    ['POST', `${VM}/status/start`, {}, 'task: OK'],
    ['POST', `${VM}/status/suspend`, {}, 'task: OK'],
    ['POST', `${VM}/status/reboot`, {}, '500 VM is paused - cannot shutdown'],
    ['POST', `${VM}/status/shutdown`, { timeout: '600' }, '500 VM is paused - cannot shutdown'],
    ['POST', `${VM}/status/resume`, {}, 'task: OK'],
    ['POST', `${VM}/status/suspend`, {}, 'task: OK'],
    ['POST', `${VM}/status/shutdown`, { timeout: '600', forceStop: '1' }, 'task: OK'],
    ['POST', `${VM}/status/suspend`, {}, '500 VM 100 not running'],
  ])
})

test('a stop overrules a shutdown that waits', async () => {
  const client = await siteWithVm()
  await holds(client, [['POST', `${VM}/status/start`, {}, 'task: OK']])
  await client.call('POST', `${VM}/status/shutdown`, { timeout: '600' })
  await client.pass(2_000)
  await holds(client, [
    ['POST', `${VM}/status/stop`, {}, "task: can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"],
    ['POST', `${VM}/status/stop`, { 'overrule-shutdown': '1' }, 'task: OK'],
    ['POST', '/cluster/ha/resources', { sid: 'vm:100', state: 'stopped' }, 'done'],
    [
      'POST',
      `${VM}/status/stop`,
      { 'overrule-shutdown': '1' },
      { 'overrule-shutdown': 'Not applicable for HA resources.' },
    ],
  ])
})

test('a VM that is suspended to disk is off, locked, and goes on where it was', async () => {
  const client = await siteWithVm()
  await holds(client, [
    ['POST', `${VM}/status/start`, {}, 'task: OK'],
    ['POST', `${VM}/status/suspend`, { todisk: '1' }, 'task: OK'],
  ])
  const config = () => client.data<Record<string, string>>('GET', `${VM}/config`)
  const { lock, vmstate } = await config()
  assert.deepEqual([lock, vmstate], ['suspended', 'local:100/vm-100-state-suspend-2026-09-21.raw'])
  const volumes = () => client.data<{ volid: string }[]>('GET', '/nodes/pve1/storage/local/content?vmid=100')
  assert.ok((await volumes()).some(({ volid }) => volid === vmstate))
  await holds(client, [
    ['PUT', `${VM}/config`, { memory: '1024' }, '500 VM is locked (suspended)'],
    ['POST', `${VM}/status/resume`, {}, 'task: OK'],
  ])
  const after = await config()
  assert.deepEqual([after.lock, after.vmstate, after.runningcpu], [undefined, undefined, undefined])
  assert.ok(!(await volumes()).some(({ volid }) => volid === vmstate))
  assert.equal((await client.data<{ status: string }>('GET', `${VM}/status/current`)).status, 'running')
  await holds(client, [
    ['POST', '/cluster/ha/resources', { sid: 'vm:100' }, 'done'],
    ['POST', `${VM}/status/suspend`, { todisk: '1' }, '500 Cannot suspend HA managed VM to disk'],
  ])
})

test('an agent that is not configured is told from one that does not answer', async () => {
  const client = await siteWithVm()
  await holds(client, [
    ['POST', `${VM}/agent/ping`, {}, '500 No QEMU guest agent configured'],
    ['PUT', `${VM}/config`, { agent: '0' }, 'done'],
    ['POST', `${VM}/agent/ping`, {}, '500 VM 100 is not running'],
    ['POST', `${VM}/status/start`, {}, 'task: OK'],
    ['POST', `${VM}/agent/ping`, {}, '500 QEMU guest agent is not running'],
  ])
})

test('the cloud-init drive is not made anew under somebody else', async () => {
  const client = await siteWithVm({ ide2: 'local:cloudinit', ciupgrade: '0', ciuser: 'x' })
  await holds(client, [['PUT', `${VM}/cloudinit`, undefined, 'done']])
  client.datacentre.world.guests.get(100)?.config.set('lock', 'migrate')
  await holds(client, [['PUT', `${VM}/cloudinit`, undefined, '500 VM is locked (migrate)']])
})

test('what was suspended to disk may be thrown away, with its VM or without', async () => {
  const client = await siteWithVm()
  const asleep = async () => {
    await holds(client, [
      ['POST', `${VM}/status/start`, {}, 'task: OK'],
      ['POST', `${VM}/status/suspend`, { todisk: '1' }, 'task: OK'],
    ])
  }
  await asleep()
  await holds(client, [['PUT', `${VM}/config`, { delete: 'vmstate' }, 'done']])
  const config = await client.data<Record<string, string>>('GET', `${VM}/config`)
  assert.deepEqual([config.lock, config.vmstate, config.runningmachine], [undefined, undefined, undefined])
  await asleep()
  await holds(client, [['DELETE', VM, undefined, 'task: OK']])
  assert.deepEqual(await client.data('GET', '/nodes/pve1/storage/local/content?vmid=100&content=images'), [])
})

test('root alone, by its own login, passes by the mark', async () => {
  const client = await siteWithVm()
  type Params = Readonly<Record<string, string>>
  const send = async <T>(method: string, path: string, params: Params, headers: Params = {}) => {
    const answer = await client.clock.runUntil(
      client.datacentre.handle({
        method,
        path: `/api2/json${path}`,
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(params).toString(),
      }),
    )
    return { ...answer, data: (JSON.parse(answer.body) as { data: T }).data }
  }
  type RootLogin = { readonly ticket: string; readonly CSRFPreventionToken: string }
  const { data: login } = await send<RootLogin>('POST', '/access/ticket', {
    username: 'root@pam',
    password: 'rootpw123',
  })
  const cookie = `PVEAuthCookie=${encodeURIComponent(login.ticket)}`
  const asRoot = async (method: string, path: string, params: Params) => {
    const headers = { cookie, csrfpreventiontoken: login.CSRFPreventionToken }
    const { data, status, reason } = await send<unknown>(method, path, params, headers)
    return typeof data === 'string' ? exitOf(client, data) : `${status} ${reason}`
  }
  client.datacentre.patchGuest(100, { lock: 'migrate' })
  assert.equal(await asRoot('POST', `${VM}/status/start`, {}), 'VM is locked (migrate)')
  assert.equal(await asRoot('POST', `${VM}/status/start`, { skiplock: '1' }), 'OK')
  assert.equal(await asRoot('POST', `${VM}/status/reset`, {}), 'VM is locked (migrate)')
  assert.equal(await asRoot('POST', `${VM}/status/reset`, { skiplock: '1' }), 'OK')
  assert.equal(await asRoot('POST', `${VM}/status/stop`, {}), 'VM is locked (migrate)')
  assert.equal(await asRoot('POST', `${VM}/status/stop`, { skiplock: '1' }), 'OK')
  assert.equal(await asRoot('PUT', `${VM}/config`, { delete: 'lock' }), '500 VM is locked (migrate)')
  assert.equal(await asRoot('PUT', `${VM}/config`, { delete: 'lock', skiplock: '1' }), '200 OK')
})
