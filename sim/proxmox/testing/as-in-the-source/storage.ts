import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Storage::Config and the options of the storage plugins say. */
async function asked(client: TestClient, method: string, path: string, params?: Params): Promise<unknown> {
  const { status, reason } = await client.call(method, path, params)
  return status === 200 ? 'ok' : `${status} ${reason}`
}

const holds = (client: TestClient, rows: readonly AnsweredRow[]) => answeredBy(client, rows, asked)

test('storage: what a type does not have, and what it was made with, cannot be written', async () => {
  const client = createTestClient({ preset: 'recording' })
  const failed = '500 update storage failed: '
  const [dir, nfs, esxi] = ['/storage/d1', '/storage/n1', '/storage/e1']
  const off = { disable: '1' }
  const chain = { 'snapshot-as-volume-chain': '1' }
  await holds(client, [
    ['POST', '/storage', { storage: 'd1', type: 'dir', path: '/srv/d1', ...chain }, 'ok'],
    ['PUT', dir, { server: '10.0.0.1' }, `${failed}unexpected property 'server'`],
    ['PUT', dir, { pool: 'rpool' }, `${failed}unexpected property 'pool'`],
    ['PUT', dir, { password: 'x' }, `${failed}unexpected property 'password'`],
    ['PUT', dir, chain, `${failed}can't change value of fixed parameter 'snapshot-as-volume-chain'`],
    [
      'PUT',
      dir,
      { delete: 'snapshot-as-volume-chain' },
      `${failed}unable to delete fixed option 'snapshot-as-volume-chain'`,
    ],
    ['POST', '/storage', { storage: 'n1', type: 'nfs', server: '10.0.0.1', export: '/x', ...off }, 'ok'],
    ['PUT', nfs, { server: '10.0.0.1' }, `${failed}can't change value of fixed parameter 'server'`],
    ['PUT', nfs, { delete: 'path' }, `${failed}unable to delete required option 'path'`],
    ['PUT', nfs, { content: 'none' }, `${failed}storage does not support content type 'none'`],
    [
      'POST',
      '/storage',
      { storage: 'e1', type: 'esxi', server: 'h', ...off },
      "500 missing value for required option 'username'",
    ],
    [
      'POST',
      '/storage',
      { storage: 'e1', type: 'esxi', server: 'h', username: 'root', ...off },
      '500 create storage failed: missing password',
    ],
    ['POST', '/storage', { storage: 'e1', type: 'esxi', server: 'h', username: 'root', password: 'x', ...off }, 'ok'],
    ['PUT', esxi, { username: 'other' }, 'ok'],
    ['PUT', esxi, { delete: 'username' }, `${failed}unable to delete required option 'username'`],
    [
      'POST',
      '/storage',
      { storage: 'p1', type: 'pbs', server: 'h', datastore: 'd', bwlimit: 'clone=1', ...off },
      "500 unexpected property 'bwlimit'",
    ],
    [
      'POST',
      '/storage',
      { storage: 'b1', type: 'btrfs', path: '/b', bwlimit: 'clone=1', ...off },
      "500 unexpected property 'bwlimit'",
    ],
  ])
})

test('storage: what a type adds, drops and looks for when it is made', async () => {
  const client = createTestClient({ preset: 'recording' })
  const off = { disable: '1' }
  const failed = '500 create storage failed: '
  await holds(client, [
    [
      'POST',
      '/storage',
      { storage: 'l1', type: 'lvm', vgname: 'vg0', base: 'local:x', ...off },
      `${failed}unsupported base type 'dir' at /usr/share/perl5/PVE/Storage/LVMPlugin.pm line 489.`,
    ],
    [
      'POST',
      '/storage',
      { storage: 'l1', type: 'lvm', vgname: 'vg0', base: 'gone:x', ...off },
      `${failed}base storage ID 'gone' does not exist`,
    ],
    [
      'POST',
      '/storage',
      { storage: 'p1', type: 'pbs', server: 'h', datastore: 'd', 'master-pubkey': 'eA==', ...off },
      `${failed}'master-pubkey' can only be used together with 'encryption-key'`,
    ],
    [
      'POST',
      '/storage',
      { storage: 'd1', type: 'dir', path: '/srv/a,b' },
      '500 illegal path for directory storage: /srv/a,b',
    ],
    [
      'POST',
      '/storage',
      { storage: 'd1', type: 'dir', path: '/srv/d1', is_mountpoint: 'yes' },
      `${failed}unable to activate storage 'd1' - directory is expected to be a mount point but is not mounted: '/srv/d1'`,
    ],
    ['POST', '/storage', { storage: 'd1', type: 'dir', path: '/srv/d1', is_mountpoint: 'no' }, 'ok'],
    ['POST', '/storage', { storage: 'b1', type: 'btrfs', path: '/b', format: 'qcow2', ...off }, 'ok'],
    ['PUT', '/storage/b1', { shared: '1' }, 'ok'],
    [
      'POST',
      '/storage',
      { storage: 'z1', type: 'zfs', pool: 'tank', portal: 'h', target: 'iqn.x', iscsiprovider: 'LIO', blocksize: '4k' },
      'ok',
    ],
    ['POST', '/storage', { storage: 't1', type: 'lvmthin', vgname: 'vg0', thinpool: 'tp', ...off }, 'ok'],
    [
      'PUT',
      '/storage/t1',
      { content: 'iso', delete: 'content' },
      "500 update storage failed: storage does not support content type 'none'",
    ],
    ['DELETE', '/storage/local', undefined, 'ok'],
    [
      'POST',
      '/storage',
      { storage: 'local', type: 'dir', path: '/srv/local' },
      `${failed}storage ID 'local' already defined`,
    ],
  ])
  const rows = await client.data<Record<string, unknown>[]>('GET', '/storage')
  const shown = (id: string) => rows.find(({ storage }) => storage === id)
  assert.deepEqual(
    [shown('b1')?.format, shown('b1')?.shared],
    [undefined, 1],
    'a format that it cannot hold is dropped',
  )
  assert.equal(shown('z1')?.['zfs-base-path'], '/dev/zvol')
  assert.deepEqual([shown('local')?.path, shown('local')?.['prune-backups']], ['/var/lib/vz', 'keep-all=1'])
  const refused = await client.call('POST', '/storage', {
    storage: 'd2',
    type: 'dir',
    path: '/srv/d2',
    'content-dirs': 'iso=../up',
  })
  assert.deepEqual(JSON.parse(refused.body).errors, {
    'content-dirs': "invalid format - invalid override 'iso=../up'\n",
  })
})
