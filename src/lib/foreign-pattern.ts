import { createRequire } from 'node:module'
import type * as Re2 from '@bufbuild/re2'
import { LIMITS } from './limits.ts'
import { groupsIn } from './pattern-groups.ts'

/** An untrusted regular expression, compiled. */
export interface ForeignPattern {
  /** Reports whether it matches anywhere in the text. */
  finds(text: string): boolean
  /** Reports whether it matches the whole text. */
  fits(text: string): boolean
  /** Returns the first match with its groups; undefined if there is none. */
  groups(text: string): readonly (string | undefined)[] | undefined
}

/** A pattern that is not tried at all, in a sentence without its text. */
export class PatternRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PatternRefused'
  }
}

const kept = new Map<string, ForeignPattern>()

/**
 * A pattern in RE2's syntax, which is that of Go and so of kustomize and sops: no backreferences, no looking around,
 * and so linear time. JavaScript's engine must never get an untrusted pattern: `(a+)+b` and thirty letters stop it for
 * hours. Throws PatternRefused.
 */
export function foreignPattern(source: string): ForeignPattern {
  const known = kept.get(source)
  if (known !== undefined) return known
  if (source.length > LIMITS.patternLength)
    throw new PatternRefused(`a pattern has at most ${LIMITS.patternLength} characters`)
  // A repetition is written out as often as it says when the pattern is compiled, which costs time before any text is seen.
  for (const [, from = '0', to = ''] of source.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g))
    if (Math.max(Number(from), Number(to)) > LIMITS.patternRepeats)
      throw new PatternRefused(`a pattern repeats something at most ${LIMITS.patternRepeats} times`)
  const compiled = compile(source)
  const short = (text: string) => {
    if (text.length > LIMITS.patternTextLength)
      throw new PatternRefused(`a text that is matched has at most ${LIMITS.patternTextLength} characters`)
    return text
  }
  const made: ForeignPattern = {
    finds: (text) => compiled.test(short(text)),
    fits: (text) => compiled.matches(short(text)),
    groups: (text) => groupsIn(compiled.re2().prog, short(text)),
  }
  if (kept.size >= LIMITS.patternsKept) kept.clear()
  kept.set(source, made)
  return made
}

/** Loaded for the first pattern: few estates have one. */
function re2(): typeof Re2 {
  library ??= createRequire(import.meta.url)('@bufbuild/re2') as typeof Re2
  return library
}
let library: typeof Re2 | undefined

function compile(source: string): Re2.RE2JS {
  const { RE2JS } = re2()
  try {
    return RE2JS.compile(source)
  } catch {
    throw new PatternRefused('it is not a pattern of RE2: backreferences and looking around are not read')
  }
}
