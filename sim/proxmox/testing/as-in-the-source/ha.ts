import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'
import { problemsOfAll } from '../../handlers/ha/rule-checks.ts'

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

test('HA rules: places and company that cannot all be had', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/cluster/ha/rules'
  const invalid = (id: string, text: string) => `500 create ha rule failed: 400 Rule '${id}' is invalid.`.concat(text)
  await holds(client, [
    ['POST', '/nodes/pve1/qemu', { vmid: '100' }, 'task: OK'],
    ['POST', '/nodes/pve1/qemu', { vmid: '101' }, 'task: OK'],
    ['POST', '/cluster/ha/resources', { sid: 'vm:100' }, 'done'],
    ['POST', '/cluster/ha/resources', { sid: 'vm:101' }, 'done'],
    ['PUT', '/cluster/ha/resources/vm:100', { comment: 'x', delete: 'comment' }, 'done'],
    ['POST', at, { rule: 'r1', type: 'node-affinity', resources: 'vm:100', nodes: 'pve1' }, 'done'],
    ['POST', at, { rule: 'r2', type: 'node-affinity', resources: 'vm:101', nodes: 'pve1:5' }, 'done'],
    [
      'POST',
      at,
      { rule: 'r3', type: 'resource-affinity', resources: 'vm:100,vm:101', affinity: 'positive' },
      invalid('r3', ''),
    ],
    ['PUT', `${at}/r1`, { type: 'resource-affinity' }, "500 update HA rules failed: unexpected property 'type'"],
    ['PUT', `${at}/r1`, { type: 'node-affinity', disable: '1' }, 'done'],
    ['PUT', `${at}/r1`, { type: 'node-affinity', disable: '0' }, 'done'],
    // It is still switched off: only `delete` switches it on again.
    ['POST', at, { rule: 'r3', type: 'resource-affinity', resources: 'vm:100,vm:101', affinity: 'positive' }, 'done'],
  ])
  const resource = await client.data<Record<string, unknown>>('GET', '/cluster/ha/resources/vm:100')
  assert.equal(resource.comment, 'x', 'what is deleted and set is set')
})

test('HA rules: each is told what stands against it', () => {
  const rules = new Map([
    ['a', { type: 'node-affinity', resources: 'vm:1', nodes: 'n1:2,n2:1' }],
    ['b', { type: 'node-affinity', resources: 'vm:1,vm:2', nodes: 'n1' }],
    ['c', { type: 'resource-affinity', resources: 'vm:1,vm:2', affinity: 'negative' }],
    ['d', { type: 'resource-affinity', resources: 'vm:1', affinity: 'positive' }],
    ['e', { type: 'resource-affinity', resources: 'vm:1,vm:2', affinity: 'negative', disable: 1 }],
  ])
  const ranked = 'resources are in node affinity rules with multiple priorities'
  const rankedPlace =
    'resources are in a resource affinity rule and cannot be in a node affinity rule with multiple priorities'
  const spreadPlace =
    'at least one resource is in a positive resource affinity rule and there are other resources in at least one other node affinity rule already'
  const used = "resource 'vm:1' is already used in another node affinity rule"
  assert.deepEqual(Object.fromEntries(problemsOfAll(rules, 1)), {
    a: [used, rankedPlace, rankedPlace, spreadPlace],
    b: [used, rankedPlace, rankedPlace, spreadPlace],
    c: ['rule defines more resources than available nodes', ranked],
    d: [
      'rule is ineffective as there are less than two resources',
      ranked,
      'resources are in multiple node affinity rules',
    ],
  })
})

test('where a guest could go: whom the manager takes along, and whom it must not meet', async () => {
  const client = createTestClient()
  const at = '/nodes/fun-bedbug'
  for (const [vmid, node] of [
    ['501', 'fun-bedbug'],
    ['502', 'fun-bedbug'],
    ['503', 'still-fawn'],
  ] as const)
    assert.equal(await client.task('POST', `/nodes/${node}/qemu`, { vmid }), 'OK')
  const conditions = () => client.data<Record<string, unknown>>('GET', `${at}/qemu/501/migrate`)
  assert.equal((await conditions())['dependent-ha-resources'], undefined, 'nobody looks after it')
  for (const sid of ['vm:501', 'vm:502', 'vm:503']) await client.data('POST', RESOURCES, { sid, state: 'stopped' })
  const affinity = async (rule: string, word: string, resources: string) =>
    client.data('POST', RULES, { rule, type: 'resource-affinity', affinity: word, resources })
  await affinity('both', 'positive', 'vm:501,vm:502')
  await affinity('apart', 'negative', 'vm:501,vm:503')
  const { allowed_nodes: allowed, not_allowed_nodes: not, ...rest } = await conditions()
  assert.deepEqual(rest['dependent-ha-resources'], ['vm:502'])
  assert.deepEqual(not, {
    'still-fawn': { 'blocking-ha-resources': [{ sid: 'vm:503', cause: 'resource-affinity' }] },
  })
  assert.ok(Array.isArray(allowed) && allowed.length > 0 && !allowed.includes('still-fawn'))
})
