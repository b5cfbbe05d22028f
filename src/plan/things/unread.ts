import { ownerOf, type Problem, type ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import { mayBeCalled } from '../../model/grant.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { UnreadPath } from '../../model/unread.ts'
import { validApprovals } from '../approvals.ts'
import { claimantOf } from './left-key.ts'

// A missing key counts as absent only if no unread path may declare it. `known` holds the marks of unread paths that
// are already proven not to.

/** Marks of unread paths, by path. */
export type KnownUnread = Readonly<Record<string, string>>

/**
 * Returns the estate with the paths that leave absences unproven, and a warning for each formerly declared key that
 * stays for that reason. A proven absence stays proven.
 */
export function withUnproven(
  estate: Estate,
  known: KnownUnread,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  nowMs: number,
): Estate {
  if (estate.unread === undefined) return estate
  const unread = estate.unread.filter(({ path, mark }) => known[path] !== mark)
  if (unread.length === 0) return { ...estate, unread }
  const named = validApprovals(estate, nowMs).flatMap(({ deletes }) => deletes)
  const declared = new Set(estate.resources.map(({ key }) => key))
  // A declaration that names another place now was read: no other path can still mean the old place.
  const hasMoved = (key: ResourceKey) => !declared.has(key) && declared.has(claimantOf(key))
  const proven = new Set([
    ...[...records.values()].filter(({ key, absent }) => absent === true || hasMoved(key)).map(({ key }) => key),
    ...named,
  ])
  const next: Estate = { ...estate, unread, proven }
  const problems = [...records.keys()].flatMap((key): readonly Problem[] => {
    const at = declared.has(key) ? undefined : unread.find((one) => mayDeclare(one, key, proven))
    return at === undefined ? [] : [kept(key, at)]
  })
  return { ...next, problems: [...estate.problems, ...problems] }
}

function kept(key: ResourceKey, { path, why }: UnreadPath): Problem {
  return {
    code: 'not-read',
    origin: { file: path, line: 1, column: 1 },
    object: key,
    message: `${key} was declared and is not found; this path is not read (${why}) and may declare it, so croft keeps it`,
    hint: `put a plain file here or take the path out; to remove ${key} all the same, run croft delete ${key}, or list it under deletes of an Approval`,
    severity: 'warning',
  }
}

/** Reports whether a missing key may still be declared: it was refused, or an unread path may contain it. */
export function isUnread(
  key: ResourceKey,
  { unreadable, unread = [], proven }: Pick<Estate, 'unreadable' | 'unread' | 'proven'>,
) {
  return (
    unreadable.some((broken) => key === broken || key.startsWith(`${broken}@`)) ||
    unread.some((one) => mayDeclare(one, key, proven))
  )
}

function mayDeclare({ names, within }: UnreadPath, key: ResourceKey, proven: Estate['proven']): boolean {
  if (proven?.has(key) === true || proven?.has(ownerOf(key)) === true) return false
  if (within !== undefined && !mayBeCalled(key, within)) return false
  if (names === undefined) return true
  const own = ownerOf(key)
  const last = own.slice(own.lastIndexOf('/') + 1)
  // `home` also declares `home-server-1`.
  return names.some((name) => last === name || last.startsWith(`${name}-`))
}

/** Returns the unread paths that are proven to declare none of these keys. */
export function settledUnread(
  inGit: readonly UnreadPath[],
  { unread = [], proven }: Pick<Estate, 'unread' | 'proven'>,
  undeclared: readonly ResourceKey[],
): KnownUnread {
  const open = new Set(
    unread.filter((one) => undeclared.some((key) => mayDeclare(one, key, proven))).map(({ path }) => path),
  )
  return Object.fromEntries(inGit.filter(({ path }) => !open.has(path)).map(({ path, mark }) => [path, mark]))
}
