import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf } from '../../test-client.ts'
import { holds } from '../../testing/answered-rows.ts'
import { asRoot, loggedIn } from '../../testing/logged-in.ts'

/** Rows that the real daemon was asked in the same order, with the same state before. */

const NODE = '/nodes/pve1'

test('interfaces: the loopback, and ports of Open vSwitch on a host without it', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${NODE}/network`
  await holds(client, [
    ['POST', at, { iface: 'lo', type: 'bridge' }, { iface: 'interface already exists' }],
    [
      'POST',
      at,
      { iface: 'vlan8', type: 'vlan', 'vlan-raw-device': 'lo' },
      "500 vlan 'vlan8' - wrong interface type on parent 'lo' ('loopback' != 'eth|bond|bridge|vlan' )",
    ],
    [
      'PUT',
      `${at}/vmbr0`,
      { type: 'OVSBridge', ovs_ports: 'eth1' },
      "500 OVS bridge 'vmbr0' - unable to find port 'eth1'",
    ],
    [
      'PUT',
      `${at}/eth0`,
      { type: 'OVSPort', ovs_bridge: 'vmbr0' },
      "500 bridge 'vmbr0' - unable to find bridge port 'eth0'",
    ],
    ['PUT', `${at}/lo`, { type: 'eth', comments: 'x' }, 'done'],
  ])
  const changed = await client.data<Record<string, unknown>>('GET', `${at}/lo`)
  assert.deepEqual([changed.type, changed.method, changed.comments, changed.priority], ['loopback', 'manual', 'x\n', 2])
  await holds(client, [['DELETE', `${at}/lo`, undefined, 'done']])
  const forgotten = await client.data<Record<string, unknown>>('GET', `${at}/lo`)
  assert.deepEqual([forgotten.method, forgotten.priority, forgotten.active], ['loopback', 1, undefined])
  await holds(client, [
    ['PUT', `${at}/vmbr0`, { type: 'OVSBridge', delete: 'bridge_ports', ovs_ports: 'eth0' }, 'done'],
  ])
  const port = await client.data<Record<string, unknown>>('GET', `${at}/eth0`)
  assert.deepEqual([port.type, port.ovs_bridge, port.autostart], ['OVSPort', 'vmbr0', 1])
})

test('a host: numbers of its configuration are text', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [['PUT', `${NODE}/config`, { 'ballooning-target': '50' }, 'done']])
  assert.equal((await client.data<Record<string, unknown>>('GET', `${NODE}/config`))['ballooning-target'], '50')
})

test('users that are not there: root hears of it later, and of some things never', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await asRoot(client)
  const none = "no such user ('nope@pve')"
  await holds(client, [
    [
      'POST',
      '/access/users',
      { userid: 'u2@pam', password: 'secret12' },
      "500 create user failed: change password failed: user 'u2' does not exist",
    ],
    ['POST', '/access/users', { userid: 'u2@pam' }, 'done'],
    ['PUT', '/access/users/nope@pve', { comment: 'x' }, `500 ${none}`],
    ['POST', '/access/users/admin@pve/token/tk', { expire: '1' }, 'done'],
    [
      'PUT',
      '/access/users/admin@pve/token/tk',
      { delete: 'bogus' },
      '500 updating token info failed: 400 Parameter verification failed.',
    ],
  ])
  await holds(root, [
    ['GET', '/access/users/nope@pve', undefined, `500 ${none}`],
    ['PUT', '/access/users/nope@pve', { comment: 'x' }, `500 update user failed: ${none}`],
    ['DELETE', '/access/users/nope@pve', undefined, 'done'],
    ['GET', '/access/users/nope@pve/token', undefined, `500 ${none}`],
    ['POST', '/access/users/nope@pve/token/x1', {}, `500 ${none}`],
    [
      'PUT',
      '/access/password',
      { userid: 'u2@pam', password: 'secret12', 'confirmation-password': 'rootpw123' },
      "500 change password failed: user 'u2' does not exist",
    ],
  ])
  const admin = await loggedIn(client, 'admin@pve', 'secret123')
  const change = (userid: string, confirmed?: string) => ({
    userid,
    password: 'secret124',
    ...(confirmed === undefined ? {} : { 'confirmation-password': confirmed }),
  })
  const required = { 'confirmation-password': 'password is required to modify user' }
  await holds(admin, [
    ['PUT', '/access/password', change('admin@pve'), required],
    ['PUT', '/access/password', change('admin@pve', 'wrong'), '500 invalid credentials'],
    ['PUT', '/access/password', change('root@pam', 'secret123'), '403 Permission check failed'],
    ['PUT', '/access/password', change('u2@pam', 'secret123'), '403 Permission check failed'],
    ['PUT', '/access/password', change('admin@pve', 'secret123'), 'done'],
  ])
  for (const [query, expected] of [
    ['userid=nope@pve&path=/vms', { '/vms': {} }],
    ['path=nope', { nope: {} }],
    ['userid=admin@pve!nope', {}],
  ] as const)
    assert.deepEqual(await client.data('GET', `/access/permissions?${query}`), expected, query)
  const made = await client.data<{ info: unknown }>('POST', '/access/users/admin@pve/token/tk2', {})
  assert.deepEqual(made.info, { privsep: 1 }, 'what nobody sent is a number')
  const realm = { realm: 'l3', type: 'ldap', server1: '127.0.0.1', base_dn: 'dc=x', user_attr: 'uid', tfa: 'type=oath' }
  await holds(client, [['POST', '/access/domains', realm, 'done']])
  const realms = await client.data<{ realm: string; tfa?: string }[]>('GET', '/access/domains')
  assert.equal(realms.find(({ realm: id }) => id === 'l3')?.tfa, 'oath')
})

test('storages: names that are none, sizes that folders do not have, backups elsewhere', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${NODE}/storage`
  await holds(client, [
    ['POST', '/storage', { storage: 's1', type: 'dir', path: '/var/lib/s1', content: 'iso' }, 'done'],
    ['DELETE', `${at}/local/content/iso%2F..%2Fx`, undefined, "500 unable to parse directory volume name 'iso/../x'"],
  ])
})

