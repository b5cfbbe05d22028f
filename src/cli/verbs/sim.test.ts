import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import type { RunningSimulator } from '../runtime.ts'
import { fakeRuntime } from '../testing/fake-runtime.ts'
import { run } from './sim.ts'

const announcement = { endpoint: 'https://127.0.0.1:8006', token: 'root@pam!croft=1', clock: '10@5', k3s: { v1: 'ab' } }
const simulator: RunningSimulator = {
  endpoint: announcement.endpoint,
  fingerprint: 'AA:BB',
  token: announcement.token,
  announcement,
  clock: systemClock,
  stats: () => ({ calls: 0, writes: 0 }),
  hosts: () => [],
  guests: () => [],
  nodes: () => [],
  releaseChecksum: () => '',
  patchGuest: () => {},
  hostPower: () => {},
  close: async () => {},
}

/** Returns the output of `croft sim` before it serves. */
async function printed(isTty: boolean): Promise<string> {
  const parts: string[] = []
  const out = { write: (part: string) => void parts.push(part), isTty, columns: 80 }
  const runtime = fakeRuntime({ out, signal: AbortSignal.abort(), startSimulator: async () => simulator })
  await run(runtime, [], {})
  return parts.join('')
}

test('croft sim gives a program one line of JSON', async () => {
  assert.deepEqual(JSON.parse(await printed(false)), announcement)
})

test('croft sim gives a person words: no checksums, and the clock as a line for the shell', async () => {
  const text = await printed(true)
  assert.match(text, /endpoint {5}https:\/\/127\.0\.0\.1:8006\n/)
  assert.match(text, /token {8}root@pam!croft=1\n/)
  assert.match(text, /export CROFT_SIM_CLOCK=10@5 /)
  assert.doesNotMatch(text, /k3s|\{/)
})
