import { createRequire } from 'node:module'
import type * as Age from 'age-encryption'

let loaded: typeof Age | undefined

/** Encryption with age. Loaded when something is encrypted: its curves cost every plan 10 ms, and few have secrets in age. */
export function ageLibrary(): typeof Age {
  loaded ??= createRequire(import.meta.url)('age-encryption') as typeof Age
  return loaded
}
