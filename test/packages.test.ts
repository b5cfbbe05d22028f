import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensurePackages, mayInstall, type System, type Wanted } from '../scripts/packages.ts'

const WANTED: readonly Wanted[] = [
  { name: 'cloud-init', command: 'cloud-init' },
  { name: 'netplan.io', command: 'netplan' },
]

/** A system that has these commands; installing brings those that the mirror has. */
function system(has: readonly string[], more: { root?: boolean; may?: boolean; mirror?: readonly string[] } = {}) {
  const commands = new Set(has)
  const ran: string[] = []
  const printed: string[] = []
  const made: System = {
    has: (one) => 'command' in one && commands.has(one.command),
    isRoot: more.root ?? false,
    mayInstall: more.may ?? more.root ?? false,
    run(command, args) {
      const words = args.filter((word) => word !== '-o' && !word.includes('::'))
      ran.push([command, ...words].join(' '))
      if (args.includes('install')) for (const one of more.mirror ?? []) commands.add(one)
      return { ok: true, output: 'E: something\n' }
    },
    print: (line) => printed.push(line),
  }
  return { made, ran, printed }
}

test('what is there is not installed again', () => {
  const { made, ran, printed } = system(['cloud-init', 'netplan', 'apt-get'], { root: true })
  assert.deepEqual(ensurePackages(WANTED, made), [])
  assert.deepEqual([ran, printed], [[], []])
})

test('root with apt and leave installs what is missing, and keeps the service of cloud-init from ever acting', () => {
  const { made, ran, printed } = system(['apt-get'], { root: true, mirror: ['cloud-init', 'netplan'] })
  assert.deepEqual(ensurePackages(WANTED, made), [])
  assert.deepEqual(ran, [
    'apt-get update -qq',
    'apt-get install -y -qq --no-install-recommends cloud-init netplan.io',
    'touch /etc/cloud/cloud-init.disabled',
  ])
  assert.deepEqual(printed, ['installing for the tests: cloud-init netplan.io'])
})

for (const [who, made] of [
  ['not root', system(['apt-get', 'cloud-init'])],
  ['no apt', system(['cloud-init'], { root: true })],
  ['root whom nobody allowed it', system(['apt-get', 'cloud-init'], { root: true, may: false })],
] as const) {
  test(`${who}: one line says what to run, and nothing is run`, () => {
    assert.deepEqual(ensurePackages(WANTED, made.made), ['netplan.io'])
    assert.deepEqual(made.ran, [])
    assert.deepEqual(made.printed, [
      'some tests need programs that are not installed and are skipped; to have them, run: sudo apt-get install -y --no-install-recommends netplan.io',
    ])
  })
}

test('a mirror that has it not is said, with what apt said last', () => {
  const { made, printed } = system(['apt-get', 'cloud-init'], { root: true })
  assert.deepEqual(ensurePackages(WANTED, made), ['netplan.io'])
  assert.match(printed[1] ?? '', /^could not install netplan\.io \(E: something\); by hand: apt-get install/)
})

test('packages are installed only into layers of the tests, or where a person says so', () => {
  assert.equal(mayInstall({}), false)
  assert.equal(mayInstall({ CROFT_TEST_INSTALL: '0', CI: 'true' }), false)
  assert.equal(mayInstall({ CROFT_TEST_INSTALL: '1' }), true)
  assert.equal(mayInstall({ CROFT_TEST_SYSTEM: '/somewhere' }), true)
})
