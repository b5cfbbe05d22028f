import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { testEnvironment } from '../scripts/test-environment.ts'
import { endAll, MARK, SEES_PROCESSES, ticksOf } from '../scripts/test-processes.ts'
import { createProgress } from '../scripts/test-progress.ts'
import type { ReportLine } from '../scripts/test-reporter.ts'
import { type FileRun, judgeFile, judgeRuns, type Strictness, secondTries } from '../scripts/test-results.ts'
import { NEEDS_EVIDENCE } from './evidence/of-others.ts'

const ROOT = dirname(import.meta.dirname)
const ORDINARY: Strictness = { ci: false, long: false }
const PASSED: ReportLine = { type: 'passed', name: 'adds' }
const ENDED: ReportLine = { type: 'ended' }

function fileRun(lines: readonly ReportLine[], exit: Partial<FileRun['exit']> = {}): FileRun {
  return {
    file: 'src/a.test.ts',
    lines,
    output: '',
    exit: { code: 0, signal: null, ...exit },
    tookMs: 1,
  }
}

describe('what the run of a test file means', () => {
  test('tests are counted, and notes are kept', () => {
    const result = judgeFile(fileRun([PASSED, { type: 'note', text: '200 seeds' }, PASSED, ENDED]), ORDINARY)
    assert.deepEqual(result, { passed: 2, skipped: [], withoutEvidence: 0, failures: [], notes: ['200 seeds'] })
  })

  test('a failed test is named with its place and its error', () => {
    const lines: ReportLine[] = [PASSED, { type: 'failed', name: 'breaks', line: 7, error: 'one\ntwo' }, ENDED]
    const { passed, failures } = judgeFile(fileRun(lines, { code: 1 }), ORDINARY)
    assert.equal(passed, 1)
    assert.deepEqual(failures, ['src/a.test.ts:7 breaks\n    one\n    two'])
  })

  test('a file that hangs after a failed test is told for both', () => {
    const lines: ReportLine[] = [{ type: 'failed', name: 'breaks', line: 7, error: 'one' }]
    const { failures } = judgeFile(fileRun(lines, { code: null, signal: 'SIGKILL', stopped: 'late' }), ORDINARY)
    assert.equal(failures.length, 2)
  })

  test('what hangs is named, with the tests in which it does', () => {
    const lines: ReportLine[] = [
      { type: 'began', name: 'adds' },
      { type: 'began', name: 'waits' },
      PASSED,
      { type: 'began', name: 'asks' },
    ]
    const { failures } = judgeFile(fileRun(lines, { code: null, signal: 'SIGKILL', stopped: 'quiet' }), ORDINARY)
    assert.equal(failures.length, 1)
    assert.match(
      failures[0] ?? '',
      /a minute without output and without processor time[^\n]*\n {4}in: waits\n {4}in: asks$/,
    )
  })

  const broken: readonly [string, FileRun, RegExp][] = [
    ['is killed for taking too long', fileRun([PASSED], { code: null, signal: 'SIGKILL', stopped: 'late' }), /in time/],
    ['is ended by a signal', fileRun([PASSED, ENDED], { code: null, signal: 'SIGSEGV' }), /ended by SIGSEGV/],
    ['ends badly though its tests passed', fileRun([PASSED, ENDED], { code: 7 }), /exit code 7/],
    ['calls process.exit on the way', fileRun([PASSED]), /before its tests did/],
    ['has no tests', fileRun([ENDED]), /has no tests/],
  ]
  for (const [what, run, expected] of broken) {
    test(`a file that ${what} has failed`, () => {
      const { failures } = judgeFile(run, ORDINARY)
      assert.equal(failures.length, 1)
      assert.match(failures[0] ?? '', expected)
    })
  }

  for (const ci of [false, true]) {
    test(`a test that needs other people's text is counted apart${ci ? ' in CI too' : ''}`, () => {
      const lines: ReportLine[] = [{ type: 'skipped', name: 'some', reason: NEEDS_EVIDENCE }, ENDED]
      const result = judgeFile(fileRun(lines), { ci, long: false })
      assert.deepEqual(result, { passed: 0, skipped: [], withoutEvidence: 1, failures: [], notes: [] })
    })
  }

  const skips: readonly [string, Strictness, number][] = [
    ['no gpg', { ci: false, long: false }, 0],
    ['no gpg', { ci: true, long: false }, 1],
    ['todo: later', { ci: true, long: false }, 1],
    ['long run only', { ci: true, long: false }, 0],
    ['long run only: 2,000 seeds', { ci: false, long: false }, 0],
    ['long run only', { ci: false, long: true }, 1],
  ]
  for (const [reason, strictness, failed] of skips) {
    const where = `${strictness.ci ? 'in CI' : 'at home'}${strictness.long ? ', long run' : ''}`
    test(`a test skipped for "${reason}" ${failed === 0 ? 'is let pass' : 'has failed'} ${where}`, () => {
      const result = judgeFile(fileRun([PASSED, { type: 'skipped', name: 'some', reason }, ENDED]), strictness)
      assert.equal(result.failures.length, failed)
      assert.equal(result.passed, 1)
      assert.deepEqual(result.skipped, [`some (${reason})`])
    })
  }
})

