import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCloudInit } from '../../../cloudinit/result.ts'
import type { Clock } from '../../../lib/clock.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { seededRandom } from '../../../lib/random.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import type { WireRequest } from '../../../lib/wire.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import { Secret } from '../../../model/secret.ts'
import { readAddresses as addressesByLibvirt } from '../../libvirt/agent-shell.ts'
import { readAddresses } from '../guest-details.ts'
import { openSession } from '../session.ts'
import { EXAMPLE_CONNECTION } from '../testing/vm-example.ts'

/* A guest and its agent are untrusted: the agent may answer too much, endlessly, or a letter at a time. */

const VM: ObservedResource = {
  connection: 'default',
  type: 'vm',
  externalId: '114',
  host: 'fun-bedbug',
  power: 'running',
}
/** Far more than an honest agent needs, but few enough for a test to end. */
const PATIENCE = 5_000

/** A guest's shell on a clock that advances only during waits. */
function shellOf(answer: (request: WireRequest) => unknown): { readonly shell: Shell; readonly calls: () => number } {
  let passed = 0
  let calls = 0
  const clock: Clock = {
    now: () => passed,
    monotonicMs: () => passed,
    sleep: async (ms) => {
      passed += ms
    },
  }
  const session = openSession(EXAMPLE_CONNECTION, {
    clock,
    random: seededRandom(1),
    openWire: () => ({
      async send(request) {
        calls++
        assert.ok(calls < PATIENCE, 'it goes on for ever')
        return { status: 200, reason: 'OK', headers: {}, body: JSON.stringify({ data: answer(request) }) }
      },
      close: async () => {},
    }),
    resolveSecret: async () => new Secret('root@pam!croft=t'),
  })
  assert.ok(session.agent)
  return { shell: session.agent.shell(VM), calls: () => calls }
}

const failed = (code: string) => (error: unknown) => error instanceof ShellFailure && error.code === code

test('[S-52] a program that never ends is given up at its deadline', async () => {
  const { shell, calls } = shellOf(({ path }) =>
    path.endsWith('/exec') ? { pid: 7 } : { exited: 0, 'out-data': 'more' },
  )
  await assert.rejects(shell.run(['true'], { timeoutMs: 60_000 }), failed('timeout'))
  assert.ok(calls() < 200)
})

test('[S-52] a file that comes a letter at a time, or in parts without an end, is given up', async () => {
  for (const content of ['x', 'x'.repeat(1_000_000)]) {
    const { shell, calls } = shellOf(() => ({ content, truncated: 1 }))
    await assert.rejects(shell.readFile('/etc/motd'), failed('too-large'))
    assert.ok(calls() <= LIMITS.agentFileParts, String(calls()))
  }
  const { shell } = shellOf(() => ({ content: '', truncated: 1 }))
  assert.deepEqual(await shell.readFile('/etc/motd'), Buffer.alloc(0))
})

test('[S-52] of what an agent says of its network as much is read as is kept', () => {
  let read = 0
  const entry = () =>
    Object.defineProperty({}, 'ip-address', {
      enumerable: true,
      get() {
        read++
        return '10.0.0.1'
      },
    })
  const nic = (name: string) => ({ name, 'ip-addresses': Array.from({ length: 1_000 }, entry) })
  const found = readAddresses({ result: Array.from({ length: 50 }, (_, at) => nic(`eth${at}`)) })
  assert.equal(found?.length, 64)
  assert.equal(read, 64)
  const text = JSON.stringify({ return: Array.from({ length: 50 }, (_, at) => nic(`eth${at}`)) })
  assert.equal(addressesByLibvirt(text)?.length, 256)
})

test('[S-52] what a machine says of its first boot is one short line, whatever it says', () => {
  for (const errors of [
    [`\u001b[2J${'x'.repeat(1e6)}\r\n`],
    Array(100_000).fill({ toString: null }),
    [['a'], {}, null],
  ]) {
    const said = readCloudInit(JSON.stringify({ v1: { errors } }))
    assert.equal(said?.state, 'error')
    const message = said?.message ?? ''
    assert.ok(
      message.length <= LIMITS.foreignTextLength + 50 && !/[\u0000-\u001f]/.test(message),
      message.slice(0, 100),
    )
  }
})
