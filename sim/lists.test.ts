import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, NOBLE_IMAGE, type TestClient, WEB } from './test-client.ts'

type Row = Record<string, unknown>
const resources = (client: TestClient) => client.data<Row[]>('GET', '/cluster/resources')
const guestIn = async (client: TestClient, vmid: number) => (await resources(client)).find((row) => row.vmid === vmid)

test('[F-08] the state in the list of the datacentre is up to twelve seconds old, lock and tags are fresh', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  await client.pass(20_000)
  assert.equal((await guestIn(client, 114))?.status, 'stopped')
  await client.task('POST', `${HOST}/qemu/114/status/start`)
  let staleMs = 0
  while ((await guestIn(client, 114))?.status !== 'running') {
    await client.pass(500)
    staleMs += 500
    assert.ok(staleMs <= 12_500, 'the list never noticed')
  }
  assert.ok(staleMs > 0, 'the list knew at once')
  client.datacentre.patchGuest(114, { lock: 'backup', tags: 'other' })
  const row = await guestIn(client, 114)
  assert.deepEqual([row?.lock, row?.tags], ['backup', 'other'])
  assert.equal((await client.data<Row>('GET', `${HOST}/qemu/114/status/current`)).status, 'running')
})

test('a guest that nobody has reported on yet has neither state nor name in the list', async () => {
  const seen: unknown[] = []
  for (let seed = 1; seed <= 5; seed++) {
    const client = createTestClient({ seed })
    await client.data('POST', `${HOST}/qemu`, WEB)
    const row = await guestIn(client, 114)
    assert.equal(row?.lock, 'create')
    seen.push(row?.status, row?.name)
  }
  assert.ok(seen.includes('unknown') && seen.includes(undefined))
})

test('[F-09] a right that is lost looks exactly like a guest that is gone', async () => {
  const client = createTestClient()
  client.datacentre.hideGuests('root@pam!croft', (vmid) => vmid === 109)
  assert.equal(await guestIn(client, 109), undefined)
  assert.ok(await guestIn(client, 108))
  const answer = await client.call('GET', '/nodes/pumped-piglet/qemu/109/config')
  assert.deepEqual([answer.status, answer.reason], [403, 'Permission check failed (/vms/109, VM.Audit)'])
  client.datacentre.hideGuests('root@pam!croft', 'all')
  assert.deepEqual(
    (await resources(client)).filter((row) => row.type === 'qemu'),
    [],
  )
  const taken = await client.call('GET', '/cluster/nextid?vmid=109')
  assert.equal(taken.status, 400)
  assert.match(taken.body, /VM 109 already exists/)
})

test('[F-10] a token that was changed or has expired is refused with an empty body', async () => {
  const client = createTestClient()
  client.datacentre.setToken('root@pam!croft', { expireSeconds: Math.floor(client.clock.now() / 1000) + 60 })
  assert.equal((await client.call('GET', '/version')).status, 200)
  await client.pass(61_000)
  const answer = await client.call('GET', '/version')
  assert.deepEqual([answer.status, answer.reason, answer.body], [401, 'Authentication failed!', ''])
})

test('a host without power is unknown, its guests too, and the others go on', async () => {
  const client = createTestClient()
  client.datacentre.hostPower('still-fawn', 'off')
  const rows = await resources(client)
  assert.equal(rows.find((row) => row.id === 'node/still-fawn')?.status, 'offline')
  assert.equal(rows.find((row) => row.vmid === 108)?.status, 'unknown')
  assert.equal(rows.find((row) => row.vmid === 109)?.status, 'running')
  assert.equal((await client.call('GET', '/nodes/still-fawn/qemu')).status, 595)
  client.datacentre.hostPower('still-fawn', 'on')
  await client.pass(60_000)
  assert.equal((await client.data<Row>('GET', '/nodes/still-fawn/qemu/108/status/current')).status, 'running')
})

test('[F-16] with more than 25 tasks running, finished ones are not in the list; each can still be asked', async () => {
  const client = createTestClient()
  const done = await client.data<string>('POST', `${HOST}/qemu`, { vmid: '300' })
  await exitOf(client, done)
  const tasks = () => client.data<Row[]>('GET', '/cluster/tasks')
  assert.deepEqual(
    (await tasks()).map((task) => task.status),
    ['OK'],
  )
  for (let vmid = 301; vmid < 331; vmid++)
    await client.data('POST', `${HOST}/qemu`, { ...WEB, vmid: `${vmid}`, name: `g${vmid}` })
  const running = await tasks()
  assert.equal(running.length, 30)
  assert.ok(running.every((task) => task.status === undefined))
  assert.equal((await client.data<Row>('GET', `${HOST}/tasks/${done}/status`)).exitstatus, 'OK')
})

test('a task can be read line by line, and stopped', async () => {
  const client = createTestClient()
  const upid = await client.data<string>('POST', `${HOST}/qemu`, WEB)
  await client.pass(2_000)
  const status = await client.data<Row>('GET', `${HOST}/tasks/${upid}/status`)
  assert.deepEqual(
    [status.status, status.user, status.tokenid, status.exitstatus],
    ['running', 'root@pam', 'croft', undefined],
  )
  assert.equal(await client.data('DELETE', `${HOST}/tasks/${upid}`), null)
  const command = `/usr/bin/qemu-img convert -p -n -t none -f qcow2 -O raw /var/lib/vz/${NOBLE_IMAGE.slice(6)} zeroinit:/dev/zvol/rpool/data/vm-114-disk-0`
  const failure = `cannot import from '${NOBLE_IMAGE}' - copy failed: command '${command}' failed: interrupted by signal`
  assert.equal(await exitOf(client, upid), `unable to create VM 114 - ${failure}`)
  assert.equal(client.datacentre.world.guests.has(114), false)
  const log = await client.data<Row[]>('GET', `${HOST}/tasks/${upid}/log?start=0&limit=1`)
  assert.equal(log.length, 1)
})

test('a thousand guests are listed with all that a declaration made', async () => {
  const client = createTestClient({ preset: 'empty', vms: 1000 })
  const rows = (await resources(client)).filter((row) => row.type === 'qemu')
  assert.equal(rows.length, 1000)
  assert.ok(rows.every((row) => row.status === 'running' && row.maxmem === 2048 * 1024 ** 2))
  const config = await client.data<Row>('GET', '/nodes/pumped-piglet/qemu/1000/config')
  assert.deepEqual([config.name, config.scsi0], ['vm-1000', 'local-zfs:vm-1000-disk-0,size=10G'])
})
