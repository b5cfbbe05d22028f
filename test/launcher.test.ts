import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

interface Launcher {
  readonly NURSERY: string
  codeCache(env: Readonly<Record<string, string>>): string | undefined
}

const { NURSERY, codeCache } = createRequire(import.meta.url)('../bin/runtime.js') as Launcher

test('every launcher begins with the same nursery', () => {
  const root = join(import.meta.dirname, '..')
  assert.ok(readFileSync(join(root, 'bin', 'croft'), 'utf8').startsWith(`#!/usr/bin/env -S node ${NURSERY}\n`))
  assert.ok(readFileSync(join(root, 'scripts', 'installed-tree.ts'), 'utf8').includes(`"$lib/node" ${NURSERY} "$lib`))
})

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'croft-launcher-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

/** A home in which an earlier run left compiled code. */
function homeWithCode(t: TestContext) {
  const home = temporaryDirectory(t)
  const [own, code] = [join(home, '.cache', 'croft'), join(home, '.cache', 'croft', 'code')]
  const version = join(code, 'v24.0.0-x64')
  for (const made of [join(home, '.cache'), own, code, version]) mkdirSync(made, { mode: 0o700 })
  const compiled = join(version, '0123.cache')
  writeFileSync(compiled, 'code', { mode: 0o600 })
  return { home, own, code, version, compiled, cache: () => codeCache({ HOME: home }) }
}

test('compiled code of an earlier run is taken where only this user could have written it', (t) => {
  const { code, compiled, cache } = homeWithCode(t)
  assert.equal(cache(), code)
  assert.ok(existsSync(compiled))
})

test('a folder for compiled code that is made is for this user alone', (t) => {
  const home = temporaryDirectory(t)
  assert.equal(codeCache({ HOME: home }), join(home, '.cache', 'croft', 'code'))
  assert.equal(statSync(join(home, '.cache', 'croft', 'code')).mode & 0o777, 0o700)
  assert.equal(codeCache({}), undefined)
})

for (const [place, mode] of [
  ['own', 0o770],
  ['own', 0o757],
  ['code', 0o720],
  ['code', 0o702],
  // Its files may have been open to others.
  ['code', 0o755],
] as const)
  test(`compiled code is deleted where others could write it: ${place} ${mode.toString(8)}`, (t) => {
    const made = homeWithCode(t)
    chmodSync(made[place], mode)
    assert.equal(made.cache(), made.code, 'an empty folder takes its place')
    assert.ok(!existsSync(made.compiled))
    assert.equal(statSync(made.code).mode & 0o777, 0o700)
    assert.equal(statSync(made.own).mode & 0o022, 0)
  })

for (const place of ['own', 'code'] as const)
  test(`compiled code of another user is not taken: ${place}`, { skip: process.getuid?.() !== 0 }, (t) => {
    const made = homeWithCode(t)
    chownSync(made[place], 4321, 4321)
    assert.equal(made.cache(), undefined)
    assert.ok(existsSync(made.compiled), 'nothing of another user is removed')
  })

test('no compiled code is taken through a link', (t) => {
  const made = homeWithCode(t)
  const home = temporaryDirectory(t)
  mkdirSync(join(home, '.cache', 'croft'), { recursive: true, mode: 0o700 })
  symlinkSync(made.code, join(home, '.cache', 'croft', 'code'))
  assert.equal(codeCache({ HOME: home }), undefined)
})
