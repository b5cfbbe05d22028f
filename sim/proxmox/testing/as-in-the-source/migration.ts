import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, type TestClient } from '../../../test-client.ts'

const TO = 'still-fawn'
type Params = Readonly<Record<string, string>>

async function withGuest(more: Params = {}): Promise<TestClient> {
  const client = createTestClient()
  const made = { vmid: '900', name: 'a', scsi0: 'local-zfs:1', boot: 'order=scsi0', ...more }
  assert.equal(await client.task('POST', `${HOST}/qemu`, made), 'OK')
  return client
}

/** What a migration comes to: a refusal, or how its task ends and what its log says last. */
async function moved(client: TestClient, params: Params = {}, kind = 'qemu/900'): Promise<string> {
  const answer = await client.call('POST', `${HOST}/${kind}/migrate`, { target: TO, ...params })
  const { data, errors } = JSON.parse(answer.body) as { data: string | null; errors?: unknown }
  if (answer.status !== 200) return `${answer.status} ${errors === undefined ? answer.reason : JSON.stringify(errors)}`
  const exit = await exitOf(client, data ?? '')
  const log = client.datacentre.world.hosts.get('fun-bedbug')?.tasksById.get(data ?? '')?.log ?? []
  return exit === 'OK' ? exit : `${exit} <- ${(log.at(-2) ?? '').replace(/^.*\): /, '')}`
}

test('[T-08] what a migration says about storages is judged before its task begins', async () => {
  const map = (why: string) => `400 ${JSON.stringify({ targetstorage: `failed to parse storage map: ${why}\n` })}`
  const client = await withGuest()
  for (const [targetstorage, expected] of [
    ['local:nope', "500 storage 'nope' does not exist"],
    ['nope', "500 storage 'nope' does not exist"],
    ['local:aa,local:bb', map("duplicate mapping for source 'local'")],
    ['1,local', map('identity mapping cannot be combined with other mappings')],
    ['local,local-zfs', map('default target ID can only be provided once')],
  ] as const)
    assert.equal(await moved(client, { targetstorage }), expected, targetstorage)
  await client.data('POST', '/storage', { storage: 'here', type: 'dir', path: '/mnt', nodes: 'fun-bedbug' })
  assert.equal(await moved(client, { targetstorage: 'here' }), `500 storage 'here' is not available on node '${TO}'`)
  assert.equal(await moved(client), 'OK')
})

test('[T-08] disks come to the storage that the migration names, and the configuration says so', async () => {
  const client = await withGuest()
  assert.equal(await moved(client, { targetstorage: 'local-zfs:local' }), 'OK')
  const config = await client.data<Record<string, string>>('GET', `/nodes/${TO}/qemu/900/config`)
  assert.match(config.scsi0 ?? '', /^local:900\/vm-900-disk-0\.raw,/)
  const [volume] = await client.data<{ volid: string }[]>('GET', `/nodes/${TO}/storage/local/content?vmid=900`)
  assert.equal(volume?.volid, 'local:900/vm-900-disk-0.raw')
  assert.deepEqual(await client.data('GET', `${HOST}/storage/local-zfs/content?vmid=900`), [])
})

test('[T-08] what binds a guest to its host keeps it there, and the log says what', async () => {
  const scan = 'Problem found while scanning volumes - '
  const serial = await withGuest({ serial0: 'socket', usb0: 'spice' })
  assert.equal(await moved(serial), 'OK')
  const usb = await withGuest({ usb0: 'mapping=stick' })
  assert.equal(await moved(usb), `migration aborted <- can't migrate to '${TO}': missing mapped devices usb0`)
  const running = await withGuest()
  assert.equal(await running.task('POST', `${HOST}/qemu/900/status/start`), 'OK')
  assert.equal(await moved(running), "500 can't migrate running VM without --online")
  assert.equal(await moved(running, { online: '1' }), `migration aborted <- ${scan}can't migrate VM - check log`)
  assert.equal(await moved(running, { online: '1', 'with-local-disks': '1' }), 'OK')
  const cloned = await withGuest()
  assert.equal(await cloned.task('POST', `${HOST}/qemu/900/template`), 'OK')
  assert.equal(await cloned.task('POST', `${HOST}/qemu/900/clone`, { newid: '901' }), 'OK')
  const said = await moved(cloned, {}, 'qemu/901')
  assert.match(said, /^migration aborted <- .*can't migrate 'local-zfs:.*' as it's a clone of 'base-900-disk-0'$/)
  assert.equal(await moved(cloned), `migration aborted <- ${scan}can't migrate VM - check log`)
})

test('[T-08] a guest that a manager looks after is moved by it, some seconds later', async () => {
  const client = await withGuest()
  await client.data('POST', '/cluster/ha/resources', { sid: 'vm:900', state: 'stopped' })
  assert.equal(await moved(client), 'OK')
  assert.equal((await client.call('GET', `${HOST}/qemu/900/config`)).status, 200)
  await client.pass(11_000)
  assert.equal((await client.call('GET', `/nodes/${TO}/qemu/900/config`)).status, 200)
})
