import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Storage::Scan, ::Hardware::PCI, ::Qemu::CPU, ::Qemu::CPUFlags and ::CustomCPUModels say. */
const NODE = '/nodes/pve1'

type Row = Record<string, unknown>

test('scan: each program has its own way to say that nobody answers', async () => {
  const client = createTestClient({ preset: 'recording' })
  const refused = "500 error fetching datastores - 500 Can't connect to 10.0.0.9:9007 (Connection refused)"
  await holds(client, [
    ['GET', `${NODE}/scan/nfs?server=nobody`, undefined, "500 unable to resolve address for server 'nobody'"],
    [
      'GET',
      `${NODE}/scan/nfs?server=10.0.0.9`,
      undefined,
      "500 command '/sbin/showmount --no-headers --exports 10.0.0.9' failed: exit code 1",
    ],
    ['GET', `${NODE}/scan/cifs?server=nobody`, undefined, "500 unable to resolve address for server 'nobody'"],
    ['GET', `${NODE}/scan/cifs?server=localhost`, undefined, '500 unexpected status: NT_STATUS_CONNECTION_REFUSED)'],
    ['GET', `${NODE}/scan/iscsi?portal=nobody`, undefined, "500 unable to parse/resolve portal address 'nobody'"],
    ['GET', `${NODE}/scan/pbs?server=10.0.0.9&username=a@pbs&password=x&port=9007`, undefined, refused],
  ])
  assert.deepEqual(await client.data('GET', `${NODE}/scan/iscsi?portal=10.0.0.9:3260`), [])
})

test('devices: classes that are left out, and what is told of the rest', async () => {
  const client = createTestClient({ preset: 'recording' })
  client.datacentre.world.hosts.get('pve1')?.pci.push({ path: '0000:00:00.5', id: '8086:7000' })
  const rows = await client.data<Row[]>('GET', `${NODE}/hardware/pci`)
  const ids = rows.map(({ id }) => String(id))
  assert.deepEqual(ids, [...ids].sort())
  assert.deepEqual(rows[0], {
    id: '0000:00:00.5',
    vendor: '0x8086',
    device: '0x7000',
    class: '0x000000',
    iommugroup: -1,
    subsystem_vendor: '0x8086',
    subsystem_device: '0x7000',
  })
  const [plain] = await client.data<Row[]>('GET', `${NODE}/hardware/pci?verbose=0`)
  assert.equal(plain?.subsystem_vendor, undefined)
  const network = (await client.data<Row[]>('GET', `${NODE}/hardware/pci?pci-class-blacklist=00,ff,01`)).map(
    ({ id }) => id,
  )
  assert.deepEqual(network, ['0000:00:03.0'])
})

test('machines: none is newer than the QEMU that makes them, and revisions say what they change', async () => {
  const client = createTestClient({ preset: 'recording' })
  const machines = await client.data<Row[]>('GET', `${NODE}/capabilities/qemu/machines`)
  assert.deepEqual(
    machines.slice(0, 4).map(({ id }) => id),
    ['pc-q35-10.0+pve1', 'pc-i440fx-10.0+pve1', 'pc-q35-10.0', 'pc-i440fx-10.0'],
  )
  assert.ok(machines.every(({ version, changes }) => String(version).includes('+pve') === (changes !== undefined)))
  await client.task('POST', `${NODE}/qemu`, { vmid: '100' })
  const { meta } = await client.data<{ meta: string }>('GET', `${NODE}/qemu/100/config`)
  assert.match(meta, /creation-qemu=10\.0\./)
})

test('flags of processors: nested machines first, what no host has last', async () => {
  const client = createTestClient()
  const flags = await client.data<{ name: string; 'supported-on': string[] }[]>('GET', '/cluster/qemu/cpu-flags')
  assert.equal(flags[0]?.name, 'nested-virt')
  const rest = flags.slice(1)
  const first = rest.findIndex((flag) => flag['supported-on'].length === 0)
  assert.ok(first > 20 && rest.slice(first).every((flag) => flag['supported-on'].length === 0))
  const names = rest.slice(0, first).map(({ name }) => name)
  assert.deepEqual(names, [...names].sort())
  assert.deepEqual(flags[0]?.['supported-on'], [...client.datacentre.world.hosts.keys()].sort())
  const ofMachines = await client.data<Row[]>('GET', '/nodes/fun-bedbug/capabilities/qemu/cpu-flags')
  assert.ok(ofMachines.length < flags.length && ofMachines.every(({ description }) => description !== undefined))
})

