import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveHealth } from './health.ts'

test('/healthz answers while the process lives, /readyz when it can work', async () => {
  let ready = false
  const health = await serveHealth('127.0.0.1:0', () => ready)
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${health.port}${path}`)).status
  assert.deepEqual([await status('/healthz'), await status('/readyz'), await status('/')], [200, 503, 404])
  ready = true
  assert.equal(await status('/readyz'), 200)
  await health.close()
  await assert.rejects(
    serveHealth('8081', () => true),
    /not an address like/,
  )
})
