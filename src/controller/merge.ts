import type { FieldProblem } from '../kinds/kind.ts'
import type { Declaration } from '../model/declaration.ts'
import type { ResourceKey } from '../model/key.ts'
import { showOrigin } from '../model/origin.ts'
import type { Problem } from '../model/problem.ts'
import type { Revision } from '../source/revision.ts'

/** A source's revision that is in force. */
export interface InForce {
  readonly source: string
  readonly revision: Revision
}

/**
 * Several sources as one revision. Where two of them declare the same thing nobody can say which is meant: neither is
 * followed, and neither counts as gone. Each place is told with the name of its source.
 */
export function mergeRevisions(parts: readonly InForce[]): Revision {
  const only = parts[0]
  if (only !== undefined && parts.length === 1) return only.revision
  const owner = new Map<ResourceKey, { readonly declaration: Declaration; readonly part: InForce }>()
  const problems: Problem[] = []
  const twice = new Set<ResourceKey>()
  for (const part of parts) {
    problems.push(...part.revision.problems.map((problem) => fromSource(part.source, problem)))
    for (const declaration of part.revision.declarations) {
      const first = owner.get(declaration.key)
      if (first === undefined) owner.set(declaration.key, { declaration, part })
      else {
        twice.add(declaration.key)
        problems.push(duplicate(declaration, part.source, first.declaration, first.part.source))
      }
    }
  }
  for (const key of twice) owner.delete(key)
  const told = [...owner.values()].map(({ declaration, part }) => ({
    ...declaration,
    origin: { ...declaration.origin, file: `${part.source}:${declaration.origin.file}` },
  }))
  const original = (key: ResourceKey) => owner.get(key)
  return {
    id: parts.map(({ source, revision }) => `${source}@${revision.id}`).join(','),
    declarations: told,
    problems,
    ignored: parts.flatMap(({ source, revision }) =>
      revision.ignored.map((one) => ({ ...one, file: `${source}:${one.file}` })),
    ),
    files: parts.reduce((sum, { revision }) => sum + revision.files, 0),
    unreadable: [...new Set([...parts.flatMap(({ revision }) => revision.unreadable), ...twice])].sort(),
    incomplete: parts.some(({ revision }) => revision.incomplete),
    locate: (declaration, path) => {
      const found = original(declaration.key)
      return found === undefined ? declaration.origin : found.part.revision.locate(found.declaration, path)
    },
    problemAt: (declaration, problem) => {
      const found = original(declaration.key)
      return found === undefined
        ? plain(declaration, problem)
        : fromSource(found.part.source, found.part.revision.problemAt(found.declaration, problem))
    },
    read: (file) => readFrom(parts, file),
    objectsAt: (place, declaration) =>
      declaration === undefined ? undefined : original(declaration.key)?.part.revision.objectsAt?.(place),
    text: (declaration) => {
      const found = original(declaration.key)
      return found?.part.revision.text?.(found.declaration)
    },
  }
}

/** `home:secrets.yaml` is a file of that source; without a name it must be in one source alone. */
async function readFrom(parts: readonly InForce[], file: string): Promise<string | undefined> {
  const named = parts.find(({ source }) => file.startsWith(`${source}:`))
  if (named !== undefined) return named.revision.read?.(file.slice(named.source.length + 1))
  const found: { readonly source: string; readonly text: string }[] = []
  for (const { source, revision } of parts) {
    const text = await revision.read?.(file)
    if (text !== undefined) found.push({ source, text })
  }
  if (found.length > 1)
    throw new Error(
      `${file} is in several sources: write ${found.map(({ source }) => `${source}:${file}`).join(' or ')}`,
    )
  return found[0]?.text
}

function fromSource(source: string, problem: Problem): Problem {
  return { ...problem, origin: { ...problem.origin, file: `${source}:${problem.origin.file}` } }
}

function duplicate(declaration: Declaration, source: string, first: Declaration, firstSource: string): Problem {
  return {
    code: 'duplicate-object',
    origin: { ...declaration.origin, file: `${source}:${declaration.origin.file}` },
    object: declaration.key,
    message: `${declaration.key} is declared by two sources: here and at ${firstSource}:${showOrigin(first.origin)}`,
    hint: 'remove one of them, or give it another name',
    severity: 'error',
  }
}

function plain(declaration: Declaration, { code, path, message, hint, severity }: FieldProblem): Problem {
  return {
    code,
    origin: declaration.origin,
    object: declaration.key,
    field: path.join('.'),
    message,
    ...(hint === undefined ? {} : { hint }),
    severity: severity ?? 'error',
  }
}
