import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../src/lib/random.ts'
import { createKeyPair, issueCertificate, privateKeyPem } from '../../../src/lib/x509.ts'
import { createDatacentre } from '../../datacentre.ts'
import { createVirtualClock } from '../../virtual-clock.ts'

function selfSigned(name: string): { readonly pem: string; readonly key: string } {
  const { privateKey, publicKey } = createKeyPair()
  const subject = { commonName: name }
  const dates = { notBefore: new Date('2025-01-01'), notAfter: new Date('2099-01-01') }
  const { pem } = issueCertificate({ subject, publicKey, altNames: [name], ...dates }, { subject, privateKey })
  return { pem, key: privateKeyPem(privateKey) }
}

function site() {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(1), preset: 'homelab' })
  const ask = async (method: string, path: string, params: Record<string, string> = {}) => {
    const query = new URLSearchParams(params).toString()
    const inBody = method !== 'GET' && method !== 'DELETE'
    const answer = await clock.runUntil(
      datacentre.handle({
        method,
        path: `/api2/json${path}${inBody || query === '' ? '' : `?${query}`}`,
        headers: {
          authorization: `PVEAPIToken=${datacentre.token}`,
          ...(inBody ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        },
        ...(inBody ? { body: query } : {}),
      }),
    )
    return { status: answer.status, reason: answer.reason, ...(answer.body === '' ? {} : JSON.parse(answer.body)) } as {
      status: number
      reason: string
      data?: unknown
      errors?: Record<string, string>
    }
  }
  const pass = (ms: number) => clock.advanceTo(clock.now() + ms)
  /** How a task ended. */
  const ended = async (upid: unknown) => {
    const tasks = [...datacentre.world.hosts.values()].flatMap((host) => [...host.tasksById.values()])
    const task = tasks.find((one) => one.upid === upid)
    await clock.runUntil(() => task?.exit !== undefined)
    return task?.exit
  }
  return { clock, datacentre, ask, pass, ended }
}

const NODE = '/nodes/fun-bedbug'

test('[T-08] interfaces that do not fit together are not written', async () => {
  const { ask, datacentre } = site()
  const make = (params: Record<string, string>) => ask('POST', `${NODE}/network`, params)
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ iface: 'vmbr9', type: 'bridge', bridge_ports: 'eno9' }, /^bridge 'vmbr9' - unable to find bridge port 'eno9'/],
    [
      { iface: 'bond9', type: 'bond', slaves: 'eno9' },
      /^bond 'bond9' - wrong interface type on slave 'eno9' \('' != 'eth or bond'\)/,
    ],
    [
      { iface: 'vmbr9', type: 'bridge', bridge_ports: 'eno1,eno2' },
      /^bridge 'vmbr9' - unable to find bridge port 'eno1,eno2'/,
    ],
    [
      { iface: 'bond9', type: 'bond', slaves: 'vmbr0' },
      /wrong interface type on slave 'vmbr0' \('bridge' != 'eth or bond'\)/,
    ],
    [{ iface: 'lan', type: 'vlan' }, /^missing vlan-raw-device option at /],
    [{ iface: 'lan', type: 'vlan', 'vlan-raw-device': 'eno1' }, /^missing vlan-id option at /],
    [{ iface: 'eno9.4', type: 'vlan' }, /^vlan 'eno9.4' - unable to find parent 'eno9'/],
    [{ iface: 'eno1.4095', type: 'vlan' }, /vlan-id 4095 should be <= 4094/],
    [{ iface: 'vmbr9', type: 'OVSBridge' }, /^Open VSwitch is not installed/],
  ]
  for (const [params, expected] of cases) {
    const { status, reason } = await make(params)
    assert.equal(status, 500, JSON.stringify(params))
    assert.match(reason, expected)
  }
  const used = await make({ iface: 'vmbr9', type: 'bridge', bridge_ports: 'eth0' })
  assert.deepEqual([used.status, used.errors], [400, { bridge_ports: "eth0 is already used on interface 'vmbr0'." }])
  const gateway = await make({ iface: 'vmbr9', type: 'bridge', cidr: '10.0.0.2/24', gateway: '10.0.0.1' })
  assert.deepEqual(gateway.errors, { gateway: "Default gateway already exists on interface 'vmbr0'." })
  assert.equal(datacentre.world.hosts.get('fun-bedbug')?.newInterfaces, undefined, 'nothing was written')
  assert.equal((await make({ iface: 'vmbr9', type: 'bridge', bridge_ports: 'eno1', comments: 'x' })).status, 200)
  const changed = { type: 'bridge', bridge_vlan_aware: '0' }
  assert.equal((await ask('PUT', `${NODE}/network/vmbr9`, changed)).status, 200)
  const { data } = (await ask('GET', `${NODE}/network/vmbr9`)) as { data: Record<string, unknown> }
  assert.deepEqual(
    [data.bridge_vlan_aware, data.bridge_ports, data.comments],
    [1, 'eno1', 'x\n'],
    'what is not sent stays',
  )
})

