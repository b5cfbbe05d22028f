import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ran, Shell } from '../lib/shell.ts'
import { bootImage } from './boot.ts'
import { bootPlace, bootSeed, bootWords } from './boot-machine.ts'
import { lookRequest, readBootReport } from './boot-program.ts'
import type { BuildFailed } from './build.ts'

const BOOT = { architecture: 'amd64', uuid: '11111111-2222-4333-8444-555555555555' } as const
const encoded = (text: string) => Buffer.from(text, 'utf8').toString('base64')
const printed = (agent: string, answer?: string) =>
  [
    `agent ${agent}`,
    ...(answer === undefined ? [] : [`answer ${encoded(answer)}`]),
    `console ${encoded('x login: ')}`,
    `said ${encoded('')}`,
    '',
  ].join('\n')
const ENDED = JSON.stringify({ return: { exited: true, exitcode: 0, 'out-data': encoded('boot 12\n') } })

/** Makes a computer on which all programs succeed, except those given. */
function paperShell(answers: (argv: readonly string[]) => Partial<Ran> | undefined) {
  const ran: string[] = []
  const written: string[] = []
  const shell: Shell = {
    run: (argv) => {
      ran.push(argv.join(' '))
      return Promise.resolve({ code: 0, stdout: '', stderr: '', ...answers(argv) })
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: (path) => {
      written.push(path)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
  return { shell, ran, written }
}

const options = { limitMs: 600_000, signal: new AbortController().signal }
const start = (shell: Shell) => bootImage('/cache/x.qcow2', BOOT, shell, options)
const isBoot = (argv: readonly string[]) => argv.includes('-nodefaults')
const answering =
  (kvm: string | undefined, tcg: string) =>
  (argv: readonly string[]): Partial<Ran> | undefined => {
    if (argv[0] === 'mktemp') return { stdout: '/var/tmp/croft-boot-1\n' }
    if (argv.join(' ').includes('/dev/kvm')) return kvm === undefined ? { code: 1 } : { stdout: 'x86_64\n' }
    if (isBoot(argv)) return { stdout: argv.includes('kvm') ? (kvm ?? '') : tcg }
    return undefined
  }

test('the machine writes into an overlay, reaches no network, and lies beside nothing of the computer', () => {
  const words = bootWords(bootPlace('/w'), { ...BOOT, accelerator: 'tcg' }).join(' ')
  assert.match(words, /^qemu-system-x86_64 -nodefaults -no-user-config /)
  assert.match(words, /-netdev user,id=net,restrict=on /)
  assert.match(words, /file=\/w\/overlay\.qcow2,format=qcow2/)
  assert.match(words, /file=\/w\/seed\.iso,format=raw,if=virtio,readonly=on/)
  assert.match(words, /-accel tcg,thread=multi,tb-size=128 -cpu max/)
  assert.doesNotMatch(words, /hostfwd|-virtfs|-fsdev/)
  assert.match(bootWords(bootPlace('/w'), { ...BOOT, accelerator: 'kvm' }).join(' '), /-accel kvm -cpu host/)
  assert.match(
    bootWords(bootPlace('/w'), { ...BOOT, architecture: 'arm64', accelerator: 'tcg' }).join(' '),
    /^qemu-system-aarch64 .*-machine virt -bios \S+QEMU_EFI\.fd/,
  )
})

test('the seed names this start, and the request is one line', () => {
  const seed = Object.fromEntries(bootSeed(BOOT).map(({ name, text }) => [name, text]))
  assert.match(seed['meta-data'] ?? '', /"instance-id":"11111111-/)
  assert.match(seed['user-data'] ?? '', /^#cloud-config\n/)
  assert.doesNotMatch(lookRequest(60), /\n/)
})

test('what the program printed is read; where it printed nothing there is no report', () => {
  assert.deepEqual(readBootReport(printed('31', ENDED)), {
    agent: 31,
    told: 'boot 12\n',
    refused: undefined,
    console: 'x login: ',
    said: '',
  })
  assert.equal(readBootReport(printed('silent'))?.agent, 'silent')
  const refused = readBootReport(printed('3', '{"error": {"class": "CommandNotFound", "desc": "disabled"}}'))
  assert.deepEqual([refused?.told, refused?.refused], [undefined, 'disabled'])
  assert.equal(readBootReport(printed('3', '{"return": {"exited": false}}'))?.told, undefined)
  assert.equal(readBootReport('mkfifo: no room\n'), undefined)
})

test('without hardware acceleration it is emulated at once; the image is only read, and nothing is left', async () => {
  const { shell, ran, written } = paperShell(answering(undefined, printed('90', ENDED)))
  const { report, accelerator } = await start(shell)
  assert.deepEqual([accelerator, report.agent], ['tcg', 90])
  assert.deepEqual(written, ['/var/tmp/croft-boot-1/seed.iso'])
  const touching = ran.filter((line) => line.includes('/cache/x.qcow2'))
  assert.deepEqual(touching, [
    'qemu-img create -q -f qcow2 -b /cache/x.qcow2 -F qcow2 /var/tmp/croft-boot-1/overlay.qcow2',
  ])
  assert.equal(ran.at(-1), 'rm -rf --one-file-system /var/tmp/croft-boot-1')
})

test('with hardware acceleration that hangs or is refused it is started once more in software emulation', async () => {
  for (const kvm of ['silent', 'ended']) {
    const { shell, ran } = paperShell(answering(printed(kvm), printed('90', ENDED)))
    assert.equal((await start(shell)).accelerator, 'tcg')
    assert.deepEqual(
      ran.filter((line) => line.includes('-nodefaults')).map((line) => / -accel (\w+)/.exec(line)?.[1]),
      ['kvm', 'tcg'],
    )
  }
  const { shell } = paperShell(answering(printed('12', ENDED), printed('90', ENDED)))
  assert.equal((await start(shell)).accelerator, 'kvm')
})

test('without QEMU the packages that bring it are named, and nothing is started', async () => {
  const { shell, ran } = paperShell((argv) => (argv.at(-1)?.startsWith('qemu') ? { code: 1 } : undefined))
  await assert.rejects(start(shell), /apt-get install qemu-system-x86 qemu-utils$/)
  assert.ok(!ran.some((line) => line.startsWith('mktemp')))
})

test('a computer that cannot start it says why, and what was made there goes', async () => {
  const { shell, ran } = paperShell((argv) =>
    isBoot(argv) ? { code: 1, stderr: 'mkfifo: no space left' } : answering(undefined, '')(argv),
  )
  await assert.rejects(start(shell), (error: BuildFailed) => /no space left/.test(error.message))
  assert.equal(ran.at(-1), 'rm -rf --one-file-system /var/tmp/croft-boot-1')
})
