// Builds this clone for bin/croft, beside its sources: see bin/built.js. `npm ci` and every `npm run` do it when it is stale.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from './build.ts'

interface Built {
  readonly FOLDER: string
  readonly STAMP: string
  sourcesOf(root: string): { readonly files: number; readonly newestMs: number }
}

const { FOLDER, STAMP, sourcesOf } = createRequire(import.meta.url)('../bin/built.js') as Built

const root = dirname(import.meta.dirname)
const place = join(root, FOLDER)
const half = `${place}-${process.pid}`
// The clock of files may be behind ours: what was changed a moment ago may or may not be in what is built.
const beganMs = Date.now() - 1_000
const { files } = sourcesOf(root)
try {
  await build(half)
  writeFileSync(join(half, STAMP), JSON.stringify({ files, beganMs }))
  rmSync(place, { recursive: true, force: true })
  renameSync(half, place)
} finally {
  rmSync(half, { recursive: true, force: true })
}
