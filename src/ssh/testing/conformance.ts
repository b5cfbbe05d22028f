import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Shell, ShellFailure } from '../../lib/shell.ts'

export interface ConformanceSubject {
  readonly shell: Shell
  /** A directory on that computer in which the suite may write; empty at the start. */
  readonly directory: string
  /** Reports whether a file exists, without using the shell. */
  exists(path: string): Promise<boolean>
}

type Rule = (what: string, body: (subject: ConformanceSubject) => Promise<void>) => void

/** Rules about files for every Shell, simulated ones included: they must not accept what a real one refuses. */
export function fileConformance(name: string, open: () => Promise<ConformanceSubject>): void {
  fileRules((what, body) => void test(`${name}: ${what}`, async () => body(await open())))
}

function fileRules(rule: Rule): void {
  rule('a file is written whole and read back byte for byte, with its rights', async ({ shell, directory }) => {
    const path = `${directory}/a file 'with' $signs`
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256)
    await shell.writeFile(path, bytes, { mode: 0o600 })
    assert.deepEqual(await shell.readFile(path), bytes)
    const stat = await shell.run(['stat', '-c', '%a', '--', path])
    assert.equal(stat.stdout.trim(), '600')
    await shell.writeFile(path, 'short')
    assert.equal(Buffer.from((await shell.readFile(path)) ?? []).toString(), 'short')
    assert.equal((await shell.run(['stat', '-c', '%a', '--', path])).stdout.trim(), '644')
    const left = await shell.run(['sh', '-c', 'ls -A "$1" | grep -c "^.croft" || :', 'sh', directory])
    assert.equal(left.stdout.trim(), '0', 'no half file is left behind')
  })

  rule('a file that is not there is undefined; a directory in its place is a failure', async ({ shell, directory }) => {
    assert.equal(await shell.readFile(`${directory}/nothing`), undefined)
    await assert.rejects(shell.readFile(directory), (error) => failure(error, 'no', 'unreadable'))
    await assert.rejects(shell.writeFile(`${directory}/no/such/folder`, 'x'), (error) =>
      failure(error, 'no', 'not-found'),
    )
  })

  rule('[S-15] a path that leads elsewhere is refused', async ({ shell }) => {
    for (const path of ['relative', '/tmp/../etc/x', '', '/a\0b'])
      await assert.rejects(shell.writeFile(path, 'x'), (error) => failure(error, 'no', 'bad-argument'))
  })
}

