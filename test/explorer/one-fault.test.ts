import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { explore } from './explore.ts'
import { STORIES } from './stories.ts'

/** In the first set, or too large for this one. */
const ELSEWHERE = ['form', 'rest', 'upgrade by replacement', 'upgrade, where data may go']

describe('croft, with one fault at any moment', () => {
  for (const { name, begins } of STORIES.filter((story) => !ELSEWHERE.includes(story.name))) {
    test(name, async () => {
      const { findings, whole, states } = await explore(await begins(), { faults: 1, deeds: 0, states: 20_000 })
      assert.ok(whole && states > 500, `${states} states`)
      assert.equal(findings.length, 0, findings.map(({ what, script }) => [what, ...script].join('\n  ')).join('\n'))
    })
  }
})
