import { test } from 'node:test'
import { CHAPTERS, killedEverywhere } from './addon-chapters.ts'

const WHICH: ReadonlySet<string> = new Set(['install', 'upgrade', 'prune'])

for (const [index, chapter] of CHAPTERS.entries()) {
  if (!WHICH.has(chapter.what)) continue
  test(`[R21] [A51] ${chapter.what}: croft killed at any effect ends where it would have ended`, async (t) => {
    t.diagnostic(await killedEverywhere(chapter, 11 + index, 'addon-crash.test.ts'))
  })
}
