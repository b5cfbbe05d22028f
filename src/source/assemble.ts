import type { FieldProblem } from '../kinds/kind.ts'
import { defined } from '../lib/defined.ts'
import { lazily } from '../lib/lazily.ts'
import { type Declaration, type Problem, type ResourceKey, showOrigin } from '../model/declaration.ts'
import { setAside, type UnreadPath } from '../model/unread.ts'
import { type Doubtful, doubtfulOf } from './doubtful.ts'
import type { Ignored, Revision } from './git/revision.ts'
import type { JudgedObject } from './judge.ts'
import { type FileAt, fieldProblemAt, findingAt, originOf, plainProblem } from './yaml/problem-at.ts'

/** A judged file, or why it could not be read. */
export type FileOutcome = {
  readonly file: string
  /** The kustomization that brings it. */
  readonly through?: string
} & ({ readonly judged: readonly JudgedObject[] } | { readonly problem: Problem })

/** Puts the files together: one declaration per key, every problem with its place. */
export function assemble(
  id: string,
  outcomes: readonly FileOutcome[],
  commit: string | undefined,
  extra: {
    readonly problems: readonly Problem[]
    readonly ignored: readonly Ignored[]
    readonly incomplete: boolean
    readonly unread?: readonly UnreadPath[]
  },
): Revision {
  const problems: Problem[] = [...extra.problems]
  const ignored: Ignored[] = [...extra.ignored]
  const unread: UnreadPath[] = [...(extra.unread ?? [])]
  const unreadable = new Set<ResourceKey>()
  const byKey = new Map<ResourceKey, { declaration: Declaration; judged: JudgedObject; through?: string }>()
  const refused: { readonly judged: JudgedObject; readonly at: FileAt }[] = []
  let incomplete = extra.incomplete
  // A document that several kustomizations bring counts once: report its problems with the first.
  const firstThrough = new Map<string, string>()
  const toldBefore = (judged: JudgedObject, file: string, through: string | undefined) => {
    if (through === undefined) return false
    const place = `${file} ${judged.document.line} ${judged.base.join('.')}`
    const first = firstThrough.get(place)
    if (first === undefined) firstThrough.set(place, through)
    return first !== undefined && first !== through
  }

  for (const outcome of outcomes) {
    if ('problem' in outcome) {
      problems.push(outcome.problem)
      incomplete = true
      continue
    }
    const { through } = outcome
    const at: FileAt = { file: outcome.file, ...defined({ commit }) }
    for (const judged of outcome.judged) {
      if (judged.outcome === 'ignored' && toldBefore(judged, outcome.file, through)) continue
      problems.push(...problemsOf(judged, at))
      if (judged.outcome === 'unreadable') incomplete = true
      else if (judged.outcome === 'ignored') {
        ignored.push(ignoredOf(judged, at))
        if (judged.note !== undefined) unread.push(unreadAt(judged, at, judged.note))
      } else if (judged.outcome === 'refused') {
        // A kustomization's output has no text to point at.
        if (through === undefined) refused.push({ judged, at })
        if (judged.key === undefined) incomplete = true
        else unreadable.add(judged.key)
      } else {
        const declaration = declarationOf(judged, at)
        const first = byKey.get(declaration.key)
        const by = through === undefined ? {} : { through }
        if (first === undefined) byKey.set(declaration.key, { declaration, judged, ...by })
        else problems.push(duplicate(judged, first, through, at))
      }
    }
  }
  // Two objects with one key: neither is followed nor counts as removed, because either may be the right one.
  for (const problem of problems) {
    if (problem.code !== 'duplicate-object' || problem.object === undefined) continue
    unreadable.add(problem.object)
    const first = byKey.get(problem.object)
    if (first !== undefined && first.through === undefined)
      refused.push({ judged: first.judged, at: { file: first.declaration.origin.file, ...defined({ commit }) } })
    byKey.delete(problem.object)
  }
  for (const key of byKey.keys()) unreadable.delete(key)
  const declarations = [...byKey.values()]
  const sources = new Map(declarations.map(({ declaration, judged }) => [declaration.key, judged]))
  return {
    id,
    declarations: declarations.map(({ declaration }) => declaration),
    problems,
    ignored,
    files: outcomes.length,
    unreadable: [...unreadable].sort(),
    ...(unread.length === 0 ? {} : { unread }),
    incomplete,
    doubtful: lazily((): readonly Doubtful[] => refused.flatMap(({ judged, at }) => doubtfulOf(judged, at) ?? [])),
    locate: (declaration, path) =>
      problemOf(sources.get(declaration.key), declaration, { code: '', path, message: '' }).origin,
    text: (declaration) => sources.get(declaration.key)?.document.text,
    written: (declaration) => {
      const found = sources.get(declaration.key)
      return found === undefined ? undefined : { document: found.document, base: found.base }
    },
    problemAt: (declaration, problem) => problemOf(sources.get(declaration.key), declaration, problem),
  }
}

