import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, WEB } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Cluster::MetricServer, PVE::PullMetric and the importers of PVE::Storage say. */
const SERVER = '/cluster/metrics/server'

interface Metric {
  readonly id: string
  readonly metric: string
  readonly timestamp: number
  readonly type: string
  readonly value: number
}

test('metrics: a server knows the options of its kind, and they come before what is deleted', async () => {
  const client = createTestClient({ preset: 'recording' })
  const given = { server: '10.0.0.9', port: '2003' }
  await holds(client, [
    ['POST', `${SERVER}/zz`, { ...given, type: 'graphite' }, 'done'],
    ['POST', `${SERVER}/aa`, { ...given, type: 'influxdb', bucket: 'b' }, 'done'],
    ['POST', `${SERVER}/zz`, { ...given, type: 'graphite', bucket: 'b' }, "500 Metric server 'zz' already exists"],
    ['POST', `${SERVER}/yy`, { ...given, type: 'graphite', bucket: 'b' }, "500 unexpected property 'bucket'"],
    ['PUT', `${SERVER}/zz`, { ...given, bucket: 'b', delete: 'server' }, "500 unexpected property 'bucket'"],
    ['PUT', `${SERVER}/zz`, { ...given, delete: 'bucket' }, "500 no such option 'bucket'"],
    ['PUT', `${SERVER}/zz`, { ...given, delete: 'server' }, "500 unable to delete required option 'server'"],
    ['PUT', `${SERVER}/aa`, { ...given, delete: 'bucket' }, 'done'],
    [
      'POST',
      `${SERVER}/ot`,
      { server: '127.0.0.1', port: '1', type: 'opentelemetry' },
      "500 Connection test failed: 500 Can't connect to 127.0.0.1:1 (Connection refused) at /usr/share/perl5/PVE/Status/OpenTelemetry.pm line 707.",
    ],
  ])
  const ids = (await client.data<{ id: string }[]>('GET', SERVER)).map(({ id }) => id)
  assert.deepEqual(ids, ['aa', 'zz'])
})

test('metrics: numbers of hosts, guests and storages, the last or all that are kept', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  const read = async (query: string) =>
    (await client.data<{ data: Metric[] }>('GET', `/cluster/metrics/export${query}`)).data
  const now = await read('')
  const names = (id: string) => now.filter((one) => one.id === id).map(({ metric }) => metric)
  assert.deepEqual(names('qemu/114'), ['uptime', 'cpu_max', 'mem_total', 'disk_total'])
  assert.ok(names('node/still-fawn').includes('cpu_iowait'))
  assert.deepEqual(names('storage/fun-bedbug/local'), ['disk_total', 'disk_used'])
  assert.equal(now.find(({ metric }) => metric === 'net_in')?.type, 'derive')
  const here = await read('?local-only=1')
  const [first] = client.datacentre.world.hosts.keys()
  const nodes = new Set(here.map(({ id }) => id).filter((id) => id.startsWith('node/')))
  assert.deepEqual([...nodes], [`node/${first}`])
  const times = new Set((await read('?history=1&node-list=fun-bedbug')).map(({ timestamp }) => timestamp))
  assert.equal(times.size, 181)
  const start = Math.floor(client.clock.now() / 1000) - 35
  const late = new Set((await read(`?history=1&start-time=${start}`)).map(({ timestamp }) => timestamp))
  assert.equal(late.size, 3)
  assert.equal(
    (await client.call('GET', '/cluster/metrics/export?node-list=x1')).reason,
    'Requested node-list contains unknown nodes - x1',
  )
})

test('metrics: a host that is in no cluster knows no members, not even itself', async () => {
  const client = createTestClient({ preset: 'recording' })
  const { reason } = await client.call('GET', '/cluster/metrics/export?node-list=pve1')
  assert.equal(reason, 'Requested node-list contains unknown nodes - pve1')
})

test('import: only files of machines are looked into', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/nodes/pve1/storage/local/import-metadata?volume='
  await holds(client, [
    ['GET', `${at}import/cloud.qcow2`, undefined, '500 invalid format'],
    ['GET', `${at}iso/cloud.img`, undefined, "500 invalid content type 'iso'"],
    [
      'GET',
      `${at}local:import/cloud.qcow2`,
      undefined,
      "500 unable to parse directory volume name 'local:import/cloud.qcow2'",
    ],
    [
      'GET',
      '/nodes/pve1/storage/local/identity',
      undefined,
      '500 get_identity not implemented for this plugin at /usr/share/perl5/PVE/Storage/Plugin.pm line 2681.',
    ],
  ])
})
