import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

interface Launcher {
  readonly BRIEF: readonly string[]
  readonly WORKING: readonly (readonly [working: string, otherwise: string])[]
}

const { BRIEF, WORKING } = createRequire(import.meta.url)('../bin/runtime.js') as Launcher

/** What V8 compares before it takes code that was compiled in another process. */
function tagAfter(flags: readonly string[], settings: readonly string[]): string {
  const program = `const v8 = require('node:v8')
    for (const flag of ${JSON.stringify(settings)}) v8.setFlagsFromString(flag)
    console.log(v8.cachedDataVersionTag())`
  return execFileSync(process.execPath, [...flags, '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
}

const OTHER_NODE = !process.version.startsWith('v24.') && 'only Node 24 is told flags for its work'

test('while nothing works, the flags are those with which Node compiled its own modules', { skip: OTHER_NODE }, () => {
  const own = tagAfter([], [])
  const [working, otherwise] = [WORKING.map(([flag]) => flag), WORKING.map(([, flag]) => flag)]
  const begun = '--initial-old-space-size=0'
  assert.equal(tagAfter(BRIEF, [begun]), own)
  assert.equal(tagAfter(BRIEF, [begun, ...working, ...otherwise]), own)
  assert.notEqual(tagAfter(BRIEF, []), own, 'if it were the same, nothing would have to be taken back')
  assert.notEqual(tagAfter(BRIEF, [begun, ...working]), own)
})

test('every launcher begins with the same flags', () => {
  const words = ` ${BRIEF.join(' ')}`
  const [first = ''] = readFileSync(join(ROOT, 'bin', 'croft'), 'utf8').split('\n')
  assert.ok(first.endsWith(`node${words}`), first)
  assert.ok(first.length < 256, 'Linux reads no more of it')
  assert.ok(readFileSync(join(ROOT, 'scripts', 'installed-tree.ts'), 'utf8').includes(`"$lib/node"${words} `))
})
