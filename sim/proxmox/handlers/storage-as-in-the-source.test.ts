import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../testing/answered-rows.ts'

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
    ['POST', '/storage', { storage: 'e1', type: 'esxi', server: 'h', username: 'root', ...off }, 'ok'],
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
