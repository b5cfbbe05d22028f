import { useState } from 'preact/hooks'
import type { Chapter, CourseOnPage, Page, Span } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { coursesByChapter, extentOf } from '../chapter-courses.ts'
import { clockTime, duration, plural, shortCommit } from '../format.ts'
import { useCalm, useFetched, useNow } from '../hooks.ts'
import { live } from '../live.ts'
import { Ago, Awaited, Card, Empty } from '../parts/bits.tsx'
import { EventTable } from '../parts/event-table.tsx'
import { Badge, Icon } from '../parts/icon.tsx'
import { later } from '../parts/later.tsx'
import { hrefTo, hrefToKey } from '../route.ts'

const CourseInChapter = later(() => import('./course.tsx').then((module) => module.CourseInChapter), 0)

export function TimelineView({ page }: { readonly page: Page }) {
  const { events } = live.use()
  const newest = useCalm(events[0]?.seq)
  const fetched = useFetched(() => api.timeline(), [newest, page.sources[0]?.commit])
  const { value } = fetched
  const now = useNow(ASKED_MS)
  const { courses = [], atMs = 0 } = useFetched(() => api.courses(), [newest, Math.floor(now / ASKED_MS)]).value ?? {}
  if (value === undefined) return <Awaited fetched={fetched} />
  const byChapter = coursesByChapter(value.chapters, courses)
  return (
    <>
      <header class="view-head">
        <h1>Timeline</h1>
        <span class="muted">what was asked, what was done, and where the time went</span>
      </header>
      {value.chapters.length === 0 && (
        <Empty icon="timeline" title="No events yet">
          The first commit that changes something begins the story.
        </Empty>
      )}
      <ol class="chapters">
        {value.chapters.map((chapter, index) => (
          <li key={chapter.commit ?? `none${index}`}>
            <ChapterCard chapter={chapter} courses={byChapter[index] ?? []} atMs={atMs} />
          </li>
        ))}
      </ol>
    </>
  )
}

function ChapterCard({
  chapter,
  courses,
  atMs,
}: {
  readonly chapter: Chapter
  readonly courses: readonly CourseOnPage[]
  readonly atMs: number
}) {
  const [open, set] = useState(false)
  const extent = extentOf(chapter, courses)
  return (
    <Card class="chapter">
      <div class="chapter-head">
        <span class="chapter-dot" aria-hidden="true">
          <Icon name="commit" size={16} />
        </span>
        <div class="grow">
          <h2>{chapter.subject ?? titleOf(chapter)}</h2>
          <p class="muted">
            {chapter.commit !== undefined && <code>{shortCommit(chapter.commit)}</code>}{' '}
            {chapter.author !== undefined && <>by {chapter.author}, </>}
            <Ago atMs={chapter.firstMs} />
          </p>
        </div>
        {chapter.warnings > 0 && <Badge tone="warn" word={plural(chapter.warnings, 'warning')} />}
        {extent !== undefined && <Took extent={extent} />}
      </div>
      {chapter.spans.length > 0 && <Waterfall spans={chapter.spans} />}
      {courses.map((course) => (
        <CourseInChapter key={`${course.key} ${course.fromMs}`} course={course} nowMs={atMs} />
      ))}
      {extent === undefined && chapter.commit !== undefined && (
        <p class="muted chapter-none">
          {chapter.waits === true ? (
            <a href={hrefTo('plan')}>Its plan waits for approval.</a>
          ) : (
            'No changes were needed.'
          )}
        </p>
      )}
      {chapter.events.length > 0 && (
        <button type="button" class="button-quiet" aria-expanded={open} onClick={() => set(!open)}>
          {open ? 'Hide' : 'Show'} {plural(chapter.events.length, 'event')}
        </button>
      )}
      {open && <EventTable events={chapter.events} />}
    </Card>
  )
}