function problemsOf(judged: JudgedObject, at: FileAt): readonly Problem[] {
  const written = judged.findings.map((finding) => findingAt(judged, finding, at))
  const places = new Set(written.map((problem) => showOrigin(problem.origin)))
  // A number refused as ambiguous would also have the wrong type: report it once.
  const fields = judged.problems
    .map((problem) => fieldProblemAt(judged, problem, at))
    .filter((problem) => !places.has(showOrigin(problem.origin)))
  return [...written, ...fields]
}

function ignoredOf(judged: JudgedObject & { readonly outcome: 'ignored' }, at: FileAt): Ignored {
  return {
    file: at.file,
    line: originOf(judged, at).line,
    apiVersion: judged.apiVersion,
    kind: judged.kindName,
    ...defined({ note: judged.note }),
  }
}

/** A text in place of another file (a pointer of Git LFS, a link checked out as text) may declare anything. */
function unreadAt(
  { document, standsForAnother }: JudgedObject & { readonly outcome: 'ignored' },
  { file }: FileAt,
  note: string,
): UnreadPath {
  const { names, ...aside } = setAside(`${file}:${document.line}`.replace(/:1$/, ''), note, document.text)
  return standsForAnother === true ? aside : { ...aside, ...defined({ names }) }
}

function declarationOf(judged: JudgedObject & { readonly outcome: 'declared' }, at: FileAt): Declaration {
  const { metadata, composedBy } = judged
  const declaration: Declaration = {
    key: judged.key,
    apiVersion: judged.apiVersion,
    kind: judged.kind.kind,
    name: metadata.name,
    labels: metadata.labels,
    annotations: metadata.annotations,
    spec: judged.spec,
    policy: judged.policy,
    origin: originOf(judged, at),
    generation: judged.generation,
  }
  // Most have neither, and to copy even nothing into each of thousands costs.
  const { namespace } = metadata
  return namespace === undefined && composedBy === undefined
    ? declaration
    : { ...declaration, ...defined({ namespace, composedBy }) }
}

function duplicate(
  judged: JudgedObject,
  { declaration, through: before }: { readonly declaration: Declaration; readonly through?: string },
  through: string | undefined,
  at: FileAt,
): Problem {
  const shared = through !== undefined && before !== undefined && before !== through
  const [message, hint] = shared
    ? [
        `${declaration.key} is brought twice: by ${before} and by ${through}`,
        'follow one of the two alone (path), or give each a namePrefix',
      ]
    : [
        `${declaration.key} is declared twice: here and at ${showOrigin(declaration.origin)}`,
        'remove one of them, or give it another name',
      ]
  return fieldProblemAt(judged, { code: 'duplicate-object', path: ['metadata', 'name'], message, hint }, at)
}

/** A template makes many objects, so the message names the instance that has the problem. */
function named(problem: FieldProblem, { composedBy }: JudgedObject): FieldProblem {
  return composedBy === undefined ? problem : { ...problem, message: `${problem.message} (for ${composedBy.instance})` }
}

function problemOf(judged: JudgedObject | undefined, declaration: Declaration, problem: FieldProblem): Problem {
  const { file, commit } = declaration.origin
  if (judged !== undefined) return fieldProblemAt(judged, named(problem, judged), { file, ...defined({ commit }) })
  return plainProblem(declaration, problem)
}
