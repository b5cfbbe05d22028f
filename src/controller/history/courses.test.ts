import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LIMITS } from '../../lib/limits.ts'
import type { Course } from '../../model/course.ts'
import type { Moment } from './course-moment.ts'
import { readCourses, withMoment } from './courses.ts'

const SECOND = 1000
const upgrade = { purpose: 'upgrade', title: 'Upgrade to v2' } as const
const change = { purpose: 'change', title: 'Nodes change' } as const

function moment(
  atMs: number,
  doings: Readonly<Record<string, string | undefined>>,
  about: Moment['about'],
  up: number | 'unknown' = 3,
): Moment {
  return {
    key: 'Cluster/a',
    atMs,
    ...(about === undefined ? {} : { about }),
    tracks: Object.entries(doings).map(([name, step]) => ({
      name,
      sort: 'server',
      ...(step === undefined ? {} : { doing: { step, sort: 'wait', says: step } }),
    })),
    votes: { up, voters: 3, needed: 2 },
  }
}

function told(...moments: readonly Moment[]): readonly Course[] {
  return moments.reduce<readonly Course[]>(withMoment, [])
}

const bars = ({ tracks }: Course) =>
  tracks.map(({ name, bars: own }) =>
    [
      name,
      ...own.map(({ step, fromMs, toMs }) => `${step} ${fromMs / SECOND}-${toMs === undefined ? '' : toMs / SECOND}`),
    ].join(' '),
  )
const votes = (course: Course) => course.votes.map(({ atMs, up }) => `${atMs / SECOND}:${up}`)

test('steps become bars, one after the other; what goes on has no end; votes change when they change', () => {
  const [course, ...more] = told(
    moment(0, { s1: 'drain', s2: undefined }, upgrade),
    moment(5 * SECOND, { s1: 'drain', s2: undefined }, upgrade),
    moment(9 * SECOND, { s1: 'restart', s2: undefined }, upgrade, 2),
    moment(20 * SECOND, { s1: undefined, s2: 'drain' }, upgrade, 3),
  )
  assert.ok(course)
  assert.equal(more.length, 0)
  assert.deepEqual(bars(course), ['s1 drain 0-9 restart 9-20', 's2 drain 20-'])
  assert.deepEqual(votes(course), ['0:3', '9:2', '20:3'])
  assert.equal(course.over, false)
})

test('while nobody sees the cluster, what is under way goes on, and nothing begins or begins again', () => {
  const blind = (atMs: number): Moment => ({ ...moment(atMs, { s1: 'no answer' }, change, 'unknown'), blind: true })
  assert.deepEqual(told(blind(0)), [])
  const [upgrading] = told(moment(0, { s1: 'restart' }, upgrade), blind(5 * SECOND))
  assert.ok(upgrading)
  assert.deepEqual([upgrading.title, upgrading.over], [upgrade.title, false])
  assert.deepEqual(bars(upgrading), ['s1 restart 0-5 no answer 5-'])
  const [over] = told(moment(0, { s1: 'drain' }, change), moment(4 * SECOND, {}, undefined), blind(9 * SECOND))
  assert.deepEqual([over?.over, over?.seenMs], [true, 4 * SECOND])
})

test('it ends when nothing is under way, and a short pause does not begin another', () => {
  const before = told(moment(0, { s1: 'drain' }, upgrade), moment(8 * SECOND, { s1: undefined }, undefined, 2))
  assert.deepEqual(bars(before[0] as Course), ['s1 drain 0-8'])
  assert.equal(before[0]?.over, true)
  assert.deepEqual(votes(before[0] as Course), ['0:3', '8:2'])
  const again = withMoment(before, moment(20 * SECOND, { s1: 'install' }, upgrade))
  assert.deepEqual(
    again.map((one) => [one.over, ...bars(one)]),
    [[false, 's1 drain 0-8 install 20-']],
  )
  const later = withMoment(before, moment(LIMITS.coursePauseMs + 9 * SECOND, { s1: 'install' }, upgrade))
  assert.equal(later.length, 2)
})

