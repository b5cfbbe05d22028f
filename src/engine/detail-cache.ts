import { LIMITS } from '../lib/limits.ts'
import type { ObservedResource } from '../model/resource.ts'
import { versionOf } from '../model/shown-step.ts'
import type { Step } from '../model/step.ts'

/** Valid close looks by external id. One cache per connection and process. */
export type DetailCache = Map<string, ObservedResource>

/**
 * Adds earlier close looks to a survey's resources, if the survey shows no change since. So a settled estate costs two
 * calls per pass. No write relies on an old look: see `isGoodFor`.
 */
export function remember(
  looks: DetailCache,
  seen: readonly ObservedResource[],
  atMs: number,
): Map<string, ObservedResource> {
  const merged = new Map<string, ObservedResource>()
  for (const observed of seen) {
    const before = looks.get(observed.externalId)
    if (before?.close === undefined) continue
    if (changedSince(before, observed, atMs)) looks.delete(observed.externalId)
    else merged.set(observed.externalId, { ...observed, ...markOf(before), close: before.close })
  }
  return merged
}

function markOf(before: ObservedResource): Pick<ObservedResource, 'mark'> {
  return before.mark === undefined ? {} : { mark: before.mark }
}

function changedSince(before: ObservedResource, now: ObservedResource, atMs: number): boolean {
  return (
    nameChanged(before, now, atMs) ||
    before.host !== now.host ||
    before.lock !== now.lock ||
    powerChanged(before, now, atMs) ||
    before.template !== now.template ||
    before.mark?.uid !== now.mark?.uid ||
    (before.uptimeSeconds !== undefined && now.uptimeSeconds !== undefined && now.uptimeSeconds < before.uptimeSeconds)
  )
}

/**
 * Reports whether the name changed. A survey has no name, or an old one, for a new guest, so only another name than at
 * the close look counts. A new guest's first status may predate its name.
 */
function nameChanged(before: ObservedResource, now: ObservedResource, atMs: number): boolean {
  if (now.name === undefined || now.name === before.name || now.name === before.close?.surveyedName) return false
  return before.power !== 'unknown' || !isLate(before, atMs)
}

/**
 * Reports whether the power changed. The guest's own report counts. A survey that still shows its older value lags,
 * within the usual delay; any other value invalidates both.
 */
function powerChanged(before: ObservedResource, now: ObservedResource, atMs: number): boolean {
  const known = before.close?.power ?? before.power
  if (known === now.power) return false
  // A survey that does not know a new guest's power yet does not contradict the close look.
  return now.power !== before.power || (now.power !== 'unknown' && !isLate(before, atMs))
}

/** Reports whether the close look is so recent that a survey may be older. */
function isLate(before: ObservedResource, atMs: number): boolean {
  return atMs - (before.close?.atMs ?? atMs) < LIMITS.surveyLagMs
}

/**
 * Reports whether the last close look is good enough for a step. If the step carries the version that was read, the API
 * refuses a stale one. A guest to delete was read a moment ago, and this pass's survey, with its mark, lock and host,
 * shows no change since. All else must be read in this pass.
 */
export function isGoodFor(step: Step, observed: ObservedResource | undefined, passStartedMs: number): boolean {
  if (observed?.close === undefined) return true
  const { atMs } = observed.close
  if (atMs >= passStartedMs || versionOf(step) !== undefined) return true
  return step.verb === 'delete' && step.lane === 'rest' && passStartedMs - atMs < LIMITS.deleteLookMs
}

/**
 * Drops the oldest close looks and returns their ids, so that this pass reads them again: a survey does not show a
 * change of configuration through the system's own page.
 */
export function forgetForSweep(
  facts: { readonly looks: DetailCache; readonly close: Map<string, ObservedResource> },
  oldest: number,
): readonly string[] {
  if (oldest <= 0) return []
  const byAge = [...facts.looks]
    .map(([externalId, observed]) => ({ externalId, atMs: observed.close?.atMs ?? 0 }))
    .sort((a, b) => a.atMs - b.atMs)
  const forgotten = byAge.slice(0, oldest).map(({ externalId }) => externalId)
  for (const externalId of forgotten) {
    facts.looks.delete(externalId)
    facts.close.delete(externalId)
  }
  return forgotten
}