test('processors that are put together are listed to whoever may use them', async () => {
  const client = createTestClient({ preset: 'recording' })
  const models = '/cluster/qemu/custom-cpu-models'
  await client.data('POST', models, { cputype: 'zen', 'reported-model': 'EPYC', hidden: '0' })
  await client.data('POST', models, { cputype: 'custom-arm', 'reported-model': 'kvm64' })
  const listed = await client.data<Row[]>('GET', models)
  assert.deepEqual(
    listed.map(({ cputype, hidden }) => [cputype, hidden]),
    [
      ['custom-arm', undefined],
      ['custom-zen', 0],
    ],
  )
  assert.equal((await client.data<Row>('GET', `${models}/zen`)).hidden, undefined, 'what is off says nothing')
  const kinds = await client.data<Row[]>('GET', `${NODE}/capabilities/qemu/cpu`)
  assert.deepEqual(
    kinds.filter(({ custom }) => custom === 1),
    [
      { name: 'custom-zen', custom: 1, vendor: 'AuthenticAMD' },
      { name: 'custom-arm', custom: 1, vendor: 'default' },
    ],
  )
  await client.data('POST', '/access/users', { userid: 'some@pve' })
  await client.data('PUT', '/access/acl', { path: '/mapping/cpu/zen', users: 'some@pve', roles: 'PVEMappingUser' })
  const { value } = await client.data<{ value: string }>('POST', '/access/users/some@pve/token/tt', { privsep: '0' })
  const names = async (path: string, name: string) => {
    const headers = { authorization: `PVEAPIToken=some@pve!tt=${value}` }
    const request = { method: 'GET', path: `/api2/json${path}`, headers }
    const { data } = JSON.parse((await client.clock.runUntil(client.datacentre.handle(request))).body) as {
      data: Row[]
    }
    return data.filter((row) => String(row[name]).startsWith('custom-')).map((row) => row[name])
  }
  assert.deepEqual(await names(models, 'cputype'), ['custom-zen'])
  assert.deepEqual(await names(`${NODE}/capabilities/qemu/cpu`, 'name'), ['custom-zen'])
})

test('mappings: everything that is wrong with one is told, in the order in which it is looked at', async () => {
  const client = createTestClient({ preset: 'recording' })
  const host = client.datacentre.world.hosts.get('pve1')
  host?.usb.push({ id: '1d6b:0002', path: '1-2' })
  const add = (kind: string, id: string, map: string, more = {}) =>
    client.data('POST', `/cluster/mapping/${kind}`, { id, map: `node=pve1,${map}`, ...more })
  const pci = 'path=0000:00:01.0,id=1af4:1045'
  await add('pci', 'a1', 'path=0000:00:09,id=1af4:1045')
  await add('pci', 'a2', pci)
  await add('pci', 'a3', `${pci},subsystem-id=1af4:1045,iommugroup=1`)
  await add('pci', 'a4', `${pci},subsystem-id=1af4:1045`, { mdev: '1' })
  await add('pci', 'a5', `${pci},subsystem-id=1af4:9999`)
  await add('pci', 'a6', `${pci},subsystem-id=1af4:1045`)
  await add('usb', 'b1', 'id=1d6b:0003,path=1-2')
  await add('usb', 'b2', 'id=1d6b:0002,path=1-3')
  const told = async (kind: string, name: string) => {
    const rows = await client.data<Row[]>('GET', `/cluster/mapping/${kind}?check-node=pve1`)
    return rows.map((row) => [row.id, ...(row[name] as Row[]).map(({ message }) => message)])
  }
  const wrong = (text: string) => `Invalid configuration: ${text}\n`
  assert.deepEqual(await told('pci', 'checks'), [
    ['a1', wrong("pci device '0000:00:09.0' not found")],
    ['a2', wrong("missing expected property 'subsystem-id' for device '0000:00:01.0'")],
    ['a3', wrong("unexpected property 'iommugroup' configured for device '0000:00:01.0'")],
    ['a4', wrong("'mdev' does not match for 'a4' (0 != 1)")],
    ['a5', wrong("'subsystem-id' does not match for 'a5' (1af4:1045 != 1af4:9999)")],
    ['a6'],
  ])
  assert.deepEqual(await told('usb', 'errors'), [
    ['b1', wrong("'id' does not match for 'b1' (1d6b:0002 != 1d6b:0003)")],
    ['b2', wrong("usb device '1-3' not found")],
  ])
})
