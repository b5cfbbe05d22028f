import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../test-client.ts'
import { holds } from '../../testing/answered-rows.ts'

/** What PVE::API2::HA::Resources and ::Rules say, and PVE::API2::Storage::Content of names and rights. */

const RESOURCES = '/cluster/ha/resources'
const RULES = '/cluster/ha/rules'

test('HA resources: the id says what they are', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.task('POST', '/nodes/pve1/qemu', { vmid: '100' })
  await client.task('POST', '/nodes/pve1/qemu', { vmid: '101' })
  const group = "500 invalid parameter 'group': ha groups have been migrated to rules"
  await holds(client, [
    ['POST', RESOURCES, { sid: '999' }, '500 unable to detect SID from VMID - VM/CT 999 does not exist'],
    ['POST', RESOURCES, { sid: 'vm:999' }, "500 resource 'vm:999' does not exist in cluster"],
    ['POST', RESOURCES, { sid: 'ct:100' }, "500 resource 'ct:100' - guest with ID 100 is not a container"],
    ['POST', RESOURCES, { sid: 'vm:100', type: 'ct' }, '500 types does not match'],
    ['POST', RESOURCES, { sid: 'vm:100', group: 'gg' }, group],
    ['POST', `${RESOURCES}/vm:100/migrate`, { node: 'pve1' }, "500 resource 'vm:100' is not HA managed"],
    ['POST', RESOURCES, { sid: '100' }, 'done'],
    ['POST', RESOURCES, { sid: 'vm:101' }, 'done'],
    ['PUT', `${RESOURCES}/vm:100`, { group: 'gg' }, group],
    ['PUT', `${RESOURCES}/999`, { comment: 'x' }, '500 unable to detect SID from VMID - VM/CT 999 does not exist'],
    ['PUT', `${RULES}/none`, { type: 'node-affinity' }, "500 update HA rules failed: HA rule 'none' does not exist"],
    ['POST', RULES, { rule: 'home', type: 'node-affinity', resources: 'vm:100,vm:101', nodes: 'pve1' }, 'done'],
  ])
  const rule = `${RULES}/home`
  const type = 'node-affinity'
  const update = '500 update HA rules failed: '
  await holds(client, [
    ['PUT', rule, { type, delete: 'nodes' }, `${update}unable to delete required option 'nodes'`],
    ['PUT', rule, { type, delete: 'resources' }, `${update}unable to delete required option 'resources'`],
    ['PUT', rule, { type, delete: 'affinity' }, `${update}no such option 'affinity'`],
    [
      'PUT',
      rule,
      { type, delete: 'strict', strict: '1' },
      `${update}cannot set and delete property 'strict' at the same time!`,
    ],
    ['PUT', rule, { type, delete: 'strict,comment' }, 'done'],
  ])
  const named = async () => (await client.data<{ resources: string }[]>('GET', RULES)).map((rule) => rule.resources)
  await holds(client, [['DELETE', `${RESOURCES}/vm:100`, { purge: '0' }, 'done']])
  assert.deepEqual(await named(), ['vm:100,vm:101'], 'a rule keeps what is not purged')
  await holds(client, [['DELETE', `${RESOURCES}/vm:101`, undefined, 'done']])
  assert.deepEqual(await named(), ['vm:100'], 'without a word it is purged')
})

test('volumes: names fit the storage', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/nodes/pve1/storage/local/content'
  const size = { vmid: '100', size: '1M' }
  await holds(client, [
    ['POST', at, { ...size, filename: 'snap-a.qcow2' }, "500 'snap-a.qcow2' is a snapshot filename, not a volume!"],
    ['POST', at, { ...size, filename: 'disk' }, "500 unable to parse volume filename 'disk'"],
    ['POST', at, { ...size, filename: 'vm-100-disk-0.raw' }, 'done'],
  ])
})
