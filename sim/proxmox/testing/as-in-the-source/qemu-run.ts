import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, type TestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'
import { cloudInitPart } from '../../handlers/qemu/cloudinit-data.ts'
import { monitorRefusal } from '../../handlers/qemu/monitor-rights.ts'

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
    ['PUT', `${VM}/sendkey`, { key: 'ret', skiplock: '1' }, rootOnly('skiplock')],
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

test('the monitor: what each may say', async () => {
  const client = await siteWithVm()
  assert.deepEqual(monitorRefusal('info status', false), undefined)
  assert.deepEqual(monitorRefusal('frob', true), undefined)
  assert.equal(monitorRefusal('system_reset', false), 'modify')
  await holds(client, [
    ['POST', `${VM}/monitor`, { command: 'device_add x' }, "500 root-only command 'device_add'"],
    ['POST', `${VM}/monitor`, { command: '0' }, '500 no command specified'],
    [
      'POST',
      `${VM}/monitor`,
      { command: 'frob' },
      "500 command 'frob' non-existent or not assigned a required permission yet, limiting to root user",
    ],
  ])
  assert.equal(await client.data('POST', `${VM}/monitor`, { command: 'info name' }), 'ERROR: VM 100 not running\n')
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
  assert.deepEqual(await client.data('GET', `${VM}/cloudinit`), [{ key: 'ciuser', value: 'x' }])
  client.datacentre.world.guests.get(100)?.config.set('lock', 'migrate')
  await holds(client, [['PUT', `${VM}/cloudinit`, undefined, '500 VM is locked (migrate)']])
})

test('cloud-init data, in either form', () => {
  const resolver = { search: ['host.test'], servers: ['10.0.0.53'] }
  const part = (type: string, config: Readonly<Record<string, string>>, masked = false) =>
    cloudInitPart(type, new Map(Object.entries(config)), 100, resolver, masked)
  const card = { net0: 'virtio=BC:24:11:00:00:01,bridge=vmbr0', net1: 'virtio=BC:24:11:00:00:02' }
  assert.equal(
    part('user', { name: 'web.example.test', ciuser: 'root', cipassword: 'secret', ciupgrade: '0' }, true),
    '#cloud-config\nhostname: web\nmanage_etc_hosts: true\nfqdn: web.example.test\nuser: root\ndisable_root: False\n' +
      'password: **********\nchpasswd:\n  expire: False\n',
  )
  assert.equal(
    part('network', { ...card, ipconfig0: 'ip=10.1.0.2/20,gw=10.1.0.1,ip6=auto' }),
    "version: 1\nconfig:\n    - type: physical\n      name: eth0\n      mac_address: 'bc:24:11:00:00:01'\n      subnets:\n" +
      "      - type: static\n        address: '10.1.0.2'\n        netmask: '255.255.240.0'\n        gateway: '10.1.0.1'\n" +
      "      - type: ipv6_slaac\n    - type: nameserver\n      address:\n      - '10.0.0.53'\n      search:\n      - 'host.test'\n",
  )
  assert.equal(
    part('network', { ...card, ostype: 'win11', ipconfig1: 'ip=dhcp,ip6=fd00::2/64', nameserver: '1.1.1.1 9.9.9.9' }),
    'auto lo\niface lo inet loopback\n\n        dns_nameservers 1.1.1.1 9.9.9.9\n        dns_search host.test\n' +
      'auto eth1\niface eth1 inet dhcp\niface eth1 inet6 static\n        address fd00::2\n        netmask 64\n',
  )
  assert.match(part('meta', card), /^instance-id: [0-9a-f]{40}\n$/)
  assert.match(
    part('meta', { ...card, citype: 'configdrive2' }),
    /^\{\n {5}"uuid": "[0-9a-f]{40}",\n {5}"network_config"/,
  )
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
