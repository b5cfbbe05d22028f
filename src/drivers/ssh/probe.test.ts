import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import { askKey, type HostQuestion, seenIn, sha256 } from './ask.ts'
import { probeInput, readProbe } from './probe.ts'
import { PROBE } from './probe-program.ts'
import { rules } from './rules.ts'

const directory = mkdtempSync(join(tmpdir(), 'croft-probe-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** The real program, by a real sh, on this computer: it only reads. */
function probe(asks: readonly HostQuestion[]) {
  const { text, keys } = probeInput(asks)
  const ran = spawnSync('sh', ['-c', PROBE], { input: text, encoding: 'utf8', timeout: 120_000 })
  assert.equal(ran.stderr, '')
  const probed = readProbe(ran.stdout, keys)
  assert.ok(probed, ran.stdout)
  return { ...probed, seen: seenIn(probed.answers) }
}

test('a file is described; its content comes back only when it is not the expected one', () => {
  const path = join(directory, 'a')
  writeFileSync(path, 'one\ntwo €\n')
  chmodSync(path, 0o640)
  const other = probe([{ ask: 'file', path, sha256: sha256('other') }]).seen.file(path)
  assert.equal(other.kind, 'file')
  assert.equal(other.content, 'one\ntwo €\n')
  assert.equal(other.mode, 0o640)
  const same = probe([{ ask: 'file', path, sha256: sha256('one\ntwo €\n') }]).seen.file(path)
  assert.deepEqual([same.content, same.sha256], [undefined, sha256('one\ntwo €\n')])
  // Two items expect different content of one file: both get it.
  const both = probe([
    { ask: 'file', path, sha256: sha256('one\ntwo €\n') },
    { ask: 'file', path },
  ])
  assert.equal(both.seen.file(path).content, 'one\ntwo €\n')
})

test('an absent file, a folder, a link, an empty and a binary file are told apart', () => {
  const at = (name: string) => join(directory, name)
  mkdirSync(at('d'))
  symlinkSync('/somewhere else', at('l'))
  writeFileSync(at('empty'), '')
  writeFileSync(at('binary'), Buffer.from([0xff, 0xfe, 0, 1]))
  const names = ['nothing', 'd', 'l', 'empty', 'binary']
  const { seen } = probe(names.map((name) => ({ ask: 'file', path: at(name) })))
  assert.deepEqual(
    names.map((name) => seen.file(at(name)).kind),
    ['absent', 'directory', 'link', 'file', 'file'],
  )
  assert.equal(seen.file(at('l')).target, '/somewhere else')
  assert.equal(seen.file(at('empty')).content, '')
  assert.equal(seen.file(at('binary')).content, undefined)
})

test('settings of the kernel, modules, units and packages are answered, and what is not there is not invented', () => {
  const { seen, host } = probe([
    { ask: 'sysctl', key: 'kernel.ostype' },
    { ask: 'sysctl', key: 'no.such.setting' },
    { ask: 'module', name: 'no-such-module' },
    { ask: 'unit', name: 'no-such-unit.service' },
    { ask: 'package', name: 'no-such-package' },
    { ask: 'package', name: 'dash' },
    { ask: 'package', name: 'awk' },
  ])
  assert.equal(seen.sysctl('kernel.ostype'), 'Linux')
  assert.equal(seen.sysctl('no.such.setting'), undefined)
  assert.equal(seen.module('no-such-module'), false)
  assert.notEqual(seen.unit('no-such-unit.service').load, 'loaded')
  assert.equal(seen.package('no-such-package').installed, false)
  if (existsSync('/var/lib/dpkg/status')) {
    assert.equal(seen.package('dash').installed, true)
    assert.match(seen.package('dash').version, /^[0-9]/)
    assert.deepEqual([seen.package('dash').provided, seen.package('no-such-package').provided], [false, false])
    assert.deepEqual([seen.package('awk').installed, seen.package('awk').provided], [false, true])
  }
  assert.match(host.id ?? '', /^[0-9a-f-]{36}$/)
})

test('[S-01] any words reach a program as they are, and make nothing happen', () => {
  const hostile = [
    '$(touch /tmp/p)',
    '`id`',
    'a;reboot',
    'a\nb',
    '--flag',
    '',
    ' ',
    "'",
    '"',
    '\\',
    '*',
    '%s',
    'ü€',
    '=',
  ]
  const words = fc.array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 12 })), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 20 }), (many) => {
      const clean = many.map((argv) => argv.map((one) => one.replaceAll('\0', '').toWellFormed()))
      const asks = clean.map((argv): HostQuestion => ({ ask: 'run', argv: ['printf', '[%s]', ...argv, 'end'] }))
      const { answers } = probe(asks)
      for (const [index, ask] of asks.entries()) {
        assert.equal(answers.get(askKey(ask))?.out, `${(clean[index] ?? []).map((one) => `[${one}]`).join('')}[end]`)
      }
    }),
    { numRuns: 10 },
  )
})

test('an answer that was cut off is none', () => {
  const { text, keys } = probeInput([{ ask: 'module', name: 'x' }])
  const { stdout } = spawnSync('sh', ['-c', PROBE], { input: text, encoding: 'utf8' })
  assert.ok(readProbe(stdout, keys))
  for (const length of [0, 5, stdout.length - 1, stdout.length - 4])
    assert.equal(readProbe(stdout.slice(0, length), keys), undefined)
})

test('a share that does not answer makes only the items on it unknown', () => {
  // A replacement of timeout that finds this one path hanging.
  const folder = mkdtempSync(join(tmpdir(), 'croft-late-'))
  writeFileSync(join(folder, 'timeout'), '#!/bin/sh\ncase "$*" in */hangs) exit 124 ;; esac\nexit 0\n', { mode: 0o755 })
  const asks: readonly HostQuestion[] = [
    { ask: 'file', path: '/mnt/nas/hangs' },
    { ask: 'file', path: '/etc/passwd' },
  ]
  const { text, keys } = probeInput(asks)
  const program = PROBE.replaceAll('PATH=/usr/local/sbin', `PATH=${folder}:/usr/local/sbin`)
  const { stdout } = spawnSync('sh', ['-c', program], { input: text, encoding: 'utf8' })
  const { answers } = readProbe(stdout, keys) ?? {}
  assert.deepEqual(answers?.get('file /mnt/nas/hangs'), { late: '1' })
  assert.equal(answers?.get('file /etc/passwd')?.kind, 'file')
  rmSync(folder, { recursive: true })
  const item = { type: 'file', name: '/mnt/nas/hangs', spec: { content: 'x' } } as const
  const resource = { desired: { type: 'item', item: { host: 'cow', item, reboot: 'refused' } } } as unknown as Resource
  const observed = { close: { config: { look: { answers } }, atMs: 0 } } as unknown as ObservedResource
  const [change] = rules.diff(resource, observed)
  assert.match(change?.blocked?.message ?? '', /^\/mnt\/nas\/hangs does not answer/)
  assert.equal(rules.readiness?.(resource, observed).ready, false)
})
