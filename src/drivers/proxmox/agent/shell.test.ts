import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createTestClient, HOST, WEB } from '../../../../sim/test-client.ts'
import { simWire } from '../../../../sim/wire.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { seededRandom } from '../../../lib/random.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import { WireFailure, type WireRequest, type WireResponse } from '../../../lib/wire.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import { Secret } from '../../../model/secret.ts'
import { openSession } from '../session.ts'
import { EXAMPLE_CONNECTION } from '../testing/vm-example.ts'
import { realAgent } from './testing/real-agent.ts'

const VM: ObservedResource = {
  connection: 'default',
  type: 'vm',
  externalId: '114',
  host: 'fun-bedbug',
  power: 'running',
}

type Answer = (request: WireRequest) => Promise<Partial<WireResponse>> | Partial<WireResponse>

function shellOver(answer: Answer, clock: Clock = quick(), observed: ObservedResource = VM): Shell {
  const session = openSession(EXAMPLE_CONNECTION, {
    clock,
    random: seededRandom(1),
    openWire: () => ({
      send: async (request) => ({ status: 200, reason: 'OK', headers: {}, body: '', ...(await answer(request)) }),
      close: () => Promise.resolve(),
    }),
    resolveSecret: () => Promise.resolve(new Secret('root@pam!croft=CANARY-TOKEN')),
  })
  assert.ok(session.agent)
  return session.agent.shell(observed)
}

/** Real but very short pauses. */
function quick(): Clock {
  return { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal) }
}

/** A clock that advances only during waits. */
function counted(): Clock & { slept: number[] } {
  const slept: number[] = []
  const passed = () => slept.reduce((sum, ms) => sum + ms, 0)
  return {
    slept,
    now: passed,
    monotonicMs: passed,
    sleep: async (ms) => {
      slept.push(ms)
    },
  }
}

async function failureOf(promise: Promise<unknown>): Promise<ShellFailure> {
  const error = await promise.then(
    () => assert.fail('it succeeded'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ShellFailure, String(error))
  return error
}

const refused = (reason: string, status = 500): Partial<WireResponse> => ({ status, reason, body: '{"data":null}' })
const data = (value: unknown): Partial<WireResponse> => ({ body: JSON.stringify({ data: value }) })

function inFolder(deed: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'croft-agent-'))
    try {
      await deed(folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}

describe('the guest agent as a shell, against real programs', () => {
  it('runs words as words, with input, output and code', async () => {
    const shell = shellOver(realAgent().answer)
    const words = ['sh', '-c', 'cat; printf "%s|" "$@" >&2; exit 3', 'x', "a'b", '$HOME `id`', '']
    assert.deepEqual(await shell.run(words, { input: 'Grüße\n' }), {
      code: 3,
      stdout: 'Grüße\n',
      stderr: "a'b|$HOME `id`||",
    })
  })

  it('answers 127 for a program that is not there', async () => {
    const { code, stderr } = await shellOver(realAgent().answer).run(['/nowhere/croft'])
    assert.equal(code, 127)
    assert.match(stderr, /No such file/)
  })

  it('passes more input than one call takes, and leaves nothing of it behind', async () => {
    const agent = realAgent()
    const shell = shellOver(agent.answer)
    const before = readdirSync('/dev/shm').filter((name) => name.startsWith('croft-input'))
    const input = Buffer.alloc(200_000, 'ä€x')
    const { stdout } = await shell.run(['sha256sum'], { input })
    const { createHash } = await import('node:crypto')
    assert.equal(stdout.split(' ')[0], createHash('sha256').update(input).digest('hex'))
    assert.deepEqual(
      readdirSync('/dev/shm').filter((name) => name.startsWith('croft-input')),
      before,
    )
  })

  it(
    'writes every byte, with the rights that were asked for and never others, in one move',
    inFolder(async (folder) => {
      const agent = realAgent()
      const shell = shellOver(agent.answer)
      const bytes = Uint8Array.from({ length: 150_001 }, (_, at) => (at * 7) % 256)
      for (const [name, content, mode] of [
        ['small', 'ab', 0o600],
        ['empty', '', 0o640],
        ["it's big", bytes, 0o755],
      ] as const) {
        const path = join(folder, name)
        await shell.writeFile(path, content, { mode })
        assert.deepEqual(await shell.readFile(path), Buffer.from(content))
        assert.equal(statSync(path).mode & 0o7777, mode)
      }
      await shell.writeFile(join(folder, 'small'), 'new')
      assert.equal(statSync(join(folder, 'small')).mode & 0o7777, 0o644)
      assert.deepEqual(readdirSync(folder).sort(), ['empty', "it's big", 'small'])
      assert.ok(!agent.calls.includes('file-write'))
    }),
  )

  it(
    'a half-written file is seen by nobody but root, and goes when the rest fails',
    inFolder(async (folder) => {
      const seen: number[] = []
      const agent = realAgent()
      const shell = shellOver(async (request) => {
        for (const name of readdirSync(folder)) seen.push(statSync(join(folder, name)).mode & 0o7777)
        return agent.answer(request)
      })
      const failure = await failureOf(
        shell.writeFile(join(folder, 'x'), Buffer.alloc(100_000), { owner: 'nobody-has-this-name' }),
      )
      assert.equal(failure.code, 'refused')
      assert.ok(seen.length > 0)
      assert.deepEqual([...new Set(seen)], [0o600])
      assert.deepEqual(readdirSync(folder), [])
    }),
  )

  it(
    'takes the place of a link and leaves what it led to alone',
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'aim'), 'aim')
      symlinkSync(join(folder, 'aim'), join(folder, 'link'))
      const shell = shellOver(realAgent().answer)
      await shell.writeFile(join(folder, 'link'), 'mine', { mode: 0o600 })
      assert.equal(String(await shell.readFile(join(folder, 'aim'))), 'aim')
      assert.equal(String(await shell.readFile(join(folder, 'link'))), 'mine')
    }),
  )

  it('answers nothing for a file that is not there', async () => {
    assert.equal(await shellOver(realAgent().answer).readFile('/nowhere/at/all'), undefined)
  })
})

