import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Clock, systemClock } from '../lib/clock.ts'
import { plainText } from './answer.ts'
import { type ChildOptions, runChild } from './child.ts'

/* A host may send anything for any time: the program that connects to it passes it all on to us. */

const OPTIONS: ChildOptions = {
  env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
  input: [],
  timeoutMs: 600_000,
  maxBytes: 100_000,
  group: true,
  clock: systemClock,
}

for (const [what, script] of Object.entries({
  'an endless answer': 'yes',
  'endless complaints': 'yes >&2',
  'both at once': 'yes & yes >&2',
  'one line without an end': "yes | tr -d '\\n'",
  'an endless banner before anything else': 'while :; do echo banner >&2; echo; done',
}))
  test(`[S-50] ${what} of a host is cut at its bound, and who sent it is ended`, async () => {
    const { cut, stdout, stderr } = await runChild(['/bin/sh', '-c', script], OPTIONS)
    assert.equal(cut, 'too-large')
    assert.ok(stdout.length + stderr.length <= OPTIONS.maxBytes)
  })

test('[S-50] a host that says nothing and never ends is ended when nobody waits any more', async () => {
  const stopping = new AbortController()
  const asked = runChild(['/bin/sh', '-c', 'sleep 1000'], { ...OPTIONS, signal: stopping.signal })
  stopping.abort()
  assert.equal((await asked).cut, 'aborted')
})

test('[S-50] a host that goes on a byte at a time gets no more time by it', async () => {
  const patience: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    sleep: () =>
      new Promise<void>((over) => {
        patience.push(over)
      }),
  }
  const folder = mkdtempSync(join(tmpdir(), 'croft-drip-'))
  const dripped = join(folder, 'dripped')
  try {
    const script = `for byte in 1 2 3 4 5; do printf x; sleep 0.05; done; touch '${dripped}'; while :; do printf x; sleep 0.05; done`
    const asked = runChild(['/bin/sh', '-c', script], { ...OPTIONS, clock })
    while (!existsSync(dripped)) await setTimeout(20)
    // The deadline of the start: no byte has extended it.
    patience[0]?.()
    assert.equal((await asked).cut, 'timeout')
    assert.equal(patience.length, 1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('[S-50] what a host says moves no cursor, turns no text round and is not without end', () => {
  for (const text of [
    '\u001b[2J\u001b[Hroot#',
    '\u001b]0;title\u0007',
    'a\rb',
    'a\u202eb',
    '\u009b2J',
    'x'.repeat(1e6),
    '\u0000',
  ]) {
    const shown = plainText(text)
    const codes = [...shown].map((letter) => letter.codePointAt(0) ?? 0)
    assert.ok(!codes.some((code) => code < 32 || (code > 126 && code < 160) || (code > 0x2029 && code < 0x202f)), shown)
    assert.ok(shown.length <= 401)
  }
})
