import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Cluster::MetricServer says. */
const SERVER = '/cluster/metrics/server'

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