test('[T-08] what common clients send is taken as the real daemon takes it', async () => {
  const { ask, clock, datacentre } = site()
  const made = await ask('POST', `${NODE}/qemu`, {
    vmid: '500',
    name: 'bpg',
    ide2: 'local-zfs:cloudinit,',
    scsi0: 'local-zfs:1,,ssd=1,',
    start: '1',
  })
  assert.equal(made.status, 200, made.reason)
  await clock.advanceTo(clock.now() + 60_000)
  const guest = datacentre.world.guests.get(500)
  assert.match(guest?.config.get('ide2') ?? '', /^local-zfs:vm-500-cloudinit/)
  assert.match(guest?.config.get('scsi0') ?? '', /^local-zfs:vm-500-disk-0,size=1G,ssd=1$/)
  const tasks = (await ask('GET', `${NODE}/tasks`, { vmid: '500', source: 'all' })).data as { type: string }[]
  assert.deepEqual(tasks.map(({ type }) => type).sort(), ['qmcreate', 'qmstart'])
  assert.equal(guest?.run.status, 'running')

  for (const [macro, kept] of [
    ['', undefined],
    ['ssh', 'SSH'],
  ] as const) {
    const params = { type: 'in', action: 'ACCEPT', macro }
    assert.equal((await ask('POST', '/cluster/firewall/rules', params)).status, 200, macro)
    const [first] = (await ask('GET', '/cluster/firewall/rules')).data as { macro?: string }[]
    assert.equal(first?.macro, kept)
  }

  assert.equal((await ask('PUT', `${NODE}/apt/repositories`, { handle: 'no-subscription' })).status, 200)
  const { files } = (await ask('GET', `${NODE}/apt/repositories`)).data as { files: { path: string }[] }
  assert.ok(files.some(({ path }) => path === '/etc/apt/sources.list.d/proxmox.sources'))
})

test('[T-08] time zones, certificates and tasks are judged', async () => {
  const { ask } = site()
  assert.deepEqual((await ask('PUT', `${NODE}/time`, { timezone: 'Mars/Base' })).errors, {
    timezone: 'No such timezone',
  })
  assert.equal((await ask('PUT', `${NODE}/time`, { timezone: 'europe/berlin' })).status, 400)
  assert.equal((await ask('PUT', `${NODE}/time`, { timezone: 'Europe/Berlin' })).status, 200)
  const { pem, key } = selfSigned('still-fawn.test')
  const keyless = await ask('POST', `${NODE}/certificates/custom`, { certificates: pem })
  assert.deepEqual(keyless.errors, { key: 'Attempted to upload custom certificate without (existing) key.' })
  const strange = await ask('POST', `${NODE}/certificates/custom`, {
    certificates: pem,
    key: selfSigned('other.test').key,
  })
  assert.match(
    strange.reason,
    /^Setting certificate files failed - \d+: key does not match the certificate \(chain\) \(\)/,
  )
  const taken = await ask('POST', `${NODE}/certificates/custom`, { certificates: `some words\n${pem}`, key })
  assert.equal(taken.status, 200, taken.reason)
  const info = ((await ask('GET', `${NODE}/certificates/info`)).data as Record<string, unknown>[]).at(-1)
  assert.deepEqual(info, taken.data)
  assert.equal(info?.subject, '/CN=still-fawn.test')
  assert.deepEqual(info?.san, ['still-fawn.test'])
  assert.deepEqual([info?.['public-key-type'], info?.['public-key-bits']], ['id-ecPublicKey', 256])
  assert.match(
    (await ask('POST', `${NODE}/certificates/custom`, { certificates: pem, key })).reason,
    /^Custom certificate file exists but force flag is not set/,
  )
  const failed = (await ask('GET', `${NODE}/tasks`, { statusfilter: 'error' })).data as unknown[]
  assert.deepEqual(failed, [])
})

