import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CroftEvent } from '../../model/record.ts'
import { createHealthStrips } from '../health-strips.ts'
import { storyEvents, withResource } from '../testing/fake-controller.ts'
import { conditions, smallEstate } from '../testing/fake-estate.ts'
import { COMMIT, NOW } from '../testing/fake-moment.ts'
import { spansOf, tellTimeline } from './timeline.ts'

const events = storyEvents().map((event, index): CroftEvent => ({ ...event, seq: index + 1 }))

describe('the timeline', () => {
  test('[A55] tells by commit, newest first, with the way of the push, the steps and the wait', () => {
    const { commits = [], sources } = smallEstate()
    const [newest, older] = tellTimeline(events, commits, sources)
    assert.deepEqual(
      [newest?.commit, newest?.subject, older?.spans.length],
      [COMMIT, 'Give k3s-vm-still-fawn 8 GiB', 5],
    )
    assert.deepEqual(
      newest?.spans.map(({ label, kind, fromMs, toMs }) => [label, kind, (toMs ?? 0) - fromMs]),
      [
        ['commit to first step', 'seen', 500],
        ['set memory of VM 109 to 8192', 'step', 400],
        ['restart VM 109', 'step', 8_400],
        ['until ready', 'settle', 21_600],
      ],
    )
  })

  test('a commit whose plan waits for a person is told with its words, and that it waits', () => {
    const [source] = smallEstate().sources
    assert.ok(source)
    const waiting = { commit: 'f00', subject: 'Add web', author: 'Anna', summary: '', text: '', sinceMs: NOW }
    const event: CroftEvent = { seq: 1, atMs: NOW, type: 'Normal', reason: 'PlanWaits', message: '', commit: 'f00' }
    const [chapter] = tellTimeline([event], [], [{ ...source, waiting }])
    assert.deepEqual([chapter?.subject, chapter?.author, chapter?.waits], ['Add web', 'Anna', true])
  })

  const at = (seq: number, reason: string, message: string, type: CroftEvent['type'] = 'Normal'): CroftEvent => ({
    seq,
    atMs: seq * 1000,
    key: 'Machine/a',
    type,
    reason,
    message,
  })
  test('a plan that waited for a person: its first step is counted from the approval, not from the commit', () => {
    const about = (seq: number, reason: string, key?: 'Machine/a'): CroftEvent => ({
      seq,
      atMs: seq * 1000,
      type: 'Normal',
      reason,
      message: 'create',
      commit: 'f00',
      ...(key === undefined ? {} : { key }),
    })
    const commit = { source: 'main', commit: 'f00', subject: 'Add web', author: 'Anna', committedMs: 500 }
    const story = (...events: readonly CroftEvent[]) =>
      tellTimeline(events, [commit])[0]?.spans.map(({ label, fromMs, toMs }) => [label, fromMs, toMs])
    const step = [about(9000, 'Started', 'Machine/a'), about(9001, 'Done', 'Machine/a')]
    const created = ['create', 9_000_000, 9_001_000]
    assert.deepEqual(story(about(1, 'PlanWaits'), about(2, 'PlanWaits'), about(8990, 'Revision'), ...step), [
      ['approval to first step', 8_990_000, 9_000_000],
      created,
    ])
    assert.deepEqual(story(about(1, 'Revision'), ...step), [['commit to first step', 500, 9_000_000], created])
  })

  test('a step that failed ends where it failed; one under way has no end; a word of nobody breaks nothing', () => {
    const spans = spansOf(
      [
        at(1, 'Started', 'create'),
        at(2, 'Locked', 'create: it is locked', 'Warning'),
        at(3, 'Started', 'create'),
        at(4, 'Odd', 'x', 'Warning'),
      ],
      undefined,
    )
    assert.deepEqual(
      spans.map(({ fromMs, toMs, failed }) => [fromMs, toMs, failed]),
      [
        [1000, 2000, true],
        [3000, undefined, false],
      ],
    )
  })

  test('what is done after the files of a directory changed stands under them, as nothing else could ask for it', () => {
    const revision = (seq: number, commit: string): CroftEvent => {
      const { key: _, ...event } = at(seq, 'Revision', `main is at ${commit}`)
      return { ...event, commit }
    }
    const chapters = tellTimeline(
      [
        at(1, 'Started', 'before anything was declared'),
        revision(2, 'files-1'),
        at(3, 'Started', 'create'),
        revision(4, 'files-2'),
        at(5, 'Done', 'create'),
      ],
      [],
    )
    assert.deepEqual(
      chapters.map(({ commit, events: own }) => [commit, own.map(({ seq }) => seq)]),
      [
        ['files-2', [4, 5]],
        ['files-1', [2, 3]],
        [undefined, [1]],
      ],
    )
  })

  test('a commit that changed nothing has its line, and events without a commit have one too', () => {
    const { commits = [] } = smallEstate()
    assert.deepEqual(
      tellTimeline([at(1, 'Ready', 'up')], commits, []).map(({ commit, events: told }) => [
        commit?.slice(0, 3),
        told.length,
      ]),
      [
        ['a1b', 0],
        ['9f8', 0],
        [undefined, 1],
      ],
    )
  })
})

describe('health strips', () => {
  test('keep the worst of each half hour, forget after a day, and know the share', () => {
    const strips = createHealthStrips()
    const estate = smallEstate()
    const key = 'Machine/k3s-vm-still-fawn'
    const ill = { ...estate, ...withResource(estate, key, (one) => ({ ...one, conditions: conditions(true, false) })) }
    strips.note(estate, NOW)
    strips.note(ill, NOW + 1_000)
    strips.note(estate, NOW + 2_000)
    strips.note(estate, NOW + 30 * 60_000)
    const find = (nowMs: number) => strips.strips(nowMs).find(({ subject }) => subject === key)
    assert.match(find(NOW + 30 * 60_000)?.slots ?? '', /^\.{46}xo$/)
    assert.equal(find(NOW + 30 * 60_000)?.share?.toFixed(2), '0.50')
    assert.equal(find(NOW + 25 * 3_600_000), undefined)
  })
})