describe('what failed runs once more, alone', () => {
  const failing = (count: number) => Array.from({ length: count }, () => fileRun([], { code: 1 }))
  const rows: readonly [string, number, Strictness, number][] = [
    ['where nothing failed, nothing', 0, ORDINARY, 0],
    ['a single file', 1, ORDINARY, 1],
    ['in CI as well', 4, { ci: true, long: false }, 4],
    ['many files fail for a reason', 5, ORDINARY, 0],
    ['not in a long run, whose seeds say it all', 1, { ci: false, long: true }, 0],
  ]
  for (const [what, failed, strictness, again] of rows) {
    test(what, () => assert.equal(secondTries(failing(failed), strictness).length, again))
  }
})

describe('what all files together mean', () => {
  const runs = [fileRun([PASSED, ENDED]), fileRun([PASSED, PASSED, ENDED])]
  test('tests are added up', () => {
    const broken = fileRun([{ type: 'failed', name: 'breaks', line: 7, error: 'one' }], { code: 1 })
    const { passed, failed, failures } = judgeRuns([...runs, broken], [], ORDINARY)
    assert.deepEqual([passed, failed, failures.length], [3, 1, 1])
  })

  for (const [ci, failed] of [
    [false, 0],
    [true, 1],
  ] as const)
    test(`a file that passes only the second time ${failed === 0 ? 'is let pass' : 'has failed'} ${ci ? 'in CI' : 'at home'}`, () =>
      assert.equal(judgeRuns(runs, ['src/a.test.ts:7 breaks'], { ci, long: false }).failed, failed))
})

describe('what a test sees of the computer', () => {
  const person = {
    PATH: '/bin',
    HOME: '/home/anna',
    TMPDIR: '/var/tmp',
    CI: 'true',
    CROFT_LONG: '1',
    CROFT_STATE: '/home/anna/croft.db',
    https_proxy: 'http://proxy.example:3128',
    HTTPS_PROXY: 'http://proxy.example:3128',
    npm_config_registry: 'https://npm.example',
    NODE_ENV: 'production',
    NODE_OPTIONS: '--max-old-space-size=100',
    NODE_EXTRA_CA_CERTS: '/nowhere/ca.pem',
    GIT_DIR: '/home/anna/.git',
    SSH_AUTH_SOCK: '/run/agent',
    LC_ALL: 'de_DE.UTF-8',
    LANG: 'de_DE.UTF-8',
    TZ: 'Asia/Tokyo',
    KUBECONFIG: '/home/anna/.kube/config',
  }

  test('nothing that a person has set, but where programs and temporary files are, and how tests are run', () => {
    assert.deepEqual(testEnvironment(person, '/scratch/home'), {
      PATH: '/bin',
      TMPDIR: '/var/tmp',
      CI: 'true',
      CROFT_LONG: '1',
      HOME: '/scratch/home',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'dumb',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
    })
  })
})

describe('what a run has started ends with it', { skip: SEES_PROCESSES ? false : 'needs /proc' }, () => {
  const started = async (mark: string, script: string): Promise<number> => {
    const child = spawn('sh', ['-c', script], {
      env: { PATH: process.env.PATH, [MARK]: mark },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child.stdout.setEncoding('utf8')
    const [told] = (await once(child.stdout, 'data')) as [string]
    return Number(told)
  }
  const runs = (pid: number) => {
    // A zombie has ended, and waits for a parent that looks.
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
    return /\) [^ZX]/.test(stat)
  }
  const until = async (is: () => boolean) => {
    while (!is()) await setImmediate()
  }

  test('also what left its parent, its group and its environment', async () => {
    const mark = `runner-test.${process.pid}/a/`
    const own = await started(mark, 'setsid sh -c "echo \\$\\$; exec sleep 1000" & wait')
    const bare = await started(mark, 'sh -c "env -i sleep 1000 & echo \\$!; wait" & wait')
    const other = await started(`runner-test.${process.pid}/b/`, 'echo $$; exec sleep 1000')
    assert.deepEqual([runs(own), runs(bare), runs(other)], [true, true, true])
    endAll(mark)
    await until(() => !runs(own) && !runs(bare))
    assert.equal(runs(other), true, 'what another file has started runs on')
    endAll(`runner-test.${process.pid}/`)
    await until(() => !runs(other))
  })

  test('and while it works its processor time grows', async () => {
    const mark = `runner-test.${process.pid}/c/`
    await started(mark, 'echo $$; while :; do :; done')
    const before = ticksOf(mark)
    await until(() => ticksOf(mark) > before + 1)
    endAll(mark)
  })
})

describe('how far a run is', () => {
  const shown = (isTTY: boolean) => {
    const written: string[] = []
    let ms = 0
    const screen = { isTTY, columns: 60, write: (text: string) => written.push(text) }
    const progress = createProgress(
      screen,
      new Map([
        ['long', 300],
        ['short', 100],
      ]),
      () => ms,
    )
    progress.begin('long')
    ms = 360_000
    progress.end('long', true)
    progress.begin('short')
    progress.print('done with it\n')
    progress.close()
    return written
  }

  test('is said in the last line of a terminal, with an estimate of the rest', () => {
    const written = shown(true)
    assert.ok(written.includes('1 of 2 files, about 2 min left: short'), written.join('|'))
    assert.equal(written.at(-1), '\r\x1b[2K', 'and nothing of it stays')
  })

  test('is not said where nobody looks', () => assert.deepEqual(shown(false), ['done with it\n']))
})

test('the runner begins without the build, the clients and the checks', () => {
  const seen = new Set<string>()
  const next = ['scripts/test.ts']
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/^import (?!type ).*? from '(\.[^']*)'/gms))
      next.push(join(dirname(file), name))
  }
  assert.ok(seen.size < 15, [...seen].join(' '))
  assert.deepEqual(
    [...seen].filter((file) => file.startsWith('src/')),
    [],
  )
})
