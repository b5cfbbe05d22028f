import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../src/lib/random.ts'
import { createDatacentre } from '../../datacentre.ts'
import { createVirtualClock } from '../../virtual-clock.ts'

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
  return { clock, datacentre, ask }
}

const NODE = '/nodes/fun-bedbug'

test('[T-08] interfaces that do not fit together are not written', async () => {
  const { ask, datacentre } = site()
  const make = (params: Record<string, string>) => ask('POST', `${NODE}/network`, params)
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ iface: 'vmbr9', type: 'bridge', bridge_ports: 'eno9' }, /^bridge 'vmbr9' - unable to find bridge port 'eno9'/],
    [{ iface: 'bond9', type: 'bond', slaves: 'eno9' }, /^bond 'bond9' - unable to find slave 'eno9'/],
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
    [1, 'eno1', 'x'],
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

test('[T-08] time zones, certificates, disks and tasks are judged', async () => {
  const { ask } = site()
  assert.deepEqual((await ask('PUT', `${NODE}/time`, { timezone: 'Mars/Base' })).errors, {
    timezone: 'No such timezone',
  })
  assert.equal((await ask('PUT', `${NODE}/time`, { timezone: 'europe/berlin' })).status, 400)
  assert.equal((await ask('PUT', `${NODE}/time`, { timezone: 'Europe/Berlin' })).status, 200)
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'
  const key = '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----'
  const keyless = await ask('POST', `${NODE}/certificates/custom`, { certificates: pem })
  assert.deepEqual(keyless.errors, { key: 'Attempted to upload custom certificate without (existing) key.' })
  assert.equal((await ask('POST', `${NODE}/certificates/custom`, { certificates: pem, key })).status, 200)
  assert.match(
    (await ask('POST', `${NODE}/certificates/custom`, { certificates: pem, key })).reason,
    /^Custom certificate file exists but force flag is not set/,
  )
  assert.equal((await ask('GET', `${NODE}/disks/smart`, { disk: '/dev/sdq' })).reason, 'not a valid block device')
  assert.equal((await ask('POST', `${NODE}/disks/lvm`, { device: '/dev/sdq', name: 'vg' })).status, 500)
  assert.match((await ask('POST', '/nodes/pumped-piglet/wakeonlan')).reason, /is local node, cannot wake my self!/)
  assert.match((await ask('POST', `${NODE}/wakeonlan`)).reason, /^No wake on LAN MAC address defined/)
  const failed = (await ask('GET', `${NODE}/tasks`, { statusfilter: 'error' })).data as unknown[]
  assert.deepEqual(failed, [])
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
