import { changeReferences, writtenSecrets } from '../../kinds/fields/written-references.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import { atOnce, type Steps } from '../../lib/in-turns.ts'
import { type Declaration, type Origin, type Problem, type ResourceKey, showOrigin } from '../../model/declaration.ts'
import { ofReader } from '../../model/foreign-object.ts'
import { type Grant, listed, mayBeCalled } from '../../model/grant.ts'
import type { SecretReference } from '../../model/secret.ts'
import type { KnownObjects } from '../../model/waiting.ts'
import { outsideGrant } from '../../plan/grants.ts'
import { estateUidOf } from '../../plan/link.ts'
import { changedRevision, type DeclaringSource, type Revision } from '../../source/git/revision.ts'

/** A source's current revision. */
export interface InForce {
  readonly source: string
  readonly revision: Revision
  /** The source's grant. Absent: unlimited. */
  readonly grant?: Grant
}

/**
 * Merges several sources into one revision. If two of them declare the same object, neither is followed and neither
 * counts as removed; but a source with a grant cannot disable an object of one without. Each place has the name of its
 * source. Pure but for reading files.
 */
export function mergeRevisions(given: readonly InForce[]): Revision {
  return atOnce(merging(given))
}

/** Merges in steps, one declaration each. */
export function* merging(given: readonly InForce[]): Steps<Revision> {
  const only = given[0]
  if (only !== undefined && given.length === 1 && only.grant === undefined)
    return changedRevision(only.revision, (one) => ({ ...one, place: placeOf(only) }))
  // Sort sources without a grant first: they own a name that others claim too.
  const parts = [...given].sort((a, b) => Number(a.grant !== undefined) - Number(b.grant !== undefined))
  const { owner, twice, problems } = yield* claimKeys(parts)
  const merged: Declaration[] = []
  for (const { declaration, part } of owner.values()) {
    yield
    merged.push({
      ...declaration,
      spec: changeReferences(declaration.kind, declaration.spec, ofSource(part.source)),
      origin: placedIn(part.source, declaration.origin),
    })
  }
  const original = (key: ResourceKey) => owner.get(key)
  const sourcesOf = new Map(parts.map((part) => [part, sourceIn(part)]))
  const waiting = parts.flatMap(({ revision }) => revision.waiting ?? [])
  return {
    // Merge again, so that late documents are held to the grant of their source.
    ...(parts.some(({ revision }) => revision.settle !== undefined)
      ? {
          waiting,
          prepare: async (known: KnownObjects) => {
            await Promise.all(given.map(async (part) => part.revision.prepare?.(seenBy(part, known, owner))))
          },
          settle: (known: KnownObjects) =>
            mergeRevisions(
              given.map((part) => ({
                ...part,
                revision: part.revision.settle?.(seenBy(part, known, owner)) ?? part.revision,
              })),
            ),
          reads: parts.flatMap(({ source, revision, grant }) =>
            (revision.reads ?? []).map((read) => ({
              ...read,
              origin: placedIn(source, read.origin),
              ...defined({ grant }),
            })),
          ),
        }
      : {}),
    id: parts.map(({ source, revision }) => `${source}@${revision.id}`).join(','),
    declarations: merged,
    problems,
    ignored: parts.flatMap(({ source, revision, grant }) =>
      revision.ignored.map((one) => ({
        ...one,
        file: `${source}:${one.file}`,
        ...(grant === undefined ? {} : { of: source }),
      })),
    ),
    unread: parts.flatMap(({ source, revision, grant }) =>
      (revision.unread ?? []).map((one) => ({
        ...one,
        path: `${source}:${one.path}`,
        ...(grant === undefined ? {} : { within: { source, names: grant.names } }),
      })),
    ),
    files: parts.reduce((sum, { revision }) => sum + revision.files, 0),
    unreadable: [...new Set([...parts.flatMap((part) => brokenOf(part, owner)), ...twice.keys()])].sort(),
    incomplete: parts.some(({ revision, grant }) => revision.incomplete && grant === undefined),
    partlyRead: parts.flatMap(({ source, revision, grant }) =>
      revision.incomplete && grant !== undefined ? [{ source, names: grant.names }] : [],
    ),
    unreadableOf: (key) => {
      if (twice.has(key)) return twice.get(key)
      const broken = parts.filter((part) => brokenOf(part, owner).includes(key))
      // If a source without a grant is among them, its unread objects may have any name.
      return broken.some(({ grant }) => grant === undefined) ? undefined : broken[0]?.grant
    },
    locate: (declaration, path) => {
      const found = original(declaration.key)
      return found === undefined ? declaration.origin : found.part.revision.locate(found.declaration, path)
    },
    problemAt: (declaration, problem) => {
      const found = original(declaration.key)
      return found === undefined
        ? plain(declaration, problem)
        : reportedBy(found.part, found.part.revision.problemAt(found.declaration, problem))
    },
    sourceOf: (declaration) => {
      const part = original(declaration.key)?.part
      return part === undefined ? undefined : sourcesOf.get(part)
    },
    logs: parts.flatMap(({ revision, grant }) =>
      (revision.logs ?? []).map(({ log }) =>
        grant === undefined ? { log } : { log, mayHaveDeclared: (key: ResourceKey) => mayBeCalled(key, grant) },
      ),
    ),
    grantOf: (declaration) => original(declaration.key)?.part.grant,
    read: (file) => readFrom(parts, file),
    objectsAt: (place, declaration) =>
      declaration === undefined ? undefined : original(declaration.key)?.part.revision.objectsAt?.(place),
    text: (declaration) => {
      const found = original(declaration.key)
      return found?.part.revision.text?.(found.declaration)
    },
  }
}

