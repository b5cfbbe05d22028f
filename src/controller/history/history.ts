import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { EstateView } from '../../model/estate-view.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import type { Past } from '../../model/past.ts'
import type { Store } from '../../store/port.ts'
import { clusterMoment, type Moment, powerMoment } from './course-moment.ts'
import { COURSES, readCourses, withMoment } from './courses.ts'
import { dayOf } from './day-book.ts'
import { createGaugeBook, type GaugeInput } from './gauge-book.ts'
import { createHealthBook } from './health-book.ts'

/** Keeps the history over days, in the store by day; the oldest days are dropped. */
export interface KeptHistory extends Past {
  /** Records the state from now on. Call it with every look. */
  note(view: EstateView, seen: HistoryInput | undefined): Promise<void>
  /** Writes down what is not written yet. */
  save(): Promise<void>
}

/** Observations of a pass: no extra call is made for history. */
export interface HistoryInput extends GaugeInput {
  readonly powers?: readonly PowerPlan[]
}

type Kept = Pick<Store, 'getValue' | 'putValue'>

export async function openHistory(clock: Clock, store: Kept, epoch: number): Promise<KeptHistory> {
  const health = createHealthBook()
  const gauges = createGaugeBook()
  const books = [health.book, gauges.book]
  for (const book of books)
    for (const name of book.names()) {
      const text = await store.getValue(name)
      if (text !== undefined) book.read(text, dayOf(clock.now()))
    }
  let courses = readCourses(await store.getValue(COURSES))
  let keptCourses = courses
  let last: { readonly view: EstateView; readonly atMs: number } | undefined
  let savedMs = clock.monotonicMs()
  const unsaved = new Set<number>()

  async function save(): Promise<void> {
    savedMs = clock.monotonicMs()
    if (courses !== keptCourses) {
      keptCourses = courses
      await store.putValue(epoch, COURSES, JSON.stringify(courses))
    }
    const days = [...unsaved]
    unsaved.clear()
    for (const day of days)
      for (const book of books) {
        const { name, text } = book.text(day)
        // A larger value would be refused by the store, and a graph must not stop the controller.
        if (text.length <= LIMITS.storedValueLength) await store.putValue(epoch, name, text)
      }
  }

  return {
    async note(view, seen) {
      const atMs = clock.now()
      // After a clock set back or a long gap, the state in between is unknown.
      const known = last !== undefined && atMs > last.atMs && atMs - last.atMs <= LIMITS.historyGapMs
      if (last !== undefined && known) {
        health.count(last.view, last.atMs, atMs)
        unsaved.add(dayOf(last.atMs))
      }
      if (seen !== undefined) {
        gauges.note(seen, atMs)
        for (const moment of momentsOf(seen, atMs)) courses = withMoment(courses, moment)
      }
      unsaved.add(dayOf(atMs))
      last = { view, atMs }
      if (clock.monotonicMs() - savedMs >= LIMITS.historySaveMs) await save()
    },
    save,
    days: health.days,
    hours: health.hours,
    gauges: gauges.gauges,
    courses: () => courses,
  }
}

function momentsOf({ clusters, powers = [] }: HistoryInput, atMs: number): readonly Moment[] {
  return [
    ...clusters.map((look) => clusterMoment(look, atMs)),
    ...powers.map((look) => {
      const cluster = clusters.find(({ declaration }) => declaration.name === look.declaration.spec.cluster)
      return powerMoment(look, cluster, atMs)
    }),
  ]
}