test('[T-08] an interface comes back as the file has it, not as it was sent', async () => {
  const { ask } = site()
  const make = (params: Record<string, string>) => ask('POST', `${NODE}/network`, params)
  const read = async (iface: string) => (await ask('GET', `${NODE}/network/${iface}`)).data as Record<string, unknown>
  assert.equal(
    (await make({ iface: 'bond0', type: 'bond', slaves: 'eno2 eno1', mtu: '9000', bond_mode: '802.3ad' })).status,
    200,
  )
  assert.deepEqual(await read('bond0'), {
    type: 'bond',
    slaves: 'eno1 eno2',
    bond_mode: '802.3ad',
    bond_miimon: '100',
    mtu: '9000',
    method: 'manual',
    method6: 'manual',
    families: ['inet'],
    priority: 8,
  })
  // Those of a bond are started with the host; what comes later in the file has a later place.
  assert.equal((await read('eno1')).autostart, 1)
  assert.equal((await read('vmbr0')).priority, 9)
  assert.equal(
    (await make({ iface: 'vmbr7', type: 'bridge', cidr: '10.7.0.1/24', cidr6: 'fd00::7/64', bridge_vids: '5,7-9' }))
      .status,
    200,
  )
  const { priority: _place, ...bridge } = await read('vmbr7')
  assert.deepEqual(bridge, {
    type: 'bridge',
    bridge_ports: '',
    bridge_stp: 'off',
    bridge_fd: '0',
    address: '10.7.0.1',
    netmask: '24',
    cidr: '10.7.0.1/24',
    address6: 'fd00::7',
    netmask6: '64',
    cidr6: 'fd00::7/64',
    method: 'static',
    method6: 'static',
    families: ['inet', 'inet6'],
  })
  // An address of IPv4 that is not sent stays in a file that calls it manual; one of IPv6 is gone with its section.
  assert.equal((await ask('PUT', `${NODE}/network/vmbr7`, { type: 'bridge', comments: 'y' })).status, 200)
  const later = await read('vmbr7')
  assert.deepEqual([later.cidr, later.method, later.cidr6, later.comments], ['10.7.0.1/24', 'manual', undefined, 'y\n'])
  assert.equal((await ask('PUT', `${NODE}/network/vmbr7`, { type: 'bridge', delete: 'cidr' })).status, 200)
  assert.equal((await read('vmbr7')).address, undefined)
  assert.equal((await make({ iface: 'eno3.9', type: 'vlan' })).status, 200)
  assert.equal((await read('eno3.9')).exists, null)
  assert.equal((await make({ iface: 'mybond', type: 'bond', slaves: 'eno4' })).status, 200)
  assert.equal((await read('mybond')).type, 'unknown', 'a name says what a bond is')
  for (const [cidr6, sort] of [
    ['ff02::1/64', 'MULTICAST'],
    ['2001:db8::1/64', 'DOCUMENTATION'],
    ['::1/128', 'LOOPBACK'],
    ['ffff::/16', 'ANYCAST'],
  ]) {
    const { status, errors } = await make({ iface: 'vmbr8', type: 'bridge', cidr6: cidr6 ?? '' })
    const address = cidr6?.split('/')[0]
    assert.deepEqual(
      [status, errors],
      [400, { address: `${address} with type '${sort}', cannot be used as host IPv6 address.` }],
    )
  }
  const list = (await ask('GET', `${NODE}/network`, { type: 'include_sdn' })).data as unknown[]
  assert.equal(list.length, ((await ask('GET', `${NODE}/network`)).data as unknown[]).length)
})

