import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chapter, CourseOnPage } from '../../src/server/api/schemas.ts'
import { coursesByChapter, extentOf } from '../../web/chapter-courses.ts'

const MINUTE = 60_000
const chapter = (commit: string, events: readonly (readonly [key: string, minute: number])[]): Chapter => ({
  commit,
  firstMs: 0,
  lastMs: 0,
  warnings: 0,
  spans: [],
  events: events.map(([key, minute], seq) => ({
    seq,
    key,
    atMs: minute * MINUTE,
    type: 'Normal',
    reason: 'Drain',
    message: '',
  })),
})
const course = (key: string, from: number, to: number, over = true): CourseOnPage => ({
  key,
  purpose: 'upgrade',
  title: 'Upgrade',
  fromMs: from * MINUTE,
  seenMs: to * MINUTE,
  over,
  tracks: [],
  votes: [],
})

test('an upgrade stands in the chapter of the commit that asked for it, once, and others of the same cluster do not', () => {
  const upgrade = course('Cluster/edge', 100, 110)
  const forming = course('Cluster/edge', 10, 20)
  const nowhere = course('Cluster/other', 100, 110)
  const chapters = [
    chapter('bump', [
      ['Cluster/edge', 99.5],
      ['Cluster/edge', 105],
    ]),
    chapter('beside', [
      ['Machine/web', 105],
      ['Cluster/edge', 109],
    ]),
    chapter('first', [['Cluster/edge', 12]]),
  ]
  assert.deepEqual(coursesByChapter(chapters, [upgrade, nowhere, forming]), [[upgrade], [], [forming]])
})

test('a chapter lasts from its first step to its last, on machines and clusters, and on while one goes on', () => {
  const one = chapter('a', [])
  assert.equal(extentOf(one, []), undefined, 'no changes were needed')
  const span = { key: 'Machine/a', label: 'create', fromMs: 5, toMs: 9, kind: 'step' as const, failed: false }
  const over = course('Cluster/edge', 1, 2)
  assert.deepEqual(extentOf({ spans: [span] }, []), { fromMs: 5, toMs: 9 })
  assert.deepEqual(extentOf({ spans: [span] }, [over]), { fromMs: 5, toMs: 2 * MINUTE })
  assert.deepEqual(extentOf({ spans: [span] }, [{ ...over, over: false }]), { fromMs: 5 })
})
