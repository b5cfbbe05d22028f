import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { beginJob } from './jobs.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'croft-job-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Runs a download's body in the real shell, with programs that record their calls. */
function fetch(checksum: string, decompression = '') {
  const words = ['uri', 'default', directory, 'base.qcow2', 'https://example.org/x', 'sha256', checksum, decompression]
  const [, , , , , , , body = '', ...rest] = beginJob('id', 'fetch', words)
  for (const name of ['curl', 'virsh'])
    writeFileSync(join(directory, name), `#!/bin/sh\necho ${name} >>${directory}/called\n`, { mode: 0o755 })
  const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` }
  return spawnSync('sh', ['-c', body, ...rest], { env, encoding: 'utf8' })
}
const called = () => readFileSync(join(directory, 'called'), 'utf8').trim()
const sumOf = (text: string) => createHash('sha256').update(text).digest('hex')

test('a download never writes over a file that has its name: libvirt did not list it, and disks may stand on it', () => {
  const base = join(directory, 'base.qcow2')
  writeFileSync(base, 'january')
  for (const [checksum, decompression] of [
    [sumOf('january'), ''],
    ['', ''],
    [sumOf('packed'), 'gz'],
  ] as const) {
    rmSync(join(directory, 'called'), { force: true })
    assert.equal(fetch(checksum, decompression).status, 0)
    // libvirt is told to refresh, so that the next survey shows it.
    assert.equal(called(), 'virsh')
    assert.equal(readFileSync(base, 'utf8'), 'january')
  }
  const other = fetch(sumOf('march'))
  assert.deepEqual([other.status, other.stdout.trim()], [1, 'croft: ChecksumMismatch'])
  assert.equal(readFileSync(base, 'utf8'), 'january')
})
