import type { Problem } from '../../model/declaration.ts'
import type { InForce } from './merge.ts'

/** A revision that was read and is not followed yet. */
export interface RevisionCandidate extends InForce {
  /** Valid objects count although others have errors. */
  readonly keepGoing: boolean
  /** Objects are independent: an error in one does not affect the others. */
  readonly alone?: boolean
}

export interface Whole {
  /** The revisions to follow. A partial one declares less than intended: nothing may be deleted because of it. */
  readonly accepted: readonly InForce[]
  /** Problems of the others, by source. */
  readonly refused: ReadonlyMap<string, readonly Problem[]>
}

/**
 * Follows revisions whole: with an error in a revision, the current one stays. Without a whole current one, or with
 * `keepGoing`, it is followed as far as it can be. A revision also waits if it would break the declarations of another
 * source, but a source with a grant cannot hold back one without. Pure.
 */
export async function wholeOnly(
  inForce: readonly InForce[],
  candidates: readonly RevisionCandidate[],
  errorsIn: (parts: readonly InForce[]) => Promise<readonly Problem[]>,
): Promise<Whole> {
  const together = (some: readonly InForce[]): readonly InForce[] => {
    const names = new Set(some.map(({ source }) => source))
    return [...inForce.filter(({ source }) => !names.has(source)), ...some]
  }
  const many = together(candidates).length > 1
  const isOf = (source: string) => (problem: Problem) => !many || problem.origin.file.startsWith(`${source}:`)
  let found: readonly Problem[] | undefined
  const errorsBefore = async () => {
    found ??= inForce.length === 0 ? [] : await errorsIn(inForce)
    return found
  }

  const refused = new Map<string, readonly Problem[]>()
  let left = candidates
  while (left.length > 0) {
    const errors = await errorsIn(together(left))
    if (errors.length === 0) return { accepted: left.map(plain), refused }
    const before = await errorsBefore()
    const known = new Set(before.map(identity))
    /** Reports whether the source has no whole revision to stay with. */
    const hasNoBetter = (source: string) => !inForce.some((one) => one.source === source) || before.some(isOf(source))
    const elsewhere = errors.filter(
      (problem) =>
        !known.has(identity(problem)) &&
        inForce.some((one) => one.grant === undefined && isOf(one.source)(problem)) &&
        !left.some(({ source }) => isOf(source)(problem)),
    )
    const out = left.flatMap((one) => {
      const own = errors.filter(isOf(one.source))
      const wrong = one.grant === undefined || own.length > 0 ? [...own, ...elsewhere] : own
      if (wrong.length === 0 || one.keepGoing || one.alone === true || hasNoBetter(one.source)) return []
      return [[one.source, wrong] as const]
    })
    if (out.length === 0)
      return {
        accepted: left.map((one) => (errors.some(isOf(one.source)) && one.alone !== true ? inPart(one) : plain(one))),
        refused,
      }
    for (const [source, found] of out) refused.set(source, found)
    left = left.filter(({ source }) => !refused.has(source))
  }
  return { accepted: [], refused }
}

function plain({ keepGoing: _, alone: _alone, ...rest }: RevisionCandidate): InForce {
  return rest
}

function inPart(candidate: RevisionCandidate): InForce {
  const { revision, ...rest } = plain(candidate)
  return { ...rest, revision: { ...revision, incomplete: true } }
}

function identity({ code, object, message, origin: { file, line } }: Problem): string {
  return JSON.stringify([code, object, message, file, line])
}