const TEMPLATE = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'

test('containers: what the host must have for an option is looked at before anything is written', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await asRoot(client)
  const at = `${NODE}/lxc`
  const ct = { vmid: '300', ostemplate: TEMPLATE, rootfs: 'local:0' }
  await holds(root, [
    ['POST', at, { ...ct, hookscript: 'local:snippets/nope.sh' }, "500 script 'local:snippets/nope.sh' does not exist"],
    [
      'POST',
      at,
      { ...ct, hookscript: 'local:snippets/u.yaml' },
      "500 script 'local:snippets/u.yaml' is not executable",
    ],
    [
      'POST',
      at,
      { ...ct, hookscript: 'local:iso/cloud.img' },
      "500 'local:iso/cloud.img' is not in the snippets directory",
    ],
    ['POST', at, { ...ct, hookscript: 'nope:snippets/u.yaml' }, "500 storage 'nope' does not exist"],
    ['POST', at, { ...ct, dev0: '/dev/nope' }, '500 Device /dev/nope does not exist'],
    ['POST', at, { ...ct, dev0: '/dev/shm' }, '500 /dev/shm is not a device'],
    ['POST', at, { ...ct, dev0: 'mode=0660' }, '500 Path has to be defined'],
    ['POST', at, { ...ct, rootfs: '/mnt/x' }, "task: unable to create CT 300 - directory '/mnt/x' does not exist"],
    ['POST', at, { ...ct, ostemplate: '/nope' }, "task: unable to create CT 300 - can't find file '/nope'"],
    ['POST', at, ct, 'task: OK'],
    ['PUT', `${at}/300/config`, { dev0: '/dev/nope' }, '500 Device /dev/nope does not exist'],
    ['PUT', `${at}/300/config`, { dev0: '/dev/null' }, 'done'],
    ['PUT', `${at}/300/config`, { hookscript: 'local:snippets/hook.sh' }, 'done'],
    ['PUT', `${at}/300/config`, { mp1: 'local:0,mp=/x' }, 'done'],
    ['PUT', `${at}/300/config`, { mp1: 'local:0,mp=/y' }, 'done'],
  ])
  const kept = await root.data<Record<string, unknown>>('GET', `${at}/300/config`)
  assert.equal(kept.unused0, 'local:300/subvol-300-disk-1.subvol', 'what another disk takes the place of')
  const card = 'name=eth0,bridge=vmbr0'
  await holds(client, [
    [
      'POST',
      at,
      { ...ct, vmid: '301', net0: `${card},mtu=9000` },
      "500 net0: MTU size '9000' is bigger than bridge MTU '1500'",
    ],
    [
      'PUT',
      `${at}/300/config`,
      { net0: `${card},host-managed=1,ip6=auto` },
      '500 net0: SLAAC is not supported for host-managed network configuration.',
    ],
    ['POST', at, { ...ct, vmid: '301', ostemplate: '-' }, '500 pipe requires cli environment'],
    [
      'POST',
      at,
      { ...ct, vmid: '301', ostemplate: 'local:vztmpl/nope.zip' },
      "500 unable to parse directory volume name 'vztmpl/nope.zip'",
    ],
    [
      'POST',
      at,
      { ...ct, vmid: '301', rootfs: 'local:iso/cloud.img' },
      "500 unable to use volume local:iso/cloud.img - content type needs to be 'rootdir'",
    ],
    [
      'POST',
      at,
      { ...ct, vmid: '301', rootfs: 'local:999/vm-999-disk-0.raw' },
      "task: unable to create CT 301 - volume 'local:999/vm-999-disk-0.raw' does not exist",
    ],
    [
      'PUT',
      `${at}/300/config`,
      { mp2: 'local:iso/cloud.img,mp=/y' },
      "500 unable to use volume local:iso/cloud.img - content type needs to be 'rootdir'",
    ],
  ])
})

