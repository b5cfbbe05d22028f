import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'

/** What PVE::API2::Storage::Scan, ::Hardware::PCI, ::Qemu::CPU, ::Qemu::CPUFlags and ::CustomCPUModels say. */
const NODE = '/nodes/pve1'

type Row = Record<string, unknown>

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
