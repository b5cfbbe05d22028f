import type { Chapter, CourseOnPage } from '../src/server/api/schemas.ts'

/** A course begins a look before or after the event that tells of it. */
const NEAR_MS = 60_000

/**
 * The courses of each chapter, in its order: each stands once, in the chapter with the most events of its cluster or
 * Power while it ran. One that no event tells of stands nowhere.
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

/** From the first step of a chapter to its last, on machines and on clusters; `toMs` is absent while one goes on. */
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
