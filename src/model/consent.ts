import { hash } from 'node:crypto'
import type { ResourceKey } from './declaration.ts'

/**
 * A person's permission for one held action. It lifts one guard for the action whose list the person saw, and for a
 * smaller one.
 */
export interface Consent {
  readonly by: string
  readonly key: ResourceKey
  /** The guard that it lifts. */
  readonly guard: string
  /** The list that was shown. Absent for drift that the policy ignores: no list is shown, and changed fields alone are covered. */
  readonly shown?: readonly string[] | undefined
  /** Absent: it expires with the drift. */
  readonly expiresMs?: number | undefined
  /** Its first call was made: from then on it expires with that attempt, not by the clock. */
  readonly opened?: boolean | undefined
}

/** Returns a list's hash under a guard, by which a page names the list that it showed. */
export function shownHash(guard: string, shown: readonly string[]): string {
  return hash('sha256', [guard, ...shown].join('\0')).slice(0, 16)
}
