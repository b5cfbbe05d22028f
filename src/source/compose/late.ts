import type { FieldProblem } from '../../kinds/kind.ts'
import { findKind } from '../../kinds/registry.ts'
import { defined } from '../../lib/defined.ts'
import { type Declaration, type Problem, resourceKey, showOrigin } from '../../model/declaration.ts'
import { foreignKey, type ObjectReference } from '../../model/foreign-object.ts'
import type { KnownObjects, WaitingFor, WantedRead } from '../../model/waiting.ts'
import { assemble, type FileOutcome } from '../assemble.ts'
import type { ExpandedInstances, Revision } from '../git/revision.ts'
import { fieldProblemAt, originOf } from '../yaml/problem-at.ts'
import type { LateInstances, TemplatePlace } from './api.ts'
import { type ExpansionScope, expandInstance, idOfApi } from './expand-instance.ts'
import { readApis } from './readers.ts'
import type { DocumentFields } from './shape.ts'

/** Expands late instances elsewhere: `by` answers what was prepared, or what is known of nothing. */
export interface LateExpansion {
  by(known: KnownObjects): ExpandedInstances
  prepare(known: KnownObjects): Promise<void>
}

/**
 * Returns the revision with its late instances expanded by observed values. Documents that still wait are not declared,
 * and do not count as removed. Pure.
 */
export function withLate(
  base: Revision,
  late: LateInstances | undefined,
  known: KnownObjects = new Map(),
  expansion?: LateExpansion,
): Revision {
  if (late === undefined) return base
  const expanded = expansion?.by(known) ?? expandLate(late, known)
  const { revision: more, waiting, reads } = expanded
  const [before, after] = [keysOf(base), keysOf(more)]
  const twice = more.declarations.filter(({ key }) => before.has(key))
  const isTwice = new Set(twice.map(({ key }) => key))
  const once = (one: Declaration) => !isTwice.has(one.key)
  const declared = new Set(more.declarations.map(({ key }) => key))
  const of = (declaration: Declaration) => (after.has(declaration.key) ? more : base)
  return {
    ...base,
    declarations: [...base.declarations.filter(once), ...more.declarations.filter(once)],
    problems: [...base.problems, ...more.problems, ...twice.map((one) => duplicate(one, base))],
    unreadable: [
      ...new Set([...base.unreadable.filter((key) => !declared.has(key)), ...more.unreadable, ...isTwice]),
    ].sort(),
    incomplete: base.incomplete || more.incomplete,
    locate: (declaration, path) => of(declaration).locate(declaration, path),
    problemAt: (declaration, problem) => of(declaration).problemAt(declaration, problem),
    text: (declaration) => of(declaration).text?.(declaration),
    written: (declaration) => of(declaration).written?.(declaration),
    waiting,
    reads,
    late: { base, instances: late, expanded },
    settle: (seen) => withLate(base, late, seen, expansion),
    ...(expansion === undefined ? {} : { prepare: (seen: KnownObjects) => expansion.prepare(seen) }),
  }
}

function keysOf({ declarations }: Revision): ReadonlySet<string> {
  return new Set(declarations.map(({ key }) => key))
}

function duplicate({ key, origin }: Declaration, base: Revision): Problem {
  const other = base.declarations.find((one) => one.key === key)
  const where = other === undefined ? '' : ` at ${showOrigin(other.origin)}`
  return {
    code: 'duplicate-object',
    origin,
    object: key,
    message: `${key} is also declared${where}; neither is followed`,
    severity: 'error',
  }
}

/** Expands late instances. Calls `begin` with the number of each first. Pure. */
export function expandLate(
  { definitions, instances, externals, commit }: LateInstances,
  known: KnownObjects,
  begin: (index: number) => void = () => {},
): ExpandedInstances {
  const problems: Problem[] = []
  const reads: WantedRead[] = []
  let incomplete = false
  const at = (file: string) => ({ file, ...defined({ commit }) })
  const complain = (place: TemplatePlace, found: FieldProblem) => {
    if (found.severity !== 'warning') incomplete = true
    problems.push(fieldProblemAt(place, found, at(place.file)))
  }
  const origin = (place: TemplatePlace) => originOf({ ...NOBODY, ...place }, at(place.file))
  // Definitions were judged when they were read: drop their problems here.
  const apis = readApis(definitions, () => {}, origin)
  const scope: ExpansionScope = {
    apis,
    complain,
    originOf: origin,
    known: (key) => known.get(key),
    external: (reference, cluster, { instance, origin: place }) => {
      const found = externals.find((one) => isSame(one.reference, reference))?.object
      if (found !== undefined) return withStatus(found, known)
      if (cluster === undefined) return undefined
      const object = { cluster, ...reference }
      reads.push({ object, instance, origin: place })
      return known.get(foreignKey(object))?.object
    },
  }
  const made = instances.flatMap((instance, index) => {
    begin(index)
    const api = apis.get(idOfApi(instance.value))
    return api === undefined ? [] : expandInstance(instance, api, scope)
  })
  const outcomes: readonly FileOutcome[] = made.map(({ file, judged }) => ({ file, judged }))
  const waiting: readonly WaitingFor[] = made.flatMap(({ waits = [] }) => waits)
  return { revision: assemble('', outcomes, commit, { problems, ignored: [], incomplete }), waiting, reads }
}

const NOBODY = { outcome: 'ignored', problems: [], findings: [], apiVersion: '', kindName: '' } as const

function isSame(one: ObjectReference, other: ObjectReference): boolean {
  return (
    one.apiVersion === other.apiVersion &&
    one.kind === other.kind &&
    one.name === other.name &&
    one.namespace === other.namespace
  )
}

/** Returns a document of croft's kinds with its observed status. */
function withStatus(object: DocumentFields, known: KnownObjects): DocumentFields {
  const { apiVersion, kind, metadata } = object
  const found = findKind(String(apiVersion), String(kind))
  const { name, namespace } = (metadata ?? {}) as DocumentFields
  if (found === undefined) return object
  const counts = found.namespaced === undefined || found.namespaced(String(apiVersion))
  const space = counts && typeof namespace === 'string' ? namespace : undefined
  const status = known.get(resourceKey(found.kind, String(name), space))?.status
  return status === undefined ? object : { ...object, status }
}
