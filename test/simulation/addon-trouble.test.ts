import { test } from 'node:test'
import { CHAPTERS, troubledEverywhere } from './addon-chapters.ts'

for (const [index, chapter] of CHAPTERS.entries()) {
  test(`[R21] [R22] [F-04] [F-05] ${chapter.what}: writes that are lost, unanswered or refused change nothing about the end`, async (t) => {
    t.diagnostic(await troubledEverywhere(chapter, 21 + index, 'addon-trouble.test.ts'))
  })
}
