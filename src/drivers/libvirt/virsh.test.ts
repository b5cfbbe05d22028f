import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../lib/random.ts'
import { type Ran, type Shell, ShellFailure } from '../../lib/shell.ts'
import { ObservationFailed } from '../port.ts'
import { powerOf, volumeNames } from './observe.ts'
import { createVirsh } from './virsh.ts'
import { translate } from './virsh-errors.ts'

const signal = new AbortController().signal

function answering(
  answer: (argv: readonly string[], input: string) => Ran | Error,
): Shell & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    run: (argv, { input } = {}) => {
      asked.push(`${argv.join(' ')}\n${String(input ?? '')}`)
      const said = answer(argv, String(input ?? ''))
      return said instanceof Error ? Promise.reject(said) : Promise.resolve(said)
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/** Answers like virsh: its greeting, its prompt, the echoed line, then the answer. */
const echoing = (say: (line: string) => string) =>
  answering((_, input) => {
    const lines = input.trimEnd().split('\n')
    const told = lines.map((line) => {
      const [, mark, word] = /^echo "([^"]*)" "([^"]*)"$/.exec(line) ?? []
      return `virsh # ${line}\n${mark === undefined ? say(line) : `${mark} ${word}\n`}`
    })
    return { code: 0, stdout: `Welcome to virsh\n\n${told.join('')}virsh # \n`, stderr: '' }
  })

test('many questions are one process, and each answer is its own', async () => {
  const shell = echoing((line) => (line.startsWith('dumpxml') ? `<domain>${line}</domain>\n` : ''))
  const questions = Array.from({ length: 30 }, (_, at) =>
    at % 3 === 1 ? ['domname', `gone-${at}`] : ['dumpxml', `u-${at}`],
  )
  const answers = await createVirsh(shell, 'qemu:///system', seededRandom(1)).ask(questions, 'look', signal)
  assert.equal(shell.asked.length, 1)
  assert.deepEqual(
    answers,
    questions.map(([verb, id]) => (verb === 'dumpxml' ? `<domain>dumpxml ${id}</domain>` : '')),
  )
})

test('[S-15] an answer cannot pass for the end of itself, and a word cannot become a command', async () => {
  const shell = echoing((line) => `croft-1 0\n${line}\n`)
  const virsh = createVirsh(shell, 'qemu:///system', seededRandom(1))
  const [answer] = await virsh.ask([['dumpxml', 'a"; undefine b\nundefine c']], 'look', signal)
  assert.match(answer ?? '', /^croft-1 0\n/)
  const sent = shell.asked[0]?.split('\n') ?? []
  assert.equal(sent.filter((line) => line.startsWith('undefine')).length, 0)
  assert.ok(sent.includes('dumpxml "a\\"; undefine b undefine c"'))
})

test('[F-07] an answer that breaks off, or is something else, is no look', async () => {
  for (const stdout of ['', '<html>no</html>', 'Welcome to virsh\nvirsh # echo']) {
    const virsh = createVirsh(
      answering(() => ({ code: 0, stdout, stderr: '' })),
      'qemu:///system',
      seededRandom(1),
    )
    await assert.rejects(virsh.ask([['list']], 'look', signal), ObservationFailed)
  }
})

test('a host that does not let us in concerns the whole connection; one that does not answer is tried again', async () => {
  const refusal = async (failure: ShellFailure) => {
    const virsh = createVirsh(
      answering(() => failure),
      'qemu:///system',
      seededRandom(1),
    )
    const error = await virsh.ask([['list']], 'look', signal).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof ObservationFailed)
    return [error.refusal.reason, error.refusal.meaning, error.refusal.connectionWide]
  }
  assert.deepEqual(await refusal(new ShellFailure('no', 'denied', 'x')), ['Unauthorized', 'stalled', true])
  assert.deepEqual(await refusal(new ShellFailure('no', 'host-key', 'x')), ['HostKeyMismatch', 'stalled', true])
  assert.deepEqual(await refusal(new ShellFailure('maybe', 'timeout', 'x')), ['Unreachable', 'backoff', true])
})

const SAID: readonly (readonly [string, string, string])[] = [
  ["error: failed to get domain 'x'", 'NotFound', 'backoff'],
  ["error: operation failed: domain 'web' already exists with uuid 1", 'IdTaken', 'stalled'],
  ["error: storage volume 'a.qcow2' exists already", 'VolumeTaken', 'stalled'],
  ["error: internal error: volume 'a' is still being allocated.", 'Locked', 'waiting'],
  ['error: Timed out during operation: cannot acquire state change lock', 'Locked', 'waiting'],
  [
    "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/var/run/libvirt/libvirt-sock'",
    'Unreachable',
    'backoff',
  ],
  ['error: authentication unavailable: no polkit agent available', 'PermissionDenied', 'stalled'],
  ["env: 'virsh': No such file or directory", 'NoVirsh', 'stalled'],
  ['error: cannot set up guest memory: Cannot allocate memory', 'HostFull', 'backoff'],
  ['error: unsupported configuration: vlan tags', 'NotPossible', 'stalled'],
  ['error: something that nobody has seen', 'Refused', 'backoff'],
]

for (const [text, reason, meaning] of SAID) {
  test(`virsh says “${text.slice(0, 60).replace(/\s+/g, ' ')}”: ${reason}, ${meaning}`, () => {
    const refusal = translate({ text, doing: 'do it' })
    assert.deepEqual([refusal.reason, refusal.meaning], [reason, meaning])
    assert.match(refusal.message, /^could not do it: /)
  })
}

test('what virsh says cannot move a cursor', () => {
  const { message } = translate({ text: 'error: \u001b[2J\u0007evil\u202e', doing: 'x' })
  assert.doesNotMatch(message, /[\u0000-\u001f\u202e]/)
})

test('states and tables of virsh are read', () => {
  assert.deepEqual(['running', 'shut off', 'paused', 'in shutdown', 'crashed', ''].map(powerOf), [
    'running',
    'stopped',
    'paused',
    'running',
    'stopped',
    'unknown',
  ])
  const table =
    ' Name          Path\n-----------------\n a.qcow2       /pool/a.qcow2\n with space    /pool/with space\n'
  assert.deepEqual(volumeNames(table), ['a.qcow2', 'with space'])
})