interface Claims {
  readonly owner: ReadonlyMap<ResourceKey, { readonly declaration: Declaration; readonly part: InForce }>
  /** Keys that two sources declare, with the grant of one where both have one. */
  readonly twice: ReadonlyMap<ResourceKey, Grant | undefined>
  readonly problems: readonly Problem[]
}

/** Says which source declares each key. Sources without a grant come first. */
function* claimKeys(parts: readonly InForce[]): Steps<Claims> {
  const owner = new Map<ResourceKey, { readonly declaration: Declaration; readonly part: InForce }>()
  const problems: Problem[] = []
  /** Clusters are found by their name alone, in any namespace: claim a name like a key. */
  const named = new Map<string, ResourceKey>()
  const twice = new Map<ResourceKey, Grant | undefined>()
  for (const part of parts) {
    // Sources without a grant come first: their keys are not available to those with one.
    const foreign = part.grant === undefined ? new Map() : new Map(owner)
    problems.push(...part.revision.problems.map((problem) => reportedBy(part, problem, foreign)))
    for (const declaration of part.revision.declarations.filter(({ kind }) => kind !== 'Estate')) {
      yield
      const outside =
        part.grant === undefined
          ? []
          : outsideGrant(declaration, part.grant, writtenSecrets(declaration.kind, declaration.spec))
      if (outside.length > 0) {
        problems.push(...outside.map((found) => reportedBy(part, part.revision.problemAt(declaration, found), foreign)))
        continue
      }
      const name = `${declaration.kind}/${declaration.name}`
      const same = owner.get(named.get(name) ?? '')
      const first = owner.get(declaration.key) ?? (part.grant !== undefined && isFree(same) ? same : undefined)
      if (first === undefined) {
        owner.set(declaration.key, { declaration, part })
        if (!named.has(name)) named.set(name, declaration.key)
      } else if (part.grant !== undefined && isFree(first))
        problems.push({ ...duplicate(declaration, part, first), object: `${part.source}:${declaration.key}` })
      else {
        twice.set(declaration.key, first.part.grant === undefined ? undefined : part.grant)
        problems.push(duplicate(declaration, part, first))
      }
    }
  }
  for (const key of twice.keys()) owner.delete(key)
  return { owner, twice, problems }
}

