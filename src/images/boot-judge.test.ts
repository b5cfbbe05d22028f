import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOOT_CHECKS, judgeBoot } from './boot-judge.ts'
import type { BootReport } from './boot-program.ts'

const INSTANCE = '11111111-2222-4333-8444-555555555555'
const BOOTED = 1_794_887_000
const RESULT = { v1: { datasource: 'DataSourceNoCloud [seed=/dev/vdb][dsmode=net]', errors: [] } }
const STATUS = { v1: { init: { errors: [], recoverable_errors: {} }, stage: null } }

/** Returns the output of a machine with a good image. A line set to undefined is left out. */
function told(changed: Readonly<Record<string, string | undefined>> = {}): string {
  const lines: Readonly<Record<string, string | undefined>> = {
    'cloud-init': 'there',
    boot: String(BOOTED),
    'machine-id': `${BOOTED + 3} ${'ab12'.repeat(8)}`,
    result: JSON.stringify(RESULT),
    status: JSON.stringify(STATUS),
    'instance-id': INSTANCE,
    sshd: 'there',
    key: `${BOOTED + 40} /etc/ssh/ssh_host_ed25519_key`,
    ...changed,
  }
  return Object.entries(lines)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}\n`]))
    .join('')
}

const GOOD: BootReport = {
  agent: 31,
  told: told(),
  refused: undefined,
  console: '[    0.0] Linux version 6.1\nDebian GNU/Linux 12 croft-verify ttyS0\n\ncroft-verify login: ',
  said: '',
}
const errors = (...texts: string[]) => JSON.stringify({ v1: { ...RESULT.v1, errors: texts } })

test('a machine that has become one of its own passes every check', () => {
  assert.deepEqual(judgeBoot(GOOD, INSTANCE), { findings: [], unknown: [] })
})

const WRONG: readonly (readonly [string, Partial<BootReport>, (typeof BOOT_CHECKS)[number], RegExp, RegExp])[] = [
  ['agent silent', { agent: 'silent', told: undefined }, 'guest agent', /does not answer/, /qemu-guest-agent/],
  ['QEMU ended', { agent: 'ended', told: undefined, said: 'no KVM\n' }, 'guest agent', /ended.*no KVM/, /console/],
  ['agent stopped', { told: undefined }, 'guest agent', /stopped before it told/, /--timeout/],
  ['exec refused', { told: undefined, refused: 'disabled' }, 'guest agent', /refuses.*disabled/, /guest-exec/],
  [
    'id of the image',
    { told: told({ 'machine-id': `${BOOTED - 600} ${'ab12'.repeat(8)}` }) },
    'machine-id',
    /ab12.* comes from the image/,
    /empty \/etc\/machine-id/,
  ],
  ['no id', { told: told({ 'machine-id': `${BOOTED}` }) }, 'machine-id', /has none/, /empty file/],
  [
    'id not set',
    { told: told({ 'machine-id': `${BOOTED} uninitialized` }) },
    'machine-id',
    /"uninitialized"/,
    /empty file/,
  ],
  [
    'no cloud-init',
    { told: told({ 'cloud-init': undefined, result: undefined }) },
    'cloud-init',
    /not in the image/,
    /package cloud-init/,
  ],
  ['not ended', { told: told({ result: undefined }) }, 'cloud-init', /not ended/, /console.*--timeout/],
  [
    'another source',
    { told: told({ result: JSON.stringify({ v1: { datasource: 'DataSourceNone', errors: [] } }) }) },
    'cloud-init',
    /used DataSourceNone/,
    /datasource_list/,
  ],
  [
    'an old instance',
    { told: told({ 'instance-id': 'i-old' }) },
    'cloud-init',
    /did not read the seed/,
    /var\/lib\/cloud/,
  ],
  ['an error', { told: told({ result: errors('locale failed') }) }, 'cloud-init', /locale failed/, /cloud-init\.log/],
  [
    'an error it went on after',
    { told: told({ status: JSON.stringify({ v1: { init: { recoverable_errors: { ERROR: ['no such user'] } } } }) }) },
    'cloud-init',
    /no such user/,
    /cloud-init\.log/,
  ],
  [
    'keys of the image',
    { told: told({ key: `${BOOTED - 6} /etc/ssh/ssh_host_rsa_key` }) },
    'ssh host keys',
    /ssh_host_rsa_key comes from the image/,
    /delete/,
  ],
  ['no keys', { told: told({ key: undefined }) }, 'ssh host keys', /none were made/, /module ssh/],
  ['no sshd', { told: told({ sshd: undefined }) }, 'ssh host keys', /no sshd/, /openssh-server/],
  ['a mute console', { console: ' \n' }, 'serial console', /nothing comes/, /console=ttyS0,115200/],
  ['a console without login', { console: 'Linux version 6.1\n' }, 'serial console', /no login/, /last one/],
]

for (const [name, changed, check, problem, next] of WRONG)
  test(`a started image is refused and says what to do: ${name}`, () => {
    const { findings, unknown } = judgeBoot({ ...GOOD, ...changed }, INSTANCE)
    assert.equal(findings.length, 1, JSON.stringify(findings))
    assert.equal(findings[0]?.check, check)
    assert.match(findings[0]?.problem ?? '', problem)
    assert.match(findings[0]?.next ?? '', next)
    const silent = 'told' in changed && changed.told === undefined
    assert.deepEqual(unknown, silent ? ['machine-id', 'cloud-init', 'ssh host keys'] : [])
  })

test('every check has a case in which it fails', () => {
  assert.deepEqual([...new Set(WRONG.map(([, , check]) => check))].sort(), [...BOOT_CHECKS].sort())
})

test('several faults are all told, and a mute machine shows the state of its console', () => {
  const keys = told({ key: `1 /etc/ssh/ssh_host_rsa_key\nkey 2 /etc/ssh/ssh_host_ecdsa_key`, result: errors('a', 'b') })
  const { findings } = judgeBoot({ ...GOOD, told: keys }, INSTANCE)
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['cloud-init', 'cloud-init', 'ssh host keys'],
  )
  assert.match(findings[2]?.problem ?? '', /rsa_key, \S*ecdsa_key come /)
  const mute = judgeBoot({ ...GOOD, agent: 'silent', told: undefined, console: '' }, INSTANCE)
  assert.deepEqual(
    mute.findings.map(({ check }) => check),
    ['guest agent', 'serial console'],
  )
})