describe('the guest agent as a shell, when something is wrong', () => {
  it('waits with growing pauses and gives up at its deadline', async () => {
    const clock = counted()
    const shell = shellOver(
      ({ path }) => (path.includes('exec-status') ? data({ exited: 0 }) : data({ pid: 7 })),
      clock,
    )
    const failure = await failureOf(shell.run(['sleep', '99'], { timeoutMs: 10_000 }))
    assert.deepEqual([failure.ran, failure.code], ['maybe', 'timeout'])
    assert.equal(
      clock.slept.reduce((sum, ms) => sum + ms, 0),
      10_000,
    )
    assert.ok(clock.slept.length < 20, `${clock.slept.length} looks`)
  })

  it('tells what cannot have begun from what may have', async () => {
    const begun = (answer: Answer) => failureOf(shellOver(answer, counted()).run(['true']))
    const rows: [Answer, 'no' | 'maybe', string][] = [
      [() => refused('QEMU guest agent is not running'), 'no', 'no-agent'],
      [() => refused('VM 114 is not running'), 'no', 'not-running'],
      [() => refused('Permission check failed (/vms/114, VM.GuestAgent.Unrestricted)', 403), 'no', 'denied'],
      [() => refused("VM 114 qga command 'guest-exec' failed - got timeout"), 'maybe', 'timeout'],
      [() => refused('Broken pipe', 596), 'maybe', 'unreachable'],
      [() => refused('no route', 595), 'no', 'unreachable'],
      [() => Promise.reject(new WireFailure('no', 'ECONNREFUSED', 'refused')), 'no', 'unreachable'],
      [() => Promise.reject(new WireFailure('maybe', 'ECONNRESET', 'reset')), 'maybe', 'unreachable'],
      [() => data({}), 'maybe', 'unreadable'],
    ]
    for (const [answer, ran, code] of rows) {
      const failure = await begun(answer)
      assert.deepEqual([failure.ran, failure.code], [ran, code], failure.message)
    }
  })

  it('says so when the end of a program was told and the answer did not arrive', async () => {
    let asked = 0
    const shell = shellOver(({ path }) => {
      if (!path.includes('exec-status')) return data({ pid: 7 })
      return ++asked === 1
        ? Promise.reject(new WireFailure('maybe', 'ECONNRESET', 'reset'))
        : refused("Agent error: Invalid parameter 'pid'")
    }, counted())
    const failure = await failureOf(shell.run(['true']))
    assert.deepEqual([failure.ran, failure.code], ['maybe', 'lost'])
  })

  it('[S-01] sends no word that would make the agent deaf, and no name that env would misread', async () => {
    let sent = 0
    const shell = shellOver(() => {
      sent++
      return data({ pid: 1 })
    }, counted())
    for (const argv of [['echo', 'ü'], ['A=b'], [''], [], ['echo', 'a\0b']])
      assert.equal((await failureOf(shell.run(argv))).code, 'unsendable')
    assert.equal((await failureOf(shell.readFile('/ü'))).code, 'unsendable')
    assert.equal((await failureOf(shell.writeFile('relative', 'x'))).code, 'unsendable')
    assert.equal(sent, 0)
  })

  it('[S-17] an error that repeats what was sent does not show the input', async () => {
    const shell = shellOver(({ body }) => {
      const input = new URLSearchParams(String(body)).get('input-data')
      return refused(`cannot pass ${input}`)
    }, counted())
    const failure = await failureOf(shell.run(['cat'], { input: 'CANARY-INPUT' }))
    assert.ok(!failure.message.includes('CANARY'), failure.message)
  })

  it('a container has no agent', async () => {
    const shell = shellOver(() => assert.fail('asked'), counted(), { ...VM, type: 'container' })
    assert.equal((await failureOf(shell.run(['true']))).code, 'no-agent')
  })
})

it('the same lane leads into a simulated guest', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  await client.task('POST', `${HOST}/qemu/114/status/start`)
  await client.pass(40_000)
  const session = openSession(EXAMPLE_CONNECTION, {
    clock: client.clock,
    random: seededRandom(1),
    openWire: () => simWire(client.datacentre),
    resolveSecret: () => Promise.resolve(new Secret(client.datacentre.token)),
  })
  const shell = session.agent?.shell(VM)
  assert.ok(shell)
  const settle = <T>(work: Promise<T>) => client.clock.runUntil(work)
  assert.equal((await settle(shell.run(['hostname']))).stdout, 'web\n')
  assert.equal((await settle(shell.run(['/usr/local/lib/croft/none']))).code, 127)
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251)
  await settle(shell.writeFile('/etc/croft.bin', bytes, { mode: 0o600, owner: 'root', group: 'root' }))
  const read = await settle(shell.readFile('/etc/croft.bin'))
  assert.equal(Buffer.compare(read ?? Buffer.alloc(0), bytes), 0)
  assert.equal(await settle(shell.readFile('/etc/none')), undefined)
  assert.equal((await settle(shell.run(['cat'], { input: 'Grüße' }))).stdout, 'Grüße')
})
