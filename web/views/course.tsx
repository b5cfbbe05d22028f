import { useState } from 'preact/hooks'
import type { CourseOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { type CourseLayout, elapsed, layoutOf, type PlacedBar, type VoteSpan } from '../course-layout.ts'
import { duration } from '../format.ts'
import { useFetched, useNarrow, useNow } from '../hooks.ts'
import { Ago, Card } from '../parts/bits.tsx'
import { Badge } from '../parts/icon.tsx'
import { hrefToKey } from '../route.ts'

const RUNNING_MS = 2000
const RESTING_MS = 15_000
/** Older courses are hidden until asked for. */
const NEWS_MS = 24 * 3_600_000

/** Shows a running change of a cluster or a Power: a lane per node, a bar per step, votes above. */
export function Courses({ of, phase }: { readonly of: string; readonly phase: string }) {
  const [pace, setPace] = useState(RUNNING_MS)
  const [older, showOlder] = useState(false)
  const now = useNow(1000)
  const fetched = useFetched(
    async () => {
      const answer = await api.courses(of)
      setPace(answer.courses.some(({ over }) => !over) ? RUNNING_MS : RESTING_MS)
      return answer
    },
    [of, phase, Math.floor(now / pace)],
    of,
  )
  const { courses = [], atMs = 0 } = fetched.value ?? {}
  if (courses.length === 0) return null
  const [newest] = courses
  const fresh = newest !== undefined && (!newest.over || atMs - newest.seenMs < NEWS_MS)
  const shown = older ? courses : fresh ? [newest] : []
  return (
    <>
      {shown.map((course) => (
        <OneCourse key={course.fromMs} course={course} nowMs={atMs} />
      ))}
      {shown.length < courses.length && (
        <button type="button" class="button-quiet course-older" onClick={() => showOlder(true)}>
          Earlier changes, step by step
        </button>
      )}
    </>
  )
}

function OneCourse({ course, nowMs }: { readonly course: CourseOnPage; readonly nowMs: number }) {
  return (
    <Card class="course" title={course.title} aside={<Ended course={course} nowMs={nowMs} />}>
      <Picture course={course} nowMs={nowMs} />
    </Card>
  )
}

/** Shows a course in a chapter of the timeline. */
export function CourseInChapter({ course, nowMs }: { readonly course: CourseOnPage; readonly nowMs: number }) {
  return (
    <section class="course chapter-course">
      <header class="chapter-course-head">
        <h3>
          <a href={hrefToKey(course.key)}>{course.key}</a> {course.title}
        </h3>
        <span>
          <Ended course={course} nowMs={nowMs} />
        </span>
      </header>
      <Picture course={course} nowMs={nowMs} />
    </section>
  )
}

function Ended({ course, nowMs }: { readonly course: CourseOnPage; readonly nowMs: number }) {
  const { tookMs } = layoutOf(course, nowMs)
  return (
    <>
      {course.over && <Ago atMs={course.seenMs} />}{' '}
      <Badge tone={course.over ? 'ok' : 'busy'} word={`${course.over ? 'took' : 'for'} ${duration(tookMs)}`} />
    </>
  )
}

function Picture({ course, nowMs }: { readonly course: CourseOnPage; readonly nowMs: number }) {
  const [text, showText] = useState(false)
  const layout = layoutOf(course, nowMs)
  const { tookMs, lanes, band, sentence } = layout
  return (
    <>
      {!text && (
        <div class="course-picture" role="img" aria-label={sentence}>
          <Axis tookMs={tookMs} />
          {band.length > 0 && <Band band={band} />}
          {lanes.map((lane) => (
            <div key={lane.name} class="course-lane" data-lane={lane.name}>
              <span class="course-name clip">{lane.name}</span>
              <span class="course-track">
                {lane.bars.map((bar, index) => (
                  <Bar key={index} bar={bar} />
                ))}
              </span>
            </div>
          ))}
          <Legend lanes={lanes} />
        </div>
      )}
      {text && <AsText layout={layout} />}
      <button type="button" class="button-quiet" aria-expanded={text} onClick={() => showText(!text)}>
        {text ? 'Show as a picture' : 'Show as text'}
      </button>
    </>
  )
}

/** Share of the lane that a word needs per letter; otherwise only the legend has it. */
const LETTER = { wide: 0.95, narrow: 2.4 }

function Bar({ bar }: { readonly bar: PlacedBar }) {
  const letter = useNarrow() ? LETTER.narrow : LETTER.wide
  const named = bar.width > bar.step.length * letter
  return (
    <i
      class={`course-bar is-${bar.sort} ${bar.running ? 'is-running' : ''}`}
      data-step={bar.step}
      title={bar.title}
      style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
    >
      {named && bar.step}
    </i>
  )
}

function Axis({ tookMs }: { readonly tookMs: number }) {
  return (
    <div class="course-lane is-axis muted">
      <span />
      <span class="course-axis">
        {[0, 0.25, 0.5, 0.75].map((share) => (
          <span key={share} class={share % 0.5 === 0 ? '' : 'wide-only'}>
            {elapsed(tookMs * share)}
          </span>
        ))}
      </span>
    </div>
  )
}

const BAND_HEIGHT = 36

/** Votes up as steps; the line below which etcd stops runs between as many as are needed and one fewer. */
function Band({ band }: { readonly band: readonly VoteSpan[] }) {
  const most = Math.max(...band.map(({ voters }) => voters))
  const y = (votes: number) => BAND_HEIGHT - 2 - (votes / most) * (BAND_HEIGHT - 6)
  const last = band.at(-1)
  return (
    <div class="course-lane course-band">
      <span class="course-name">
        Votes
        {last !== undefined && (
          <span class={last.held === false ? 'tone-bad' : 'muted'}>
            {' '}
            {last.up === 'unknown' ? '?' : last.up} of {last.voters}, {last.needed} needed
          </span>
        )}
      </span>
      <svg viewBox={`0 0 100 ${BAND_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {band.map((span, index) => (
          <VoteBar key={index} span={span} y={y} />
        ))}
        <path class="band-line" d={steps(band, y)} vector-effect="non-scaling-stroke" />
        <path
          class="band-needed"
          d={band.map(({ left, width, needed }) => `M${left} ${y(needed - 0.5)}h${width}`).join('')}
          vector-effect="non-scaling-stroke"
        />
      </svg>
    </div>
  )
}

function VoteBar({ span, y }: { readonly span: VoteSpan; readonly y: (votes: number) => number }) {
  const { left, width, up, voters, needed, held } = span
  const top = y(up === 'unknown' ? voters : up)
  const words = up === 'unknown' ? 'votes not known' : `${up} of ${voters} votes up, ${needed} needed`
  return (
    <rect
      class={held === 'unknown' ? 'band-unknown' : held ? 'band-held' : 'band-lost'}
      x={left}
      width={width}
      // Draw a band without a vote too: a gap would look like an unobserved time.
      y={held === false ? y(voters) : top}
      height={BAND_HEIGHT - (held === false ? y(voters) : top)}
    >
      <title>{words}</title>
    </rect>
  )
}

function steps(band: readonly VoteSpan[], y: (votes: number) => number): string {
  let line = ''
  let drawn = false
  for (const { left, width, up } of band) {
    if (up !== 'unknown') line += `${drawn ? 'L' : 'M'}${left} ${y(up)}h${width}`
    drawn = up !== 'unknown'
  }
  return line
}

const SORTS = [
  ['move', 'pods move'],
  ['change', 'is changed'],
  ['down', 'stops or restarts'],
  ['wait', 'waits'],
  ['off', 'off'],
] as const

function Legend({ lanes }: { readonly lanes: CourseLayout['lanes'] }) {
  const used = new Map<string, Set<string>>()
  for (const { bars } of lanes)
    for (const { sort, step } of bars) used.set(sort, (used.get(sort) ?? new Set()).add(step))
  return (
    <p class="course-legend muted">
      {SORTS.map(([sort, words]) => {
        const steps = used.get(sort)
        if (steps === undefined) return null
        return (
          <span key={sort}>
            <i class={`course-bar is-${sort}`} /> {words}: {[...steps].join(', ')}
          </span>
        )
      })}
    </p>
  )
}

function AsText({ layout: { lanes, band } }: { readonly layout: CourseLayout }) {
  return (
    <dl class="course-text">
      {band.length > 0 && (
        <div>
          <dt>Votes</dt>
          <dd>
            {band.map(({ up, voters }) => `${up === 'unknown' ? 'not known' : up} of ${voters}`).join(', then ')};{' '}
            {band.at(-1)?.needed} needed
          </dd>
        </div>
      )}
      {lanes.map(({ name, words }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  )
}