test('machines: root may name files of the host, if they lie in a storage', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await asRoot(client)
  const at = `${NODE}/qemu`
  const elsewhere = { scsi0: "unable to associate path '/etc/passwd' to any storage" }
  await holds(root, [
    [
      'POST',
      at,
      { vmid: '200', scsi0: '/dev/nope' },
      'task: unable to create VM 200 - volume /dev/nope does not exist',
    ],
    ['POST', at, { vmid: '200', scsi0: '/etc/passwd' }, elsewhere],
    [
      'POST',
      at,
      { vmid: '200', scsi0: 'local:0,import-from=/nope' },
      "task: unable to create VM 200 - can't find file '/nope'",
    ],
    ['POST', at, { vmid: '200', ide2: '/var/lib/vz/template/iso/cloud.img,media=cdrom' }, 'task: OK'],
    ['PUT', `${at}/200/config`, { scsi0: '/dev/nope' }, '500 volume /dev/nope does not exist'],
    ['PUT', `${at}/200/config`, { scsi0: '/etc/passwd' }, elsewhere],
    [
      'PUT',
      `${at}/200/config`,
      { scsi1: '/var/lib/vz/import/cloud.qcow2' },
      { scsi1: "content type needs to be 'images' or 'iso'" },
    ],
  ])
  const { ide2 } = await client.data<{ ide2: string }>('GET', `${at}/200/config`)
  assert.match(ide2, /^local:iso\/cloud\.img,media=cdrom,/)
  await holds(client, [
    [
      'PUT',
      `${at}/200/config`,
      { scsi0: '/dev/nope' },
      '500 Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.',
    ],
  ])
})