test('a change that turns out to be an upgrade is one course; a restore after an upgrade is another', () => {
  const one = told(moment(0, { s1: 'snapshot' }, change), moment(SECOND, { s1: 'cordon' }, upgrade))
  assert.deepEqual(
    one.map(({ title }) => title),
    [upgrade.title],
  )
  const still = withMoment(one, moment(2 * SECOND, { s1: 'join' }, change))
  assert.deepEqual(
    still.map(({ title }) => title),
    [upgrade.title],
  )
  const restore = { purpose: 'operation', title: 'Restore' } as const
  const two = withMoment(still, moment(3 * SECOND, { s1: 'stop' }, restore, 0))
  assert.deepEqual(
    two.map(({ title, over }) => [title, over]),
    [
      ['Restore', false],
      [upgrade.title, true],
    ],
  )
})

test('after a silence of ours the last step ends where it was seen, and votes are not known in between', () => {
  const gap = LIMITS.historyGapMs + SECOND
  const [course] = told(
    moment(0, { s1: 'drain' }, upgrade),
    moment(5 * SECOND, { s1: 'drain' }, upgrade),
    moment(5 * SECOND + gap, { s1: 'drain' }, upgrade),
  )
  assert.ok(course)
  assert.deepEqual(bars(course), [`s1 drain 0-5 drain ${5 + gap / SECOND}-`])
  assert.deepEqual(votes(course), ['0:3', '5:unknown', `${5 + gap / SECOND}:3`])
  const [ended] = told(moment(0, { s1: 'drain' }, upgrade), moment(gap, { s1: undefined }, undefined))
  assert.deepEqual(bars(ended as Course), ['s1 drain 0-0'])
})

test('bars never overlap and never run backwards, whatever is seen when; nothing grows without bound', () => {
  const step = fc.option(fc.constantFrom('drain', 'install', 'restart', 'wait'), { nil: undefined })
  const some = fc.record({
    afterMs: fc.integer({ min: -5000, max: 2 * LIMITS.historyGapMs }),
    s1: step,
    s2: step,
    about: fc.constantFrom(undefined, upgrade, change),
    up: fc.constantFrom(0, 2, 3, 'unknown' as const),
  })
  fc.assert(
    fc.property(fc.array(some, { maxLength: 200 }), (list) => {
      let now = 1_000_000
      const courses = list.reduce<readonly Course[]>((before, { afterMs, s1, s2, about, up }) => {
        now += afterMs
        return withMoment(before, moment(now, { s1, s2 }, about, up))
      }, [])
      assert.ok(courses.length <= LIMITS.coursesKept)
      for (const course of courses) {
        assert.ok(course.votes.length <= LIMITS.courseVotes)
        for (const { bars: own } of course.tracks) {
          assert.ok(own.length <= LIMITS.courseBars)
          for (const [at, { fromMs, toMs }] of own.entries()) {
            const next = own[at + 1]
            assert.ok(toMs === undefined ? next === undefined && !course.over : toMs >= fromMs)
            assert.ok(next === undefined || next.fromMs >= (toMs ?? 0))
          }
        }
      }
      assert.deepEqual(readCourses(JSON.stringify(courses)), courses)
    }),
  )
})

test('what the store kept and is damaged is left', () => {
  for (const text of [undefined, '', '{', '{}', '[1]', '[{"key":"Cluster/a"}]']) assert.deepEqual(readCourses(text), [])
})

test('what is told exactly takes the place of what was seen in the same time, and begins when it began', () => {
  const restore = { purpose: 'operation', title: 'Restore' } as const
  const exact = (atMs: number, ...own: readonly (readonly [string, number, number?])[]): Moment => ({
    ...moment(atMs, {}, restore),
    fromMs: 2 * SECOND,
    tracks: [
      {
        name: 's1',
        sort: 'server',
        bars: own.map(([step, from, to]) => ({
          step,
          sort: 'change',
          says: step,
          fromMs: from * SECOND,
          ...(to === undefined ? {} : { toMs: to * SECOND }),
        })),
      },
    ],
  })
  const fresh = told(exact(5 * SECOND, ['stop', 2]), exact(9 * SECOND, ['stop', 2, 6], ['restore', 6, 7], ['start', 7]))
  assert.deepEqual(fresh.map(bars), [['s1 stop 2-6 restore 6-7 start 7-']])
  assert.equal(fresh[0]?.fromMs, 2 * SECOND)
  const after = told(moment(SECOND, { s1: 'join' }, change), exact(9 * SECOND, ['stop', 2, 6], ['restore', 6]))
  assert.deepEqual(after.map(bars), [['s1 join 1-2 stop 2-6 restore 6-']])
})
