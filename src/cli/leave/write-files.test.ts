import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { writeHandedFiles } from './write-files.ts'

const modeOf = (file: string) => (statSync(file).mode & 0o7777).toString(8)

test('files of a cluster are readable by their owner alone, and a directory that was there keeps its mode', async (t) => {
  const place = mkdtempSync(path.join(tmpdir(), 'leave-'))
  t.after(() => rmSync(place, { recursive: true }))
  const files = [
    { path: 'home/token', text: 'K10…' },
    { path: 'inventory.ini', text: '[home]\n' },
  ]
  const before = process.umask(0)
  try {
    const shared = path.join(place, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    for (const [to, mode] of [
      [shared, '1777'],
      [path.join(place, 'new', 'deeper'), '700'],
    ] as const) {
      for (const _again of [1, 2]) await writeHandedFiles(to, files)
      assert.equal(modeOf(to), mode)
      assert.equal(modeOf(path.join(to, 'home')), '700')
      for (const { path: name, text } of files) {
        assert.equal(modeOf(path.join(to, name)), '600')
        assert.equal(readFileSync(path.join(to, name), 'utf8'), text)
      }
    }
  } finally {
    process.umask(before)
  }
})
