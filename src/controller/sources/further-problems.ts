import { findKind } from '../../kinds/registry.ts'
import type { Problem } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import { link } from '../../plan/link.ts'
import type { Doubtful } from '../../source/doubtful.ts'
import type { Revision } from '../../source/git/revision.ts'

/** Problems that follow from a refused object. */
const FOLLOWS = new Set(['member-refused', 'failed'])

/**
 * Returns the problems that would appear after correcting the present ones: links again as if refused objects were
 * right. Only the problems enter the estate.
 */
export function furtherProblems(revision: Revision, linked: Estate): readonly Problem[] {
  const doubtful = new Map<string, Doubtful>()
  const known = new Set(revision.declarations.map(({ key }) => key))
  for (const one of revision.doubtful?.() ?? [])
    if (!known.has(one.declaration.key) && !doubtful.has(one.declaration.key)) doubtful.set(one.declaration.key, one)
  if (doubtful.size === 0) return []
  const said = new Set(linked.problems.map(nameOf))
  const found: Problem[] = []
  const say = (problem: Problem | undefined) => {
    if (problem === undefined || FOLLOWS.has(problem.code) || said.has(nameOf(problem))) return
    said.add(nameOf(problem))
    found.push(problem)
  }
  for (const { problems } of doubtful.values()) for (const problem of problems) say(problem)
  const whole = [...doubtful.values()].every((one) => one.whole)
  const again = link(
    {
      ...revision,
      declarations: [...revision.declarations, ...[...doubtful.values()].map(({ declaration }) => declaration)],
      problems: [],
      unreadable: revision.unreadable.filter((key) => !doubtful.has(key)),
    },
    {
      findKind,
      problemAt: (declaration, problem) => {
        const own = doubtful.get(declaration.key)
        const placed = revision.problemAt(declaration, problem)
        if (own !== undefined) return own.problemAt(problem) ?? { ...placed, code: 'failed' }
        // A value that was left out may be what others miss.
        return whole ? placed : { ...placed, code: 'failed' }
      },
    },
  )
  for (const problem of again.problems) say(problem)
  return found
}

function nameOf({ origin, code, message, object }: Problem): string {
  return [object, origin.file, origin.line, origin.column, code, message].join('\0')
}
