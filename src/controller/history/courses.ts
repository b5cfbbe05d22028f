import { z } from 'zod'
import { jsonIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Course, CourseBar, CourseTrack, CourseVotes } from '../../model/course.ts'
import type { Moment, NodeActivity } from './course-moment.ts'

/** Under which name the store keeps them. */
export const COURSES = 'history/courses'

/** The courses with one more moment in them, newest first. The same list where nothing is new. Pure. */
export function withMoment(courses: readonly Course[], moment: Moment): readonly Course[] {
  const last = courses.find(({ key }) => key === moment.key)
  // A clock that was set back does not make a course shorter.
  const atMs = Math.max(moment.atMs, last?.seenMs ?? 0)
  const about = moment.blind === true && last?.over !== false ? undefined : moment.about
  if (about === undefined) {
    if (last === undefined || last.over) return courses
    return replaced(courses, last, ended(last, atMs, moment.votes))
  }
  if (last !== undefined && goesOn(last, about, atMs)) {
    const named = last.purpose === 'change' && about.purpose !== 'change' ? about : {}
    return replaced(courses, last, grown({ ...afterGap(last, atMs), ...named }, moment, atMs))
  }
  const before = last === undefined || last.over ? courses : replaced(courses, last, ended(last, atMs, undefined))
  const fromMs = Math.min(moment.fromMs ?? atMs, atMs)
  const fresh: Course = { key: moment.key, ...about, fromMs, seenMs: atMs, over: false, tracks: [], votes: [] }
  return bounded([grown(fresh, moment, atMs), ...before])
}

/** Reports whether current work belongs to the last course: an upgrade that replaces a node is one course. */
function goesOn(last: Course, about: NonNullable<Moment['about']>, atMs: number): boolean {
  if (last.over && atMs - last.seenMs > LIMITS.coursePauseMs) return false
  if (last.purpose === about.purpose && last.title === about.title) return true
  return !last.over && (last.purpose === 'change' || about.purpose === 'change')
}

/** Ends the last step where it was last seen, if the gap is too long to know when it ended. */
function afterGap(course: Course, atMs: number): Course {
  if (atMs - course.seenMs <= LIMITS.historyGapMs) return course
  const { seenMs } = course
  return {
    ...course,
    tracks: closed(course.tracks, seenMs),
    votes: course.votes.length === 0 ? [] : withVotes(course.votes, unknownVotes(course.votes), seenMs),
  }
}

function unknownVotes(votes: readonly CourseVotes[]): Moment['votes'] {
  const latest = votes.at(-1)
  return latest === undefined ? undefined : { up: 'unknown', voters: latest.voters, needed: latest.needed }
}

function ended(course: Course, atMs: number, votes: Moment['votes']): Course {
  const known = afterGap(course, atMs)
  const seenMs = known === course ? atMs : course.seenMs
  return {
    ...known,
    seenMs,
    over: true,
    tracks: closed(known.tracks, seenMs),
    votes: known === course ? withVotes(known.votes, votes, seenMs) : known.votes,
  }
}

function grown(course: Course, moment: Moment, atMs: number): Course {
  const seen = new Map(moment.tracks.slice(0, LIMITS.courseTracks).map((track) => [track.name, track]))
  const known = course.tracks.map((track) => {
    const now = seen.get(track.name)
    seen.delete(track.name)
    const bars =
      now?.bars === undefined ? withDoing(track.bars, now?.doing, atMs) : told(track, moment.fromMs ?? atMs, now.bars)
    return { ...track, bars }
  })
  const fresh = [...seen.values()].map(({ name, sort, doing, bars }) => ({
    name,
    sort,
    bars: bars?.slice(-LIMITS.courseBars) ?? withDoing([], doing, atMs),
  }))
  return {
    ...course,
    seenMs: atMs,
    over: false,
    tracks: [...known, ...fresh].slice(0, LIMITS.courseTracks),
    votes: withVotes(course.votes, moment.votes, atMs),
  }
}

/** Replaces observed bars by the exact ones of the same time. */
function told({ bars }: CourseTrack, fromMs: number, exact: readonly CourseBar[]): readonly CourseBar[] {
  const before = bars.filter((bar) => bar.fromMs < fromMs)
  const ended = before.map((bar) => ({ ...bar, toMs: Math.min(bar.toMs ?? fromMs, fromMs) }))
  return [...ended, ...exact].slice(-LIMITS.courseBars)
}

function withDoing(bars: readonly CourseBar[], doing: NodeActivity | undefined, atMs: number): readonly CourseBar[] {
  const last = bars.at(-1)
  const open = last !== undefined && last.toMs === undefined ? last : undefined
  const says = doing?.says.slice(0, LIMITS.courseTextLength)
  if (open !== undefined && open.step === doing?.step) {
    return says === '' || says === open.says ? bars : [...bars.slice(0, -1), { ...open, says: says ?? '' }]
  }
  const before = open === undefined ? bars : [...bars.slice(0, -1), { ...open, toMs: atMs }]
  if (doing === undefined || says === undefined) return before
  return [...before, { step: doing.step, sort: doing.sort, says, fromMs: atMs }].slice(-LIMITS.courseBars)
}

function withVotes(votes: readonly CourseVotes[], now: Moment['votes'], atMs: number): readonly CourseVotes[] {
  const last = votes.at(-1)
  if (now === undefined) return votes
  if (last?.up === now.up && last.voters === now.voters && last.needed === now.needed) return votes
  return [...votes, { atMs, ...now }].slice(-LIMITS.courseVotes)
}

function closed(tracks: readonly CourseTrack[], toMs: number): readonly CourseTrack[] {
  return tracks.map((track) => ({
    ...track,
    bars: track.bars.map((bar) => (bar.toMs === undefined ? { ...bar, toMs: Math.max(bar.fromMs, toMs) } : bar)),
  }))
}

function replaced(courses: readonly Course[], old: Course, now: Course): readonly Course[] {
  return courses.map((course) => (course === old ? now : course))
}

/** Keeps a few courses of each cluster and Power, and drops the keys that were not seen for the longest time. */
function bounded(courses: readonly Course[]): readonly Course[] {
  const counts = new Map<string, number>()
  return courses.filter(({ key }) => {
    const count = counts.get(key) ?? 0
    if (count === 0 && counts.size >= LIMITS.courseKeys) return false
    counts.set(key, count + 1)
    return count < LIMITS.coursesKept
  })
}

const bar = z.object({
  step: z.string(),
  sort: z.enum(['move', 'change', 'down', 'wait', 'off']),
  says: z.string(),
  fromMs: z.number(),
  toMs: z.number().exactOptional(),
})

const stored = z.array(
  z.object({
    key: z.string(),
    purpose: z.enum(['upgrade', 'operation', 'change', 'power-off', 'power-on']),
    title: z.string(),
    fromMs: z.number(),
    seenMs: z.number(),
    over: z.boolean(),
    tracks: z.array(
      z.object({
        name: z.string(),
        sort: z.enum(['workloads', 'server', 'agent', 'machine', 'host']),
        bars: z.array(bar),
      }),
    ),
    votes: z.array(
      z.object({
        atMs: z.number(),
        up: z.union([z.number(), z.literal('unknown')]),
        voters: z.number(),
        needed: z.number(),
      }),
    ),
  }),
)

/** Returns the stored courses; none if they are damaged, because history must not stop a controller. */
export function readCourses(text: string | undefined): readonly Course[] {
  const read = stored.safeParse(text === undefined ? [] : jsonIn(text))
  return read.success ? read.data : []
}