/** Returns a chapter's title if no commit has a subject. */
function titleOf({ commit }: Chapter): string {
  if (commit === undefined) return 'Not from a commit'
  return /^[0-9a-f]{40}/.test(commit) ? 'A commit' : 'The files of the directory'
}

function Took({ extent: { fromMs, toMs } }: { readonly extent: NonNullable<ReturnType<typeof extentOf>> }) {
  const now = useNow()
  const running = toMs === undefined
  return (
    <Badge tone={running ? 'busy' : 'ok'} word={`${running ? 'for ' : 'in '}${duration((toMs ?? now) - fromMs)}`} />
  )
}

const ASKED_MS = 5000

const SHOWN = 60
const SORTS = [
  ['seen', 'commit to first step'],
  ['step', "croft's steps"],
  ['settle', 'until ready'],
] as const

/** Returns the time during which at least one span of a kind was running; parallel ones count once. */
function covered(spans: readonly Span[], kind: Span['kind'], now: number): number {
  let [sum, end] = [0, 0]
  for (const { fromMs, toMs = now } of spans
    .filter((span) => span.kind === kind)
    .toSorted((a, b) => a.fromMs - b.fromMs)) {
    sum += Math.max(0, toMs - Math.max(end, fromMs))
    end = Math.max(end, toMs)
  }
  return sum
}

function Waterfall({ spans }: { readonly spans: readonly Span[] }) {
  // Finished spans do not change, so render less often.
  const now = useNow(spans.some(({ toMs }) => toMs === undefined) ? 1000 : 60_000)
  const from = Math.min(...spans.map(({ fromMs }) => fromMs))
  const to = Math.max(from + 1, ...spans.map(({ toMs }) => toMs ?? now))
  const at = (ms: number) => ((ms - from) / (to - from)) * 100
  const groups = [...Map.groupBy(spans.slice(0, SHOWN), ({ key }) => key)]
  return (
    <div class="waterfall">
      <div class="waterfall-line is-axis muted" aria-hidden="true">
        <span />
        <span class="waterfall-axis">
          {[0, 0.25, 0.5, 0.75].map((share) => (
            <span key={share} class={share % 0.5 === 0 ? '' : 'wide-only'}>
              {share === 0 ? '0' : duration((to - from) * share)}
            </span>
          ))}
        </span>
        <span />
      </div>
      {groups.map(([key, own]) => (
        <div key={key} class="waterfall-group">
          <a class="waterfall-key clip" href={hrefToKey(key)}>
            {key}
          </a>
          {own.map((span, index) => {
            const end = span.toMs ?? now
            const words = `${span.label}: ${duration(end - span.fromMs)}${span.failed ? ', failed' : ''}`
            return (
              <div key={index} class="waterfall-line" title={`${words}, from ${clockTime(span.fromMs)}`}>
                <span class="waterfall-label clip">
                  {span.failed && <Icon name="bad" size={13} />} {span.label}
                </span>
                <span class="waterfall-track">
                  <i
                    class={`span span-${span.kind} ${span.failed ? 'is-failed' : ''} ${span.toMs === undefined ? 'is-running' : ''}`}
                    style={{ left: `${at(span.fromMs)}%`, width: `${Math.max(0.6, at(end) - at(span.fromMs))}%` }}
                  />
                </span>
                <span class="waterfall-time">{duration(end - span.fromMs)}</span>
              </div>
            )
          })}
        </div>
      ))}
      {spans.length > SHOWN && <p class="muted">and {spans.length - SHOWN} more steps</p>}
      <p class="waterfall-legend muted">
        {SORTS.map(([kind, words]) => {
          const ms = covered(spans, kind, now)
          if (ms === 0) return null
          // A plan that waited for a person counts from the approval: its bars say so.
          const said = kind === 'seen' ? spans.find((span) => span.kind === kind)?.label : undefined
          return (
            <span key={kind}>
              <i class={`span span-${kind}`} /> {said ?? words} <b>{duration(ms)}</b>
            </span>
          )
        })}
      </p>
    </div>
  )
}
