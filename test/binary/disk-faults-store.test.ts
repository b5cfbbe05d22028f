import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, scratch } from './children.ts'
import { buildDiskFaults } from './disk-faults.ts'

after(endAll)

const directory = scratch()
const library = buildDiskFaults(directory)
const skip = library === undefined && process.env.CI === undefined ? 'gcc is not installed' : false

test('[F-24] the disk fails at every write, fsync and rename of the store: what was acknowledged is there, and the next start goes on', {
  skip,
}, (t) => {
  const program = path.join(import.meta.dirname, 'disk-faults-store.ts')
  const env = { PATH: process.env.PATH ?? '', LD_PRELOAD: library ?? '' }
  const said = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', program, directory], { env })
  const places = JSON.parse(said.toString()) as Readonly<Record<string, number>>
  assert.ok((places.write ?? 0) > 50 && (places.fsync ?? 0) > 10, said.toString())
  t.diagnostic(`${places.write} writes and ${places.fsync} fsyncs, each with EIO once and with ENOSPC from there on`)
})
