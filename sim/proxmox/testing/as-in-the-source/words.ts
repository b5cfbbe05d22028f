import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../../testing/answered-rows.ts'

/** Answers of the real code that no recording covers. */
async function asked(client: TestClient, method: string, path: string, params?: Params): Promise<unknown> {
  const answer = await client.call(method, path, params)
  const { data, errors } = JSON.parse(answer.body) as { data: unknown; errors?: Params }
  if (answer.status === 200) return typeof data === 'string' && data.startsWith('UPID') ? 'a task' : 'ok'
  return errors === undefined ? `${answer.status} ${answer.reason}` : Object.entries(errors).flat().join(': ').trim()
}

const holds = (client: TestClient, rows: readonly AnsweredRow[]) => answeredBy(client, rows, asked)

test('[T-08] names: pools that are nested too deeply, jobs of guests that cannot be', async () => {
  const id = 'id: invalid format - invalid replication job id'
  await holds(createTestClient(), [
    [
      'POST',
      '/pools',
      { poolid: 'a/b/c/d' },
      "poolid: invalid format - pool name 'a/b/c/d' nested too deeply (max levels = 3)",
    ],
    ['POST', '/pools', { poolid: 'a//b' }, "poolid: invalid format - pool name 'a//b' contains invalid characters"],
    [
      'POST',
      '/cluster/replication',
      { id: '50-0', type: 'local', target: 'still-fawn' },
      `${id} '50-0' (guest IDs < 100 are reserved)`,
    ],
    ['POST', '/cluster/replication', { id: 'x', type: 'local', target: 'still-fawn' }, `${id} 'x'`],
  ])
})

test('[T-08] firewall: a type of ICMP is no port of the source, and stands alone', async () => {
  const rule = (more: Params, expected: string): AnsweredRow => [
    'POST',
    '/cluster/firewall/rules',
    { type: 'in', action: 'ACCEPT', proto: 'tcp', ...more },
    expected,
  ]
  const names = Array.from({ length: 16 }, () => 'ssh').join(',')
  await holds(createTestClient(), [
    rule({ dport: 'echo-request' }, 'ok'),
    rule({ dport: 'echo-request,80' }, 'dport: invalid format - ICMP ports not allowed in port range'),
    rule({ sport: 'echo-request' }, "sport: invalid format - invalid port 'echo-request'"),
    rule({ dport: names }, 'ok'),
  ])
})

test('[T-08] storages: one that another stands on stays; an upload has a file', async () => {
  const used = "500 delete storage failed: can't remove storage - storage is used as base of another storage"
  await holds(createTestClient(), [
    ['POST', '/storage', { storage: 'is1', type: 'iscsi', portal: '10.0.0.1', target: 'iqn.x' }, 'ok'],
    ['POST', '/storage', { storage: 'lv1', type: 'lvm', vgname: 'vg1', base: 'is1:0.0.0.x' }, 'ok'],
    ['DELETE', '/storage/is1', undefined, used],
    ['DELETE', '/storage/lv1', undefined, 'ok'],
    ['DELETE', '/storage/is1', undefined, 'ok'],
    ['POST', `${HOST}/storage/local/upload`, { content: 'iso', filename: 'x.iso' }, '500 missing temporary file name'],
  ])
})

test('[T-08] rules of high availability are about something', async () => {
  const rule = { rule: 'r1', type: 'node-affinity', nodes: 'still-fawn', resources: '' }
  await holds(createTestClient(), [
    ['POST', '/cluster/ha/rules', rule, '500 create ha rule failed: no resources were specified'],
  ])
})

test('[T-08] the state of a TPM stays what it was made as', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, { vmid: '900', tpmstate0: 'local-zfs:1,version=v2.0' })
  const { tpmstate0 = '' } = await client.data<Record<string, string>>('GET', `${HOST}/qemu/900/config`)
  const config = `${HOST}/qemu/900/config`
  await holds(client, [
    ['PUT', config, { tpmstate0 }, 'ok'],
    [
      'PUT',
      config,
      { tpmstate0: tpmstate0.replace('v2.0', 'v1.2') },
      '500 cannot change TPM state version after creation',
    ],
  ])
})

test('[T-08] a disk of a container is made larger or refused at once', async () => {
  const client = createTestClient()
  const name = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
  const files = client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')
  files?.set(name, { name, content: 'vztmpl', format: 'tzst', sizeBytes: 1, ctimeSeconds: 1 })
  const made = { vmid: '200', ostemplate: `local:${name}`, rootfs: 'local-zfs:1' }
  assert.equal(await client.task('POST', `${HOST}/lxc`, made), 'OK')
  const resize = (size: string, expected: string): AnsweredRow => [
    'PUT',
    `${HOST}/lxc/200/resize`,
    { disk: 'rootfs', size },
    expected,
  ]
  await holds(client, [
    resize('1G', '500 disk is already at specified size'),
    resize('512M', '500 unable to shrink disk size'),
    resize('2G', 'a task'),
  ])
})

test('[T-08] what cannot be seen in an image is said with it', async () => {
  const image = 'local:0,import-from=local:import/cloud.qcow2'
  const made = (disk: Params, expected: string): AnsweredRow => [
    'POST',
    '/nodes/pve1/qemu',
    { vmid: '100', ...disk },
    expected,
  ]
  const unsaid = (name: string) => `need to specify '${name}' when using 'import-from'`
  await holds(createTestClient({ preset: 'recording' }), [
    made({ efidisk0: image }, `efidisk0: ${unsaid('efitype')}`),
    made({ efidisk0: `${image},efitype=4m` }, `efidisk0: ${unsaid('pre-enrolled-keys')}`),
    made({ tpmstate0: image }, `tpmstate0: ${unsaid('version')}`),
    made({ tpmstate0: `${image},version=v2.0` }, 'a task'),
  ])
})