/**
 * Returns the observed objects that this source may see: with a grant, only those read for it and those of its
 * declarations. Names alone are no proof: it may declare a name that another source has.
 */
function seenBy(
  part: InForce,
  known: KnownObjects,
  owner: ReadonlyMap<ResourceKey, { readonly part: InForce }>,
): KnownObjects {
  if (part.grant === undefined) return known
  const own = ofReader(part.source)
  return new Map(
    [...known].flatMap(([key, one]) => {
      if (key.startsWith(own)) return [[key.slice(own.length), one]]
      return one.source === part.source || owner.get(key)?.part === part ? [[key, one]] : []
    }),
  )
}

function placedIn(source: string, origin: Origin): Origin {
  return { ...origin, file: `${source}:${origin.file}` }
}

function isFree(owner: { readonly part: InForce } | undefined): boolean {
  return owner !== undefined && owner.part.grant === undefined
}

function placeOf({ source }: InForce): string {
  return `source ${source}`
}

/** Each source is the estate that it says it is: several repositories may be of one. */
function sourceIn(part: InForce): DeclaringSource {
  const uid = estateUidOf(part.revision.declarations)
  return { place: placeOf(part), ...(uid === undefined ? {} : { uid }) }
}

/**
 * Reads `home:secrets.yaml` from that source, or from another one if it lacks the file. A source with a grant reads
 * only its own files, which are closed to the others.
 */
async function readFrom(parts: readonly InForce[], file: string): Promise<string | undefined> {
  const named = parts.find(({ source }) => file.startsWith(`${source}:`))
  const rest = named === undefined ? file : file.slice(named.source.length + 1)
  const own = await named?.revision.read?.(rest)
  if (own !== undefined || named?.grant !== undefined) return own
  return readAnywhere(
    parts.filter(({ grant }) => grant === undefined),
    rest,
  )
}

/** Reads a file without a source prefix: it must be in exactly one source. */
async function readAnywhere(parts: readonly InForce[], file: string): Promise<string | undefined> {
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

/** Returns a source's unreadable keys, which are not removed; with a grant, only those that could be its own. */
function brokenOf({ revision, grant }: InForce, owner: ReadonlyMap<ResourceKey, unknown>): readonly ResourceKey[] {
  if (grant === undefined) return revision.unreadable
  return revision.unreadable.filter((key) => mayDeclare(key, grant) && !owner.has(key))
}

/** Could a source with this grant declare something by this key? */
function mayDeclare(key: ResourceKey, grant: Grant): boolean {
  return listed(key.slice(0, key.indexOf('/')), grant.kinds) && mayBeCalled(key, grant)
}

/** Returns the reported problem. Its object is refused with it, so a source must not name another source's object. */
function reportedBy(
  { source, grant }: InForce,
  problem: Problem,
  foreign: ReadonlyMap<ResourceKey, unknown> = new Map(),
): Problem {
  const { object } = problem
  const others = grant !== undefined && object !== undefined && (!mayDeclare(object, grant) || foreign.has(object))
  return {
    ...problem,
    ...(others ? { object: `${source}:${object}` } : {}),
    origin: placedIn(source, problem.origin),
  }
}

function duplicate(
  declaration: Declaration,
  { source }: InForce,
  first: { readonly declaration: Declaration; readonly part: InForce },
): Problem {
  return {
    code: 'duplicate-object',
    origin: placedIn(source, declaration.origin),
    object: declaration.key,
    message: `${declaration.key} is declared by two sources: here and at ${first.part.source}:${showOrigin(first.declaration.origin)}`,
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

/**
 * Prefixes encrypted files with their source: `secrets.yaml` of `home` becomes `home:secrets.yaml`, so that an equal
 * path in another source is not taken. Pure.
 */
function ofSource(source: string) {
  return (reference: SecretReference): SecretReference => {
    if (!('sops' in reference)) return reference
    return { sops: { ...reference.sops, file: `${source}:${reference.sops.file}` } }
  }
}