test('the network of the cluster: what is in effect, what is pending, and its lock', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/cluster/sdn'
  const pending =
    '500 could not acquire lock for SDN config: configuration has pending changes at /usr/share/perl5/PVE/API2/Network/SDN.pm line 150.'
  const wrong = 'invalid lock token provided! at /usr/share/perl5/PVE/Network/SDN.pm line 291.'
  await holds(client, [
    ['POST', `${at}/zones`, { type: 'simple', zone: 'zb1' }, 'done'],
    ['POST', `${at}/zones`, { type: 'simple', zone: 'za1' }, 'done'],
    ['POST', `${at}/lock`, {}, pending],
    ['POST', `${at}/lock`, { 'allow-pending': '1' }, 'done'],
    ['POST', `${at}/lock`, { 'allow-pending': '1' }, `500 could not acquire lock for SDN config: ${wrong}`],
    ['DELETE', `${at}/lock`, { 'lock-token': 'abc' }, `500 could not release lock: ${wrong}`],
    ['DELETE', `${at}/lock`, { force: '1' }, 'done'],
    ['POST', `${at}/vnets`, { vnet: 'va1', zone: 'zb1' }, 'done'],
    [
      'POST',
      `${at}/vnets/va1/subnets`,
      {
        subnet: '10.0.4.0/24',
        type: 'subnet',
        'dhcp-range': 'start-address=10.0.4.10,end-address=10.0.4.20',
      },
      'done',
    ],
  ])
  const zones = async (query = '') =>
    (await client.data<{ zone: string; pending?: unknown }[]>('GET', `${at}/zones${query}`)).map(
      ({ zone, pending: later }) => `${zone}${later === undefined ? '' : ' pending'}`,
    )
  assert.deepEqual(await zones(), ['za1', 'zb1'], 'by name')
  assert.deepEqual(await zones('?pending=1'), ['za1 pending', 'zb1 pending'])
  const [subnet] = await client.data<Record<string, unknown>[]>('GET', `${at}/vnets/va1/subnets`)
  assert.deepEqual(subnet?.['dhcp-range'], [{ 'start-address': '10.0.4.10', 'end-address': '10.0.4.20' }])
  await holds(client, [['PUT', at, {}, 'task: OK']])
  assert.deepEqual(await zones('?pending=1'), ['za1', 'zb1'], 'nothing is left to come')
})

test('small things: the node that was asked, firewalls that are on since, helpers in a list', async () => {
  const client = createTestClient({ preset: 'recording' })
  const firewall = '/cluster/firewall/options'
  await holds(client, [
    ['GET', '/nodes/localhost/qemu', undefined, 'done'],
    [
      'GET',
      '/nodes/localhost/qemu/999/config',
      undefined,
      "500 Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist",
    ],
    ['PUT', firewall, { enable: '2' }, 'done'],
    ['PUT', `${NODE}/firewall/options`, { nf_conntrack_helpers: 'ftp,tftp' }, 'done'],
    [
      'PUT',
      `${NODE}/firewall/options`,
      { nf_conntrack_helpers: 'ftp,' },
      { nf_conntrack_helpers: 'invalid format - extraneous commas in list\n' },
    ],
    ['PUT', '/cluster/options', { migration: 'type=secure', migration_unsecure: '1' }, 'done'],
  ])
  const { enable } = await client.data<{ enable: number }>('GET', firewall)
  assert.equal(enable, Math.floor(client.clock.now() / 1000))
  assert.deepEqual(await client.data('GET', `${NODE}/firewall/log?since=1&until=2`), [])
  assert.equal((await client.data<Record<string, unknown>>('GET', '/cluster/options')).migration_unsecure, 1)
})

test('copies take as long as their limit says; who stops one is told what was stopped', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${NODE}/qemu`
  await holds(client, [['POST', at, { vmid: '160', scsi0: 'local:4' }, 'task: OK']])
  const held = "can't lock file '/var/lock/qemu-server/lock-160.conf' - got timeout"
  const limited = { disk: 'scsi0', storage: 'local', format: 'qcow2', bwlimit: '1024' }
  const upid = await client.data<string>('POST', `${at}/160/move_disk`, limited)
  await client.pass(1_000)
  const before = client.clock.now()
  await holds(client, [['POST', at, { vmid: '160' }, `500 unable to create VM 160 - ${held}`]])
  assert.equal(client.clock.now() - before, 5_000, 'a creation waits half as long as others')
  await holds(client, [
    ['PUT', `${at}/160/config`, { cores: '2' }, `500 ${held}`],
    ['DELETE', `${NODE}/tasks/${encodeURIComponent(upid)}`, undefined, 'done'],
  ])
  const images = '/var/lib/vz/images/160'
  const command = `/usr/bin/qemu-img convert -p -n -r 1024K -f raw -O qcow2 ${images}/vm-160-disk-0.raw zeroinit:${images}/vm-160-disk-1.qcow2`
  assert.equal(
    await exitOf(client, upid),
    `storage migration failed: copy failed: command '${command}' failed: interrupted by signal`,
  )
  await holds(client, [
    ['POST', at, { vmid: '160' }, "500 unable to create VM 160 - VM 160 already exists on node 'pve1'"],
  ])
})
