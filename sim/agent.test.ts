import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient, WEB } from './test-client.ts'

const AGENT = `${HOST}/qemu/114/agent`

async function booted(): Promise<TestClient> {
  const client = createTestClient()
  assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
  assert.equal(await client.task('POST', `${HOST}/qemu/114/status/start`), 'OK')
  await client.pass(40_000)
  return client
}

test('a command is run once, and its end is told of once', async () => {
  const client = await booted()
  const { pid } = await client.data<{ pid: number }>('POST', `${AGENT}/exec`, { command: 'hostname' })
  await client.pass(10)
  const status = await client.data('GET', `${AGENT}/exec-status?pid=${pid}`)
  assert.deepEqual(status, { exited: 1, exitcode: 0, 'out-data': 'web\n', 'out-truncated': 0 })
  const again = await client.call('GET', `${AGENT}/exec-status?pid=${pid}`)
  assert.deepEqual([again.status, again.reason], [500, "Agent error: Invalid parameter 'pid'"])
})

test('files stay over a restart of the machine, processes do not', async () => {
  const client = await booted()
  await client.data('POST', `${AGENT}/file-write`, { file: '/etc/motd', content: 'hällo' })
  const { pid } = await client.data<{ pid: number }>('POST', `${AGENT}/exec`, { command: 'true' })
  assert.equal(await client.task('POST', `${HOST}/qemu/114/status/stop`), 'OK')
  const off = await client.call('GET', `${AGENT}/file-read?file=/etc/motd`)
  assert.deepEqual([off.status, off.reason], [500, 'VM 114 is not running'])
  assert.equal(await client.task('POST', `${HOST}/qemu/114/status/start`), 'OK')
  await client.pass(40_000)
  const read = await client.data('GET', `${AGENT}/file-read?file=/etc/motd`)
  assert.deepEqual(read, { content: 'hällo', 'bytes-read': 5 })
  assert.equal((await client.call('GET', `${AGENT}/exec-status?pid=${pid}`)).status, 500)
})

test('what is written to a folder that is not there, or read from nowhere, is refused in the agent’s own words', async () => {
  const client = await booted()
  const write = await client.call('POST', `${AGENT}/file-write`, { file: '/nope/x', content: 'y' })
  assert.equal(write.reason, "Agent error: failed to open file '/nope/x' (mode: 'wb'): No such file or directory")
  const read = await client.call('GET', `${AGENT}/file-read?file=/nope`)
  assert.equal(read.reason, "Agent error: failed to open file '/nope' (mode: 'r'): No such file or directory")
  const missing = await client.call('POST', `${AGENT}/exec`, { command: '/bin/nothing' })
  assert.deepEqual([missing.status, missing.reason, missing.body], [596, 'Broken pipe', ''])
})
