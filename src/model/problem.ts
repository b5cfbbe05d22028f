import type { Origin } from './origin.ts'

/**
 * Something wrong with what a person wrote. Always names the place, what is wrong and, where we know it, what to do.
 * A problem never stops other objects from being read (one bad object must not hide the others).
 */
export interface Problem {
  /** Stable identifier for documentation and tests, e.g. `unknown-field`. */
  readonly code: string
  readonly origin: Origin
  /** `EnvironmentVM/web-1` when the object could be identified. */
  readonly object?: string
  /** Field path inside the document, e.g. `spec.forProvider.memory`. */
  readonly field?: string
  readonly message: string
  /** What to do about it: "did you mean networkDevice?". */
  readonly hint?: string
  /** The source lines around the place, already cut to a sane width, with terminal control characters removed. */
  readonly excerpt?: string
  /** A warning is shown and nothing is refused for it. */
  readonly severity: 'error' | 'warning'
}
