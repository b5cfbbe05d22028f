import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, type TestClient } from '../../test-client.ts'
import { holds } from '../../testing/answered-rows.ts'

/** Sequences that were sent to the real daemon, with what it answered: files of a storage, the datacentre's options. */

const CONTENT = '/nodes/pve1/storage/local/content'

test('one volume: its storage is compared first, and its size counts sectors', async () => {
  const client = createTestClient({ preset: 'recording' })
  const backup = 'backup/vzdump-qemu-100-2026_01_01-00_00_00.vma'
  const mismatch = { volume: 'storage ID mismatch (local != nope)\n' }
  await holds(client, [
    ['GET', '/nodes/pve1/storage/nope/content/local:100/vm-100-disk-7.raw', undefined, mismatch],
    ['DELETE', '/nodes/pve1/storage/nope/content/local:100/vm-100-disk-7.raw', undefined, mismatch],
    ['DELETE', `${CONTENT}/local:${backup}`, undefined, 'task: OK'],
  ])
  const size = async (name: string) => (await client.data<{ size: number }>('GET', `${CONTENT}/${name}`)).size
  assert.deepEqual([await size('local:snippets/u.yaml'), await size('local:iso/cloud.img')], [512, 385 * 512])
})

test('what is uploaded as an image must be one', async () => {
  const client = createTestClient({ preset: 'recording' })
  assert.match(
    await uploaded(client, 'a.qcow2', 'x'),
    /^qemu-img: Could not open '\/var\/tmp\/pveupload-.*': Image is not in qcow2 format$/,
  )
  assert.match(
    await uploaded(client, 'a.ova', 'x'),
    /^command 'tar -t -f \/var\/tmp\/pveupload-.*' failed: exit code 2$/,
  )
  assert.equal(await uploaded(client, 'a.raw', 'x'), 'OK')
  assert.equal(await uploaded(client, 'b.qcow2', 'QFI\u00fb'), 'OK')
})

async function uploaded(client: TestClient, name: string, text: string): Promise<string> {
  const part = (head: string, body: string) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
  const body = `${part('name="content"', 'import')}${part(`name="filename"; filename="${name}"`, text)}--x--\r\n`
  const answer = await client.clock.runUntil(
    client.datacentre.handle({
      method: 'POST',
      path: '/api2/json/nodes/pve1/storage/local/upload',
      headers: {
        authorization: `PVEAPIToken=${client.datacentre.token}`,
        'content-type': 'multipart/form-data; boundary=x',
      },
      body: Buffer.from(body, 'latin1'),
    }),
  )
  assert.equal(answer.status, 200, answer.body)
  return exitOf(client, JSON.parse(answer.body).data)
}

test('each option of the datacentre is one line, and flags are numbers', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('PUT', '/cluster/options', {
    'consent-text': 'hello\nworld',
    webauthn: 'rp=x,origin=https://x,id=x,allow-subdomains=0',
    mac_prefix: '02:ab:c',
  })
  const shown = await client.data<Record<string, unknown>>('GET', '/cluster/options')
  const webauthn = { rp: 'x', origin: 'https://x', id: 'x', 'allow-subdomains': 0 }
  assert.deepEqual([shown['consent-text'], shown.webauthn, shown.mac_prefix], ['hello', webauthn, '02:ab:c'])
})

test('a storage that is switched off: what is asked of it all the same, and what the tasks say', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/nodes/pve1/storage'
  const ids = async (query: string) =>
    (await client.data<{ storage: string }[]>('GET', `${at}?${query}`)).map(({ storage }) => storage).sort()
  const none = 'd3:100/vm-100-disk-0.raw'
  await holds(client, [
    ['POST', '/storage', { storage: 'd2', type: 'dir', path: '/var/lib/d2', content: 'images,iso' }, 'done'],
    ['POST', '/storage', { storage: 'd3', type: 'dir', path: '/var/lib/d3', disable: '1' }, 'done'],
    ['POST', '/storage', { storage: 'd4', type: 'dir', path: '/var/lib/d4', nodes: 'pve9' }, 'done'],
    [
      'POST',
      '/storage',
      { storage: 'd5', type: 'dir', path: '/var/lib/d5', content: 'none' },
      "500 create storage failed: unknown vtype 'none'",
    ],
    ['GET', `${at}/d3/content/${none}`, undefined, `500 volume_size_info on '${none}' failed - no format`],
    ['DELETE', `${at}/d3/content/${none}`, undefined, "task: storage 'd3' is disabled"],
    [
      'POST',
      '/nodes/pve1/qemu',
      { vmid: '152', ide2: 'd3:iso/none.iso,media=cdrom' },
      "task: unable to create VM 152 - storage 'd3' is disabled",
    ],
    [
      'POST',
      '/nodes/pve1/qemu',
      { vmid: '152', ide2: 'd4:iso/none.iso,media=cdrom' },
      "task: unable to create VM 152 - storage 'd4' is not available on node 'pve1'",
    ],
    [
      'POST',
      '/nodes/pve1/vzdump',
      { vmid: '999', storage: 'd3' },
      "task: could not activate storage 'd3': storage 'd3' is disabled could not get storage information for 'd3': can't use storage 'd3' for backups - wrong content type",
    ],
    ['POST', '/nodes/pve1/qemu', { vmid: '100', scsi0: 'd2:1', sshkeys: '' }, 'task: OK'],
    ['PUT', '/storage/d2', { disable: '1' }, 'done'],
    ['PUT', '/nodes/pve1/qemu/100/resize', { disk: 'scsi0', size: '+1M' }, "task: storage 'd2' is disabled"],
    ['DELETE', '/nodes/pve1/qemu/100', undefined, 'task: WARNINGS: 1'],
  ])
  assert.deepEqual(await ids(''), ['d2', 'd3', 'd4', 'local'])
  assert.deepEqual([await ids('content=images'), await ids('target=pve1')], [['local'], ['local']])
})