test('[T-08] the files of a host come back as they are written', async () => {
  const { ask } = site()
  await ask('PUT', `${NODE}/dns`, { search: 'example.test', dns1: '0.0.0.0', dns2: '9.9.9.9', dns3: '9.9.9.9' })
  assert.deepEqual((await ask('GET', `${NODE}/dns`)).data, { search: 'example.test', dns1: '9.9.9.9' })
  const hosts = (data: string) => ask('POST', `${NODE}/hosts`, { data })
  assert.deepEqual((await hosts('nonsense a')).errors, { data: "Invalid IP 'nonsense'" })
  assert.deepEqual((await hosts('# x\n10.0.0.1 a_b')).errors, { data: "Invalid Hostname 'a_b'" })
  assert.equal((await hosts('10.0.0.1 a.b\n\n::1 c\n')).status, 200)
  assert.deepEqual((await ask('GET', `${NODE}/config`)).data, {}, 'a file that is not there has no digest')
  const { reason } = await ask('PUT', `${NODE}/config`, { acmedomain0: 'a.example.test,plugin=nope' })
  assert.equal(reason, "plugin 'nope' for domain 'a.example.test' not found!")
  await ask('PUT', `${NODE}/config`, { description: 'x' })
  assert.equal(((await ask('GET', `${NODE}/config`)).data as { description: string }).description, 'x\n')
})

test('what clients send and read back is as the real one has it', async () => {
  const { ask } = site()
  await ask('POST', `${NODE}/network`, { iface: 'eno1.55', type: 'vlan' })
  await ask('POST', `${NODE}/network`, { iface: 'vlan56', type: 'vlan', 'vlan-raw-device': 'eno1' })
  const read = async (iface: string) => (await ask('GET', `${NODE}/network/${iface}`)).data as Record<string, unknown>
  const dotted = await read('eno1.55')
  assert.deepEqual([dotted['vlan-raw-device'], dotted['vlan-id']], ['eno1', '55'])
  assert.equal((await read('vlan56'))['vlan-id'], '56')
  // An empty protocol means none.
  const rule = await ask('POST', '/cluster/firewall/rules', { type: 'in', action: 'ACCEPT', macro: 'SSH', proto: '' })
  assert.equal(rule.status, 200, rule.reason)
})

test('[T-08] ACME: plugins, accounts and domains are judged', async () => {
  const { ask } = site()
  const plugins = '/cluster/acme/plugins'
  const first = (await ask('GET', plugins)).data as { plugin: string; type: string }[]
  assert.deepEqual(
    first.map(({ plugin, type }) => [plugin, type]),
    [['standalone', 'standalone']],
    'one is there without being made',
  )
  assert.equal(
    (await ask('POST', plugins, { id: 'cf', type: 'dns' })).reason,
    "missing value for required option 'api'",
  )
  assert.equal((await ask('POST', plugins, { id: 'cf', type: 'dns', api: 'cf' })).status, 200)
  assert.equal(
    (await ask('POST', plugins, { id: 'cf', type: 'dns', api: 'cf' })).reason,
    "ACME plugin ID 'cf' already exists",
  )
  assert.equal((await ask('GET', `${plugins}/nope`)).reason, "ACME plugin 'nope' not defined")
  assert.equal((await ask('PUT', `${plugins}/nope`, { api: 'cf' })).reason, "ACME plugin ID 'nope' does not exist")
  assert.equal((await ask('PUT', `${plugins}/cf`, { delete: 'bogus' })).reason, "no such option 'bogus'")
  assert.equal((await ask('PUT', `${plugins}/cf`, { delete: 'api' })).reason, "unable to delete required option 'api'")
  assert.equal((await ask('DELETE', `${plugins}/nope`)).status, 200, 'nothing is as good as gone')
  assert.equal(((await ask('GET', plugins, { type: 'dns' })).data as unknown[]).length, 1)

  // Accounts are for root itself, not for a token of it.
  const account = await ask('POST', '/cluster/acme/account', { name: 'mine', contact: 'a@example.com' })
  assert.equal(account.reason, 'Permission check failed (user != root@pam)')

  const twice = await ask('PUT', `${NODE}/config`, { acme: 'domains=a.test', acmedomain1: 'A.test' })
  assert.equal(twice.reason, "duplicate domain 'a.test' in ACME config properties 'acmedomain1' and 'acme'")
})

