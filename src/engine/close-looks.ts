import { LIMITS } from '../lib/limits.ts'
import type { Sighting } from '../model/resource.ts'
import { versionOf } from '../model/shown-step.ts'
import type { Step } from '../model/step.ts'

/** Close looks that are still good, by external id. One per connection, for as long as the process lives. */
export type CloseLooks = Map<string, Sighting>

/**
 * Puts what was read closely earlier back onto a survey's sightings, where the survey shows nothing that has changed
 * since. This is why a settled estate costs two calls a sweep. Nothing is ever written on the strength of an old look:
 * see `isGoodFor`.
 */
export function remember(looks: CloseLooks, seen: readonly Sighting[], atMs: number): Map<string, Sighting> {
  const merged = new Map<string, Sighting>()
  for (const sighting of seen) {
    const before = looks.get(sighting.externalId)
    if (before?.close === undefined) continue
    if (changedSince(before, sighting, atMs)) looks.delete(sighting.externalId)
    else merged.set(sighting.externalId, { ...sighting, ...markOf(before), close: before.close })
  }
  return merged
}

function markOf(before: Sighting): Pick<Sighting, 'mark'> {
  return before.mark === undefined ? {} : { mark: before.mark }
}

function changedSince(before: Sighting, now: Sighting, atMs: number): boolean {
  return (
    nameChanged(before, now) ||
    before.host !== now.host ||
    before.lock !== now.lock ||
    powerChanged(before, now, atMs) ||
    before.template !== now.template ||
    before.mark?.uid !== now.mark?.uid ||
    (before.uptimeSeconds !== undefined && now.uptimeSeconds !== undefined && now.uptimeSeconds < before.uptimeSeconds)
  )
}

/** A survey has no name, or an old one, for a guest that was just made: only another one than it had then is news. */
function nameChanged(before: Sighting, now: Sighting): boolean {
  return now.name !== undefined && now.name !== before.name && now.name !== before.close?.surveyedName
}

/**
 * What the guest itself said counts. A survey that still says what it said then has only not caught up, as long as that
 * can take; should it say something else, believe neither.
 */
function powerChanged(before: Sighting, now: Sighting, atMs: number): boolean {
  const known = before.close?.power ?? before.power
  if (known === now.power) return false
  const late = atMs - (before.close?.atMs ?? atMs) < LIMITS.surveyLagMs
  // A survey that knows nothing of a new guest yet says nothing against what was read of it.
  return now.power !== before.power || (now.power !== 'unknown' && !late)
}

/**
 * May this be done on the strength of what was last read? A step that carries the version it was decided on is refused
 * where that is no longer the one. A guest that is to be deleted was read a moment ago, and the survey of this pass,
 * which shows its mark, its lock and its host, has shown no change since. Anything else is read in the pass that does it.
 */
export function isGoodFor(step: Step, sighting: Sighting | undefined, passStartedMs: number): boolean {
  if (sighting?.close === undefined) return true
  const { atMs } = sighting.close
  if (atMs >= passStartedMs || versionOf(step) !== undefined) return true
  return step.verb === 'delete' && step.lane === 'rest' && passStartedMs - atMs < LIMITS.deleteLookMs
}

/**
 * Drops the oldest few close looks, so that they are read anew in this pass: a change of configuration through the
 * system's own page leaves nothing in a survey by which it could be seen.
 */
export function forgetForSweep(
  looking: { readonly looks: CloseLooks; readonly close: Map<string, Sighting> },
  oldest: number,
): void {
  if (oldest <= 0) return
  const byAge = [...looking.looks]
    .map(([externalId, sighting]) => ({ externalId, atMs: sighting.close?.atMs ?? 0 }))
    .sort((a, b) => a.atMs - b.atMs)
  for (const { externalId } of byAge.slice(0, oldest)) {
    looking.looks.delete(externalId)
    looking.close.delete(externalId)
  }
}
