import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterMoment } from '../../src/controller/history/course-moment.ts'
import { withMoment } from '../../src/controller/history/courses.ts'
import type { Course } from '../../src/model/course.ts'
import { formed, HASTE, NEXT } from './cluster-lab.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

test('an upgrade as it is drawn: node after node goes through its steps in order, and the majority is never lost', async () => {
  const hint = replay('cluster-course.test.ts', 1)
  const run = await formed(1, hint, { agents: ['a1'] })
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a1'], version: NEXT }))
  let courses: readonly Course[] = []
  const process = run.start()
  const end = await run.untilSettled(process, {
    mostMs: 1_800_000,
    onPass: ({ clusters = [] }) => {
      for (const look of clusters) courses = withMoment(courses, clusterMoment(look, run.clock.now()))
    },
  })
  process.kill()
  assert.equal(end, 'settled', hint)
  const told = courses.map(({ title, tracks }) => {
    const steps = tracks.flatMap(({ name, bars }) => bars.map(({ step, fromMs }) => `${fromMs} ${name} ${step}`))
    return `${title}: ${steps.join(', ')}`
  })
  const [course, ...more] = courses
  const all = `${told.join('\n')}\n${hint}`
  assert.deepEqual([course?.title, course?.over, more.length], [`Upgrade to ${NEXT}`, true, 0], all)
  for (const { name, bars } of course?.tracks ?? []) {
    const steps = bars.map(({ step }) => step).filter((step) => step !== 'snapshot' && step !== 'soak')
    assert.match(
      steps.join(' '),
      /^fetch (wait )*cordon (drain )?install restart (wait )?uncordon$/,
      `${name}; ${hint}`,
    )
    assert.ok(
      bars.every(({ fromMs, toMs = 0 }) => toMs > fromMs),
      `a step that took no time; ${hint}`,
    )
  }
  const servers = (course?.tracks ?? []).filter(({ sort }) => sort === 'server')
  const away = servers.flatMap(({ bars }) => bars.filter(({ step }) => step === 'restart'))
  const sorted = away.toSorted((a, b) => a.fromMs - b.fromMs)
  for (const [at, { toMs = 0 }] of sorted.entries())
    assert.ok((sorted[at + 1]?.fromMs ?? toMs) >= toMs, `two servers restart at once; ${hint}`)
  const ups = (course?.votes ?? []).map(({ up }) => up)
  assert.equal(Math.min(...ups.map(Number)), 2, `${ups.join(' ')}; ${hint}`)
  // A server that joined a moment ago may still be silent while the release is fetched.
  const firstMs = Math.min(
    ...(course?.tracks ?? []).flatMap(({ bars }) =>
      bars.filter(({ step }) => step === 'cordon').map(({ fromMs }) => fromMs),
    ),
  )
  const before = (course?.votes ?? []).findLast(({ atMs }) => atMs <= firstMs)
  assert.deepEqual([before?.up, ups.at(-1)], [3, 3], hint)
})
