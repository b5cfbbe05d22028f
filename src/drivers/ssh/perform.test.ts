import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { Secret } from '../../model/secret.ts'
import { type Command, run } from './command.ts'
import { performCommands } from './perform.ts'

/** A host that records its commands; `answer` gives a program's result, by its first line or name. */
function hostThat(answer: (what: string) => { code?: number; stdout?: string } | undefined) {
  const told: string[] = []
  const shell: Shell = {
    run: async (argv, { input = '' } = {}) => {
      const what = Object.entries(HOST_PROGRAMS).find(([, line]) => argv[2]?.startsWith(line))?.[0] ?? argv.join(' ')
      told.push(what)
      const lines = input.toString().split('\n').length - 1
      return { code: 0, stdout: what === 'batch' ? `done ${lines}\n` : '', stderr: '', ...answer(what) }
    },
    readFile: async () => undefined,
    writeFile: async (path) => void told.push(`write ${path}`),
    close: async () => undefined,
  }
  return { told, shell }
}

const RISKY: readonly Command[] = [
  { do: 'arm', name: 'door', seconds: 90, revert: [run('true')] },
  run('change', 'the', 'door'),
  { do: 'prove' },
  { do: 'disarm', name: 'door' },
]
const TAKE_BACK = '/bin/sh /var/lib/croft/revert/door'

function perform(host: ReturnType<typeof hostThat>, prove: () => Promise<void> = async () => undefined) {
  const hands = { host: 'cow', shell: host.shell, prove, resolveSecret: async () => new Secret('') }
  return performCommands(RISKY, hands, new AbortController().signal)
}

test('what can lock people out is armed before it is touched, and kept only after a new connection', async () => {
  const host = hostThat(() => undefined)
  assert.deepEqual(await perform(host, async () => void host.told.push('prove')), { result: 'done' })
  assert.deepEqual(
    host.told.filter((one) => !one.startsWith('mkdir')),
    ['write /var/lib/croft/revert/door', 'arm', 'batch', 'prove', 'disarm'],
  )
})

test('it is taken back at once when the change fails, or nobody gets in', async () => {
  const failed = hostThat((what) => (what === 'batch' ? { stdout: 'failed 0 1\nno\n' } : undefined))
  const refused = await perform(failed)
  assert.ok(refused.result === 'refused')
  assert.match(refused.refusal.message, /change the door on cow ended with 1: no/)
  assert.ok(failed.told.includes(TAKE_BACK))
  const locked = hostThat(() => undefined)
  await perform(locked, () => Promise.reject(new ShellFailure('no', 'denied', 'cow does not let root in')))
  assert.ok(locked.told.includes(TAKE_BACK))
})

test('what the host has taken back by itself is no success, however well everything else went', async () => {
  const late = hostThat((what) => (what === 'disarm' ? { code: 7 } : undefined))
  const outcome = await perform(late)
  assert.ok(outcome.result === 'refused')
  assert.equal(outcome.refusal.reason, 'TakenBack')
  assert.match(outcome.refusal.message, /cow was not to be reached after the change, and has taken it back by itself/)
})
