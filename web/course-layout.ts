import type { CourseOnPage } from '../src/server/api/schemas.ts'
import { duration } from './format.ts'

type Bar = CourseOnPage['tracks'][number]['bars'][number]

/** The positions of a course's parts, in percent of its width, and the course in words. */
export interface CourseLayout {
  readonly tookMs: number
  readonly lanes: readonly {
    readonly name: string
    readonly sort: CourseOnPage['tracks'][number]['sort']
    readonly bars: readonly PlacedBar[]
    /** `drain 12 s, install 30 s, restart for 8 s`. */
    readonly words: string
  }[]
  readonly band: readonly VoteSpan[]
  /** The picture in words, for screen readers. */
  readonly sentence: string
}

export interface PlacedBar extends Pick<Bar, 'step' | 'sort'> {
  readonly left: number
  readonly width: number
  readonly running: boolean
  readonly title: string
}

/** Votes over one stretch of time. */
export interface VoteSpan {
  readonly left: number
  readonly width: number
  readonly up: number | 'unknown'
  readonly voters: number
  readonly needed: number
  readonly held: boolean | 'unknown'
}

/** Since its beginning: `1:40`, `2:05:00`. */
export function elapsed(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const two = (count: number) => String(count).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = two(seconds % 60)
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${two(minutes)}:${rest}`
}

/** Pure: the same course at the same time is the same picture. */
export function layoutOf(course: CourseOnPage, nowMs: number): CourseLayout {
  const endMs = Math.max(course.over ? course.seenMs : nowMs, course.seenMs, course.fromMs + 1)
  const tookMs = endMs - course.fromMs
  const at = (ms: number) => (Math.min(Math.max(ms - course.fromMs, 0), tookMs) / tookMs) * 100
  const lanes = course.tracks.map(({ name, sort, bars }) => ({
    name,
    sort,
    bars: bars.map((bar) => placed(bar, at, endMs)),
    words:
      bars.length === 0 ? (course.over ? 'untouched' : 'not yet') : bars.map((bar) => wordsOf(bar, endMs)).join(', '),
  }))
  const band = course.votes.map((votes, index) => {
    const left = at(votes.atMs)
    const { up, voters, needed } = votes
    const width = at(course.votes[index + 1]?.atMs ?? endMs) - left
    return { left, width, up, voters, needed, held: up === 'unknown' ? ('unknown' as const) : up >= needed }
  })
  return { tookMs, lanes, band, sentence: sentenceOf(course, lanes, tookMs) }
}

function placed(bar: Bar, at: (ms: number) => number, endMs: number): PlacedBar {
  const left = at(bar.fromMs)
  const running = bar.toMs === undefined
  const says = bar.says === '' || bar.says === bar.step ? '' : `: ${bar.says}`
  return {
    step: bar.step,
    sort: bar.sort,
    left,
    width: at(bar.toMs ?? endMs) - left,
    running,
    title: `${wordsOf(bar, endMs)}${says}`,
  }
}

function wordsOf({ step, fromMs, toMs }: Bar, endMs: number): string {
  const took = duration(Math.max(0, (toMs ?? endMs) - fromMs))
  return toMs === undefined ? `${step} for ${took} now` : `${step} ${took}`
}

function sentenceOf(
  { title, over, votes, tracks }: CourseOnPage,
  lanes: CourseLayout['lanes'],
  tookMs: number,
): string {
  const now = tracks.flatMap(({ name, bars }) => {
    const last = bars.at(-1)
    return last === undefined || last.toMs !== undefined ? [] : [`${name}: ${last.step}`]
  })
  const known = votes.filter((one) => one.up !== 'unknown')
  const least = known.toSorted((a, b) => Number(a.up) - Number(b.up))[0]
  return [
    `${title}, ${over ? 'took' : 'for'} ${duration(tookMs)}, ${lanes.length} in the picture`,
    ...(now.length === 0 ? [] : [`now ${now.join(', ')}`]),
    ...(least === undefined ? [] : [`at least ${least.up} of ${least.voters} votes up, ${least.needed} needed`]),
  ].join('; ')
}
