import { hash } from 'node:crypto'
import type { ResourceKey } from './declaration.ts'

/**
 * A person's permission for one held action. It lifts one guard for the action whose list the person was shown, and for
 * one that does less.
 */
export interface Consent {
  readonly by: string
  readonly key: ResourceKey
  /** The guard that it lifts. */
  readonly guard: string
  /** The list that was shown. Absent for drift that the policy ignores: no list is shown, and changed fields alone are covered. */
  readonly shown?: readonly string[] | undefined
  /** Absent: it ends with the drift. */
  readonly expiresMs?: number | undefined
  /** Its first call was made: from then on it ends with that attempt, not by the clock. */
  readonly opened?: boolean | undefined
}

/** Returns the short name of a list under a guard: what a page sends back of what it showed. */
export function shownHash(guard: string, shown: readonly string[]): string {
  return hash('sha256', [guard, ...shown].join('\0')).slice(0, 16)
}
