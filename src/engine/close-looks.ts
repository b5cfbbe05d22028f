import type { Sighting } from '../model/sighting.ts'

/** Close looks that are still good, by external id. One per connection, for as long as the process lives. */
export type CloseLooks = Map<string, Sighting>

/**
 * Puts what was read closely earlier back onto a survey's sightings, where the survey shows nothing that has changed
 * since. This is why a settled estate costs two calls a sweep. Nothing is ever written on the strength of an old look:
 * see `isFromThisPass`.
 */
export function remember(looks: CloseLooks, seen: readonly Sighting[]): Map<string, Sighting> {
  const merged = new Map<string, Sighting>()
  for (const sighting of seen) {
    const before = looks.get(sighting.externalId)
    if (before?.close === undefined) continue
    if (changedSince(before, sighting)) looks.delete(sighting.externalId)
    else merged.set(sighting.externalId, { ...sighting, ...markOf(before), close: before.close })
  }
  return merged
}

function markOf(before: Sighting): Pick<Sighting, 'mark'> {
  return before.mark === undefined ? {} : { mark: before.mark }
}

function changedSince(before: Sighting, now: Sighting): boolean {
  return (
    before.name !== now.name ||
    before.host !== now.host ||
    before.lock !== now.lock ||
    before.power !== now.power ||
    // The guest itself said something else than the survey still says: believe neither for long.
    (before.close?.power !== undefined && before.close.power !== now.power) ||
    before.template !== now.template ||
    before.mark?.uid !== now.mark?.uid ||
    (before.uptimeSeconds !== undefined && now.uptimeSeconds !== undefined && now.uptimeSeconds < before.uptimeSeconds)
  )
}

export function isFromThisPass(sighting: Sighting | undefined, passStartedMs: number): boolean {
  return sighting?.close !== undefined && sighting.close.atMs >= passStartedMs
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
