import type { LoadSample } from '../../../model/survey.ts'

/** One value is an average over this long. */
const SPAN_MS = 60_000

/**
 * Since when a host has been busy without a pause, if that is long enough to keep new machines away. One quiet minute
 * ends it; values that nobody took are neither.
 */
export function busySince(
  samples: readonly LoadSample[],
  limit: { readonly above: number; readonly forMs: number },
  nowMs: number,
): number | undefined {
  let since: number | undefined
  for (const { atMs, load } of [...samples].sort((a, b) => a.atMs - b.atMs)) {
    if (atMs > nowMs) break
    if (load <= limit.above) since = undefined
    else since ??= atMs - SPAN_MS
  }
  const last = samples.reduce((latest, { atMs }) => (atMs <= nowMs ? Math.max(latest, atMs) : latest), 0)
  // What was measured long ago says nothing about now.
  if (since === undefined || nowMs - last > limit.forMs) return undefined
  return nowMs - since >= limit.forMs ? since : undefined
}
