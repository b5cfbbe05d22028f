import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { learnPace, nextTaskLookMs, type Pace, UNKNOWN_PACE } from './pace.ts'

/** Simulates looks at tasks until all have ended. Returns how many looks it took, and the delay of the last one. */
function watch(tasks: number, eachMs: number): { readonly looks: number; readonly lateMs: number } {
  let pace: Pace = UNKNOWN_PACE
  let nowMs = 0
  let ended = 0
  let looks = 0
  while (ended < tasks) {
    const waitMs = nextTaskLookMs(pace, tasks - ended)
    nowMs += waitMs
    looks++
    const by = Math.min(tasks, Math.floor(nowMs / eachMs))
    pace = learnPace(pace, { ended: by - ended, left: tasks - by, before: tasks - ended }, waitMs)
    ended = by
  }
  return { looks, lateMs: nowMs - tasks * eachMs }
}

test('[T-01] a task is looked at often at first, and ever less often the longer it takes', () => {
  const { looks, lateMs } = watch(1, 600_000)
  assert.ok(looks < 600_000 / LIMITS.taskPollMaxMs + 15, `${looks} looks`)
  assert.ok(lateMs <= LIMITS.taskPollMaxMs)
  assert.ok(watch(1, 150).lateMs <= 100)
})

test('[T-01] many tasks are looked at when some of them should have ended', () => {
  for (const eachMs of [55, 100, 400]) {
    const { looks, lateMs } = watch(64, eachMs)
    assert.ok(looks <= 25, `${looks} looks at tasks of ${eachMs} ms`)
    assert.ok(lateMs <= Math.max(eachMs, 2 * LIMITS.shortestLookMs), `${lateMs} ms late with ${eachMs} ms each`)
  }
})

test('[T-01] a queue that is refilled at every look runs empty for a small part of the time only', () => {
  for (const [eachMs, width, passMs] of [
    [100, 16, 300],
    [100, 16, 900],
    [100, 16, 1_450],
    [55, 32, 300],
    [300, 4, 300],
  ] as const) {
    let pace: Pace = UNKNOWN_PACE
    let queuedMs = 0
    let idleMs = 0
    let begun = 0
    let inFlight = 0
    let waitMs = 0
    while (begun < 200) {
      const endedMs = Math.min(waitMs, queuedMs)
      idleMs += begun === 0 ? 0 : waitMs - endedMs
      const left = Math.ceil((queuedMs - endedMs) / eachMs)
      if (begun > 0) pace = learnPace(pace, { ended: inFlight - left, left, before: inFlight }, waitMs)
      begun += width - left
      inFlight = width
      queuedMs = queuedMs - endedMs + (width - left) * eachMs
      // Each pass takes time in addition to the wait.
      waitMs = nextTaskLookMs({ ...pace, passMs }, inFlight) + passMs
    }
    assert.ok(idleMs < 0.15 * begun * eachMs, `${idleMs} ms idle of ${begun * eachMs} ms`)
  }
})

test('[T-01] a look is never closer than the shortest nor later than the longest', () => {
  for (const perTaskMs of [0, 1, 50, 1e6])
    for (const quietMs of [0, 100, 1e7])
      for (const inFlight of [1, 2, 30, 500]) {
        const next = nextTaskLookMs({ perTaskMs, quietMs, passMs: 700 }, inFlight)
        assert.ok(next >= LIMITS.shortestLookMs && next <= LIMITS.taskPollMaxMs)
      }
  assert.equal(
    learnPace(UNKNOWN_PACE, { ended: 0, left: 1, before: 1 }, -5).quietMs,
    0,
    'a clock that went back teaches nothing',
  )
})

test('[T-01] the longer a pass takes the sooner it begins: the queue is refilled when half of it is left', () => {
  for (const passMs of [0, 300, 700]) {
    const next = nextTaskLookMs({ perTaskMs: 100, quietMs: 0, passMs }, 16)
    assert.equal(next + passMs, 800)
  }
  assert.equal(nextTaskLookMs({ perTaskMs: 100, quietMs: 0, passMs: 5_000 }, 16), LIMITS.shortestLookMs)
})

test('[T-01] a queue that ran empty meanwhile does not make its tasks slow', () => {
  const pace: Pace = { perTaskMs: 50, quietMs: 0, passMs: 0 }
  const after = (ended: number, before: number, elapsedMs: number) =>
    learnPace(pace, { ended, left: 17, before }, elapsedMs).perTaskMs
  // One was under way and six ended: five of them started in between, at unknown times.
  assert.equal(after(6, 1, 900), 50)
  assert.equal(after(6, 1, 180), 40, 'but it shows that they are fast')
  assert.equal(after(6, 20, 900), 100, 'all of them were under way the whole time')
})
