import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { programName } from './program-name.ts'

const room = mkdtempSync(path.join(tmpdir(), 'croft-name-'))
after(() => rmSync(room, { recursive: true }))
const put = (name: string) => {
  mkdirSync(path.dirname(path.join(room, name)), { recursive: true })
  writeFileSync(path.join(room, name), '')
}

test('a program is called by its name where PATH leads to it, else by its path', () => {
  put('clone/bin/croft')
  put('other/croft')
  put('usr/bin/croft')
  put('usr/lib/croft/bin/croft')
  put('a b/bin/croft')
  mkdirSync(path.join(room, 'links'))
  symlinkSync(path.join(room, 'clone/bin/croft'), path.join(room, 'links/croft'))
  const at = (root: string, ...searched: string[]) =>
    programName(path.join(room, root), searched.map((one) => path.join(room, one)).join(path.delimiter))
  assert.equal(at('clone', 'links'), 'croft')
  assert.equal(at('clone', 'none', 'clone/bin'), 'croft')
  assert.equal(at('clone', 'other', 'links'), path.join(room, 'clone/bin/croft'))
  assert.equal(at('clone'), path.join(room, 'clone/bin/croft'))
  assert.equal(at('usr/lib/croft', 'usr/bin'), 'croft')
  assert.equal(at('usr/lib/croft'), path.join(room, 'usr/bin/croft'))
  assert.equal(at('a b'), `'${path.join(room, 'a b/bin/croft')}'`)
})