test('[T-08] repositories are added by handle, switched by file and number, and kept from a stale writer', async () => {
  const { ask } = site()
  const at = `${NODE}/apt/repositories`
  interface Read {
    readonly digest: string
    readonly files: { readonly path: string; readonly repositories: { readonly Enabled: number }[] }[]
    readonly 'standard-repos': { readonly handle: string; readonly status?: number }[]
  }
  const read = async () => (await ask('GET', at)).data as Read
  const status = async (handle: string) => (await read())['standard-repos'].find((one) => one.handle === handle)?.status
  assert.equal(
    (await ask('PUT', at, { handle: 'nope' })).reason,
    "no standard repository for handle 'nope' on host product 'pve' and suite 'trixie'",
  )
  assert.equal((await ask('PUT', at, { handle: 'No Way' })).reason, "error: invalid APT repository handle: 'no way'")
  assert.equal(
    (await ask('PUT', at, { handle: 'nope', digest: 'abc' })).reason,
    'error: invalid value: string "abc", expected valid configuration digest',
  )
  assert.equal((await ask('POST', at, { path: '/etc/nope', index: '0' })).reason, 'invalid path - /etc/nope')
  const enterprise = '/etc/apt/sources.list.d/pve-enterprise.sources'
  assert.equal((await ask('POST', at, { path: enterprise, index: '7' })).reason, 'invalid index - 7')
  assert.match(
    (await ask('POST', at, { path: '/etc/nope', index: '0', digest: '00'.repeat(32) })).reason,
    /^detected modified configuration/,
  )
  assert.equal(await status('enterprise'), 1)
  const { digest } = await read()
  assert.match(digest, /^[0-9a-f]{64}$/)
  assert.equal((await ask('POST', at, { path: enterprise, index: '0', enabled: '0', digest })).status, 200)
  assert.equal(await status('enterprise'), 0)
  assert.equal((await ask('PUT', at, { handle: 'enterprise' })).status, 200)
  assert.equal(await status('enterprise'), 1, 'what is there and off is switched on')
  assert.equal(await status('ceph-squid-test'), undefined)
  assert.equal((await ask('PUT', at, { handle: 'ceph-squid-test' })).status, 200)
  assert.equal(await status('ceph-squid-test'), 1)
  assert.equal(await status('ceph-squid-enterprise'), undefined, 'the other one of the same place')
})

test('[T-08] tasks: what is not there, what runs, who may end it', async () => {
  const { ask, pass } = site()
  const nobody = 'UPID:fun-bedbug:00000001:00000001:00000001:qmstart:100:root@pam:'
  assert.deepEqual((await ask('GET', `${NODE}/tasks/${nobody}/status`)).errors, { upid: 'no such task' })
  assert.deepEqual((await ask('DELETE', `${NODE}/tasks/${nobody}`)).errors, { upid: 'no such task' })
  const log = await ask('GET', `${NODE}/tasks/${nobody}/log`)
  assert.deepEqual(log.data, [{ n: 1, t: 'unable to open file - No such file or directory' }])
  await ask('POST', `${NODE}/qemu`, { vmid: '501' })
  const active = (await ask('GET', `${NODE}/tasks`, { source: 'active' })).data as { status: string }[]
  assert.deepEqual(
    active.map(({ status }) => status),
    ['RUNNING'],
  )
  await pass(60_000)
  await ask('POST', `${NODE}/qemu`, { vmid: '502' })
  const all = (await ask('GET', `${NODE}/tasks`, { source: 'all' })).data as { status: string }[]
  assert.deepEqual(
    all.map(({ status }) => status),
    ['RUNNING', 'OK'],
    'what runs comes first',
  )
  assert.deepEqual((await ask('GET', `${NODE}/tasks`, { source: 'active', limit: '0' })).data, [])
})

