import { createHash } from 'node:crypto'
import { findKind } from '../../kinds/registry.ts'
import { defined } from '../../lib/defined.ts'
import { atOnce, type Steps } from '../../lib/in-turns.ts'
import { type Origin, ownerOf, type Policy, type Problem, type ResourceKey } from '../../model/declaration.ts'
import { changedEstate, type Estate, type History, type Later, type Removed } from '../../model/estate.ts'
import { permitRead } from '../../model/foreign-object.ts'
import type { KnownObjects } from '../../model/waiting.ts'
import { link, linking } from '../../plan/link.ts'
import type { Revision } from '../../source/git/revision.ts'

/** Links a revision, with access to the history of removed declarations. */
export function linkRevision(revision: Revision): Estate {
  return atOnce(linkingRevision(revision))
}

/** Links a revision in steps. */
export function* linkingRevision(revision: Revision): Steps<Estate> {
  const linked = yield* linking(revision, { findKind, problemAt: revision.problemAt })
  const { logs = [], settle } = revision
  const history = logs.length === 0 ? undefined : historyOf(logs)
  if (settle === undefined && history === undefined) return linked
  return changedEstate(linked, (one) => ({
    ...(settle === undefined ? one : withLater(one, revision, settle)),
    ...defined({ history }),
  }))
}

function withLater(linked: Estate, revision: Revision, settle: NonNullable<Revision['settle']>): Estate {
  const { declarations, waiting = [], reads: wanted = [] } = revision
  const owners = new Map(declarations.map((one) => [one.key, revision.grantOf?.(one)?.source]))
  const reads: Later['reads'][number][] = []
  const problems: Problem[] = []
  for (const { object, instance, origin, grant } of wanted) {
    const isOwn = (cluster: string) =>
      (linked.clusters ?? []).some(({ name, key }) => name === cluster && owners.get(key) === grant?.source)
    const read = permitRead(object, grant, isOwn)
    if ('refused' in read) problems.push(unreadable(read, instance, origin))
    else reads.push(read)
  }
  const stamp = createHash('sha256').update(JSON.stringify([waiting, reads]))
  for (const { key, generation } of declarations) stamp.update(`${key} ${generation}\n`)
  const later = {
    waiting,
    reads,
    stamp: stamp.digest('hex'),
    settle: (known: KnownObjects) => linkRevision(settle(known)),
    prepare: async (known: KnownObjects) => revision.prepare?.(known),
  }
  return { ...linked, problems: [...linked.problems, ...problems], later }
}

function unreadable(
  { refused, hint }: { readonly refused: string; readonly hint?: string },
  instance: ResourceKey,
  origin: Origin,
): Problem {
  return {
    code: 'outside-grant',
    origin,
    object: instance,
    message: `${instance}: ${refused}`,
    severity: 'error',
    ...defined({ hint }),
  }
}

type Log = NonNullable<Revision['logs']>[number]

/**
 * Finds the commit that removed a declaration: declared before it, and not after it. Results are cached: this
 * revision's history does not change.
 */
export function historyOf(logs: readonly Log[]): History {
  const known = new Map<ResourceKey, Promise<Removed | undefined>>()
  const commits = new Map<string, Promise<Around | undefined>>()
  return async (keys, signal) => {
    const found = new Map<ResourceKey, Removed>()
    for (const key of keys) {
      const asked = known.get(key) ?? removalOf(key, logs, commits, signal)
      known.set(key, asked)
      asked.catch(() => known.delete(key))
      const removed = await asked
      if (removed !== undefined) found.set(key, removed)
    }
    return found
  }
}

interface Around {
  readonly before: ReadonlyMap<ResourceKey, Policy>
  readonly after: ReadonlyMap<ResourceKey, Policy>
}

async function removalOf(
  key: ResourceKey,
  logs: readonly Log[],
  commits: Map<string, Promise<Around | undefined>>,
  signal: AbortSignal | undefined,
): Promise<Removed | undefined> {
  for (const [index, { log, mayHaveDeclared }] of logs.entries()) {
    if (mayHaveDeclared?.(key) === false) continue
    for (const commit of await candidates(key, log, signal)) {
      const name = `${index} ${commit}`
      const asked = commits.get(name) ?? around(log, commit, signal)
      commits.set(name, asked)
      const seen = await asked
      const policy = seen?.before.get(key)
      if (policy !== undefined && seen?.after.has(key) === false) return { commit, policy }
    }
  }
  return undefined
}

async function around({ around: read }: Log['log'], commit: string, signal: AbortSignal | undefined) {
  const revisions = await read(commit, signal)
  if (revisions === undefined) return undefined
  return { before: declaredIn(revisions.before), after: declaredIn(revisions.after) }
}

/** Everything that a revision declares, whether or not it could be accepted: what is refused is not gone. */
function declaredIn(revision: Revision): ReadonlyMap<ResourceKey, Policy> {
  const { resources } = link(revision, { findKind })
  return new Map([
    ...revision.declarations.map(({ key, policy }) => [key, policy] as const),
    ...resources.map(({ key, policy }) => [key, policy] as const),
  ])
}

/** Returns commits that add or remove the resource's name; any commit for a part, whose name may be in no text. */
async function candidates(
  key: ResourceKey,
  { mentioning }: Log['log'],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const last = key.slice(key.lastIndexOf('/') + 1)
  const name = last.slice(last.lastIndexOf(':') + 1).replace(/@.*$/, '')
  const found = await mentioning(name, signal)
  return found.length > 0 || key === ownerOf(key) ? found : mentioning('', signal)
}
