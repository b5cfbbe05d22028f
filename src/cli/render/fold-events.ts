import type { CroftEvent } from '../../model/event.ts'

/** One thing that was said once or many times. */
export interface FoldedEvent {
  /** The last time that it was said. */
  readonly event: CroftEvent
  readonly count: number
  readonly firstMs: number
}

/**
 * The same trouble told at every attempt hides everything else: it is one line, at its last place, with how often and
 * since when. What was done stays as it was told: each time it was done again.
 */
export function foldEvents(events: readonly CroftEvent[]): readonly FoldedEvent[] {
  const folded = new Map<string, FoldedEvent>()
  for (const [index, event] of events.entries()) {
    const { type, key, reason, message, commit } = event
    const same = type === 'Warning' ? JSON.stringify([key, reason, message, commit]) : String(index)
    const before = folded.get(same)
    // Taken out first, so that it comes to stand where it was said last.
    folded.delete(same)
    folded.set(same, { event, count: (before?.count ?? 0) + 1, firstMs: before?.firstMs ?? event.atMs })
  }
  return [...folded.values()]
}