/** The contract of every Shell, over any transport. */
export function shellConformance(
  name: string,
  open: () => Promise<ConformanceSubject | { readonly skip: string }>,
): void {
  const about = (what: string) => `${name}: ${what}`
  let opened: ReturnType<typeof open> | undefined
  const rule = (what: string, body: (subject: ConformanceSubject) => Promise<void>) =>
    void test(about(what), { timeout: 240_000 }, async (t) => {
      opened ??= open()
      const subject = await opened
      if ('skip' in subject) return t.skip(subject.skip)
      await body(subject)
    })

  rule('a program gives its output and its code, and a code is not a failure', async ({ shell }) => {
    assert.deepEqual(await shell.run(['sh', '-c', 'echo out; echo err >&2; exit 7']), {
      code: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    assert.equal((await shell.run(['sh', '-c', 'exit 255'])).code, 255)
    assert.equal((await shell.run(['true'])).code, 0)
  })

  rule('a program that is not there is an answer as well', async ({ shell }) => {
    assert.equal((await shell.run(['/no/such/program'])).code, 127)
  })

  rule('input reaches the program whole, bytes and all', async ({ shell }) => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256)
    const counted = await shell.run(['sh', '-c', 'wc -c; exit 3'], { input: bytes })
    assert.deepEqual([counted.stdout.trim(), counted.code], ['70000', 3])
    assert.equal((await shell.run(['cat'], { input: 'a\nb' })).stdout, 'a\nb')
    assert.equal((await shell.run(['cat'])).stdout, '')
  })

  rule('[S-01] any words arrive as they were given', async ({ shell }) => {
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
      '\\\\0101',
      '%s',
      '!x',
      '*',
      '~',
      'ü€😀',
      '\u0001\u007f',
      'a\n\n',
      '-',
      '&&',
      '>x',
      '#',
    ]
    const word = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.constantFrom(...hostile))
    const clean = word.map((text) => text.replaceAll('\0', '').toWellFormed())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(clean, { maxLength: 6 }), { minLength: 1, maxLength: 12 }), async (many) => {
        // Use one program for many lists of words: the test is about quoting, not about connecting.
        for (const argv of [many.flat()]) {
          const ran = await shell.run(['printf', '%s\\0', ...argv, 'end'])
          assert.deepEqual(ran.stdout.split('\0').slice(0, -1), [...argv, 'end'])
        }
      }),
      { numRuns: 25 },
    )
  })

  rule('[S-01] no word makes anything happen', async ({ shell, directory, exists }) => {
    const canary = `${directory}/canary`
    const attacks = [
      `$(touch ${canary})`,
      `\`touch ${canary}\``,
      `;touch ${canary};`,
      `'; touch ${canary}; '`,
      `\n touch ${canary}\n`,
      `"$(touch ${canary})"`,
      `\\'; touch ${canary} #`,
    ]
    for (const attack of attacks) {
      await shell.run(['echo', attack])
      await shell.run([attack]).catch(() => undefined)
      await shell.writeFile(`${directory}/${attack.replaceAll('/', '_')}`, attack)
    }
    assert.equal(await exists(canary), false)
  })

  rule('a word with a NUL character is refused before anything runs', async ({ shell }) => {
    await assert.rejects(shell.run(['echo', 'a\0b']), (error) => failure(error, 'no', 'bad-argument'))
  })

  fileRules(rule)

  rule('a program that takes too long is ended, and nobody knows what it did', async ({ shell }) => {
    await assert.rejects(shell.run(['sleep', '30'], { timeoutMs: 300 }), (error) => failure(error, 'maybe', 'timeout'))
  })

  rule('a program that nobody waits for is ended', async ({ shell }) => {
    const stop = new AbortController()
    const running = shell.run(['sh', '-c', 'echo begun; sleep 30'], { signal: stop.signal })
    await shell.run(['true'])
    stop.abort()
    await assert.rejects(running, (error) => error instanceof ShellFailure && error.code === 'aborted')
    await assert.rejects(shell.run(['true'], { signal: stop.signal }), (error) => failure(error, 'no', 'aborted'))
  })

  rule('what nobody waits for any more is ended, with everything that it has started', async ({ shell, directory }) => {
    const stop = new AbortController()
    const note = `${directory}/child`
    const script = 'sleep 600 & echo "$!" >"$1.new"; mv "$1.new" "$1"; wait'
    const running = shell.run(['sh', '-c', script, 'sh', note], { signal: stop.signal })
    running.catch(() => undefined)
    let child = ''
    while (child === '')
      child = Buffer.from((await shell.readFile(note)) ?? [])
        .toString()
        .trim()
    stop.abort()
    await assert.rejects(running, (error) => failure(error, 'maybe', 'aborted'))
    // It may take a moment until its parent reaps it.
    const alive = async () =>
      (await shell.run(['sh', '-c', 'grep -q "^State:.[^Z]" "/proc/$1/status"', 'sh', child])).code
    for (let looks = 0; (await alive()) === 0; looks++) assert.ok(looks < 3_000, `${child} still runs`)
  })

  rule('a program that says too much is ended', async ({ shell }) => {
    await assert.rejects(shell.run(['cat', '/dev/zero']), (error) => failure(error, 'maybe', 'too-large'))
  })

  rule('many programs at once all come back, each with its own answer', async ({ shell }) => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => shell.run(['echo', String(index)])))
    assert.deepEqual(
      answers.map(({ stdout }) => stdout.trim()),
      Array.from({ length: 30 }, (_, index) => String(index)),
    )
  })

  rule('after it is closed it says so', async ({ shell }) => {
    await shell.close()
    await shell.close()
    await assert.rejects(shell.run(['true']), (error) => failure(error, 'no', 'closed'))
  })
}

function failure(error: unknown, ran: string, code: string): boolean {
  assert.ok(error instanceof ShellFailure, String(error))
  assert.deepEqual([error.ran, error.code], [ran, code], error.message)
  return true
}
