import type { Chapter, CourseOnPage } from '../src/server/api/schemas.ts'

/** A course starts up to a look before or after its event. */
const NEAR_MS = 60_000

/**
 * Returns the courses of each chapter, in its order. Each is listed once, in the chapter with the most events of its
 * cluster or Power during it; one without events is not listed.
 */
export function coursesByChapter(
  chapters: readonly Chapter[],
  courses: readonly CourseOnPage[],
): readonly (readonly CourseOnPage[])[] {
  const found = chapters.map((): CourseOnPage[] => [])
  for (const course of courses) {
    const counts = chapters.map(
      ({ events }) =>
        events.filter(
          ({ key, atMs }) => key === course.key && atMs >= course.fromMs - NEAR_MS && atMs <= course.seenMs + NEAR_MS,
        ).length,
    )
    const most = Math.max(0, ...counts)
    if (most > 0) found[counts.indexOf(most)]?.push(course)
  }
  return found
}

/** Returns the time from a chapter's first step to its last; without `toMs` while one goes on. */
export function extentOf(
  { spans }: Pick<Chapter, 'spans'>,
  courses: readonly CourseOnPage[],
): { readonly fromMs: number; readonly toMs?: number } | undefined {
  const parts = [
    ...spans,
    ...courses.map(({ fromMs, seenMs, over }) => ({ fromMs, ...(over ? { toMs: seenMs } : {}) })),
  ]
  if (parts.length === 0) return undefined
  const fromMs = Math.min(...parts.map((part) => part.fromMs))
  const ends = parts.map(({ toMs }) => toMs)
  if (ends.includes(undefined)) return { fromMs }
  return { fromMs, toMs: Math.max(...ends.map((end) => end ?? 0)) }
}
