import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { programFiles } from './disk-cache.ts'

/** Every file of ours that is loaded along with this one. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}) .*?from '(\.[^']+)'$/gm)) {
    loadedWith(join(dirname(file), path ?? ''), found)
  }
  return found
}

test('what was judged is forgotten when any file that judges has changed', () => {
  const stamped = new Set(programFiles())
  const judging = loadedWith(join(import.meta.dirname, 'files/read-files.ts'))
  assert.ok(judging.size > 50, `only ${judging.size} files were found to have a say`)
  assert.deepEqual(
    [...judging].filter((file) => !stamped.has(file)),
    [],
  )
})
