import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { apt, aptBack } from './apt.ts'
import { seenIn } from './ask.ts'
import { BATCH, batchOf, readBatch } from './batch.ts'
import type { Command } from './command.ts'
import { rulesOf } from './items/registry.ts'

/** The real program on a test folder, on a host without systemd and with fake dpkg and apt-get. */
function host(programs: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'croft-batch-'))
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  const program = BATCH.replaceAll('/var/lib/croft', folder)
    .replaceAll('/run/systemd/system', join(folder, 'none'))
    .replaceAll('PATH=/usr/local/sbin', `PATH=${folder}:/usr/local/sbin`)
  const perform = (...commands: readonly Extract<Command, { readonly do: 'run' }>[]) => {
    const { text } = batchOf(commands)
    const { stdout } = spawnSync('sh', ['-c', program], { input: text, encoding: 'utf8' })
    return readBatch(stdout, commands.length)
  }
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '')
  return { folder, perform, read, done: () => rmSync(folder, { recursive: true }) }
}

const NOTED = 'echo "$(basename "$0") $*" >>"$(dirname "$0")/noted"'
const packages = (argv: readonly string[], timeoutMs: number) =>
  ({ do: 'run', argv, packages: true, timeoutMs }) as const

test('package work goes on when croft no longer waits: dpkg is never ended in the middle', () => {
  const { folder, perform, read, done } = host({ dpkg: '' })
  // The test itself ends it: no time passes but the limit.
  const go = join(folder, 'go')
  spawnSync('mkfifo', [go])
  const answer = perform(packages(['sh', '-c', `read x <${go}; echo whole >${folder}/end`, 'sh'], 1_000))
  assert.ok(answer.is === 'failed' && answer.code === 124, JSON.stringify(answer))
  assert.equal(read('end'), '')
  spawnSync('sh', ['-c', `echo x >${go}; until [ -s ${folder}/end ]; do :; done`], { timeout: 20_000 })
  assert.equal(read('end'), 'whole\n')
  done()
})

test('what dpkg left half done is finished first', () => {
  const { perform, read, done } = host({
    dpkg: `${NOTED}; [ "$1" != --audit ] || echo 'curl is half configured'`,
    'apt-get': NOTED,
  })
  assert.equal(perform(apt('remove', '--', 'curl')).is, 'done')
  assert.match(read('noted'), /^dpkg --audit\ndpkg --configure -a\napt-get -y .* remove -- curl\n$/)
  done()
})

test('an installation that fails fetches the lists and is tried once more; what apt says is told', () => {
  const { perform, read, done } = host({
    dpkg: '',
    'apt-get': `${NOTED}; case "$*" in *update*) exit 0 ;; esac; [ "$(grep -c install "$(dirname "$0")/noted")" = 2 ] || { echo 'E: Unable to locate package'; exit 100; }`,
  })
  assert.equal(perform(apt('install', '--', 'curl')).is, 'done')
  assert.match(read('noted'), /install -- curl\napt-get .*update\napt-get .*install -- curl\n$/)
  done()
  const broken = host({ dpkg: '', 'apt-get': `echo 'E: Unable to locate package'; exit 100` })
  const answer = broken.perform(apt('install', '--', 'curl'))
  assert.ok(
    answer.is === 'failed' && answer.code === 100 && /Unable to locate/.test(answer.said),
    JSON.stringify(answer),
  )
  broken.done()
})

test('every call that changes packages is package work, to and fro', () => {
  for (const spec of [{}, { absent: true }, { version: '1.1' }])
    for (const status of ['ii', 'none']) {
      const item = { type: 'package', name: 'curl', spec } as const
      const rules = rulesOf(item)
      const seen = seenIn(new Map([['package curl', { status, version: '1.0' }]]))
      const all = [...rules.commands(item, seen, rules.diff(item, seen)), ...(rules.undo?.(item, seen) ?? [])]
      assert.ok(
        all.every((one) => one.do === 'run' && one.packages === true),
        JSON.stringify(all),
      )
    }
  // The archive no longer has it: then the available version, and an installed one stays.
  assert.deepEqual(
    aptBack('curl', '1.0').map(
      (one) => one.do === 'run' && [one.ok ?? [0], one.argv.at(-1), one.argv.includes('--no-upgrade')],
    ),
    [
      [[0, 100], 'curl=1.0', false],
      [[0], 'curl', true],
    ],
  )
})