test('[T-08] `delete` names an option of the section, one that may go and is not set by the same call', async () => {
  const { ask } = site()
  const metric = '/cluster/metrics/server/graphs'
  assert.equal((await ask('POST', metric, { type: 'graphite', server: '10.0.0.9', port: '2003' })).status, 200)
  const zone = '/cluster/sdn/zones'
  assert.equal((await ask('POST', zone, { zone: 'office', type: 'simple' })).status, 200)
  const mapping = '/cluster/mapping/usb'
  const device = { id: 'stick', map: 'node=fun-bedbug,id=18d1:9302' }
  assert.equal((await ask('POST', mapping, device)).status, 200)
  const cases: readonly (readonly [string, Record<string, string>, string])[] = [
    [metric, { delete: 'bogus' }, "no such option 'bogus'"],
    [metric, { delete: 'id' }, "no such option 'id'"],
    [metric, { delete: 'digest' }, "no such option 'digest'"],
    [metric, { delete: 'server' }, "unable to delete required option 'server'"],
    [metric, { delete: 'mtu', mtu: '1400' }, "cannot set and delete property 'mtu' at the same time!"],
    [`${zone}/office`, { delete: 'bogus' }, "update sdn zone object failed: no such option 'bogus'"],
    [
      `${mapping}/stick`,
      { map: device.map, delete: 'bogus' },
      "update hardware mapping failed: no such option 'bogus'",
    ],
  ]
  for (const [path, params, expected] of cases) {
    const answer = await ask('PUT', path, {
      ...(path === metric ? { server: '10.0.0.9', port: '2003' } : {}),
      ...params,
    })
    assert.equal(answer.reason, expected, `${path} ${JSON.stringify(params)}`)
    assert.equal(answer.status, 500)
  }
  const gone = await ask('PUT', metric, { server: '10.0.0.9', port: '2003', delete: 'mtu' })
  assert.equal(gone.status, 200, 'what is not set can be deleted')
})

test('[T-08] a backup at once is refused what only the command line may, what conflicts and what has no room for it', async () => {
  const { ask, ended } = site()
  const dump = (params: Record<string, string>) => ask('POST', `${NODE}/vzdump`, params)
  const conflict = "option conflicts with option 'vmid'"
  assert.deepEqual((await dump({ vmid: '100', all: '1' })).errors, { all: conflict })
  assert.deepEqual((await dump({ vmid: '100', pool: 'x' })).errors, { pool: conflict })
  assert.deepEqual((await dump({ storage: 'local' })).errors, { vmid: 'property is missing' })
  assert.deepEqual((await dump({ vmid: '100', stdout: '1' })).errors, {
    stdout: 'option is only allowed on the command line interface.',
  })
  const started = await dump({ vmid: '100', storage: 'local-zfs' })
  assert.equal(
    await ended(started.data),
    "could not get storage information for 'local-zfs': can't use storage 'local-zfs' for backups - wrong content type",
  )
})

test('[T-08] a backup of guests that are elsewhere begins no task', async () => {
  const { ask, datacentre } = site()
  const elsewhere = [...datacentre.world.guests.values()].find(({ node }) => node !== 'fun-bedbug')
  assert.ok(elsewhere !== undefined)
  const answer = await ask('POST', `${NODE}/vzdump`, { vmid: String(elsewhere.vmid), storage: 'local' })
  assert.equal(answer.data, 'OK')
})

test('[T-08] a pool is told of each member once, and its name begins with a letter', async () => {
  const { ask, datacentre } = site()
  const [guest] = datacentre.world.guests.keys()
  const vms = String(guest)
  assert.match((await ask('POST', '/pools', { poolid: '9lives' })).reason, /pool name must start with a letter/)
  assert.equal((await ask('POST', '/pools', { poolid: 'lives' })).status, 200)
  assert.equal((await ask('PUT', '/pools', { poolid: 'lives', vms, storage: 'local' })).status, 200)
  const again = (params: Record<string, string>) => ask('PUT', '/pools', { poolid: 'lives', ...params })
  assert.match((await again({ vms })).reason, new RegExp(`VM ${vms} is already a pool member`))
  assert.match((await again({ storage: 'local' })).reason, /Storage 'local' is already a pool member/)
  assert.match((await again({ storage: 'nfs', delete: '1' })).reason, /Storage 'nfs' is not a pool member/)
  assert.equal((await again({ vms, delete: '1' })).status, 200)
  assert.match((await ask('DELETE', '/pools', { poolid: 'lives' })).reason, /not empty \(contains storage 'local'\)/)
})

test('[T-08] a body of parts is taken by an upload and refused everywhere else', async () => {
  const { clock, datacentre } = site()
  const type = 'multipart/form-data; boundary=x'
  const answer = await clock.runUntil(
    datacentre.handle({
      method: 'POST',
      path: '/api2/json/pools',
      headers: { authorization: `PVEAPIToken=${datacentre.token}`, 'content-type': type },
      body: 'poolid=parts',
    }),
  )
  assert.deepEqual([answer.status, answer.reason], [506, `upload 'Content-Type '${type}' not implemented`])
  assert.equal(datacentre.world.pools.has('parts'), false)
})
