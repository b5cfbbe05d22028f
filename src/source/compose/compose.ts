import type { FieldProblem } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import { lazily } from '../../lib/lazily.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Problem } from '../../model/declaration.ts'
import type { ObjectReference } from '../../model/foreign-object.ts'
import type { FileOutcome } from '../assemble.ts'
import type { Ignored } from '../git/revision.ts'
import { CLAIMED_GROUP } from '../identify.ts'
import type { JudgedObject } from '../judge.ts'
import { isFields, isSyntax, objectsOf, readDocuments } from '../manifest.ts'
import type { YamlFinding } from '../yaml/full-yaml.ts'
import { type FileAt, fieldProblemAt, findingAt, originOf } from '../yaml/problem-at.ts'
import type { ApiReader, DefinedApi, LateInstances, PlacedObject, TemplatePlace } from './api.ts'
import { type ExpansionScope, expandInstance, idOfApi } from './expand-instance.ts'
import { definedAndInvalid, definedWrongly, unreadDefinition } from './invalid-definitions.ts'
import { READERS, readApis } from './readers.ts'
import type { DocumentFields } from './shape.ts'
import { brokenInstance, slipIn } from './slips.ts'

export interface Composition {
  readonly outcomes: readonly FileOutcome[]
  readonly apis: readonly DefinedApi[]
  readonly problems: readonly Problem[]
  /** Definitions of APIs and instances: neither declared nor ignored. */
  readonly expanded: readonly Ignored[]
  /** Something could not be expanded: what is missing proves nothing. */
  readonly incomplete: boolean
  /** Instances with documents that wait. They are not in the outcomes. */
  readonly late?: LateInstances
}

/** Reports whether something of it may define an API. Pure. */
export function mayCompose(outcomes: readonly FileOutcome[]): boolean {
  return outcomes.some((one) => 'judged' in one && one.judged.some(mayDefine))
}

type IgnoredDocument = JudgedObject & { readonly outcome: 'ignored' }

/**
 * Replaces instances of APIs that the files themselves define (kro's graphs, Crossplane's compositions) with the
 * documents that they become. Pure: the same documents in any order give the same result.
 */
export function compose(outcomes: readonly FileOutcome[], commit: string | undefined): Composition {
  if (!mayCompose(outcomes)) return { outcomes, apis: [], problems: [], expanded: [], incomplete: false }
  const problems: Problem[] = []
  let incomplete = false
  const at = (file: string): FileAt => ({ file, ...defined({ commit }) })
  const complain = (place: TemplatePlace, found: FieldProblem) => {
    if (found.severity !== 'warning') incomplete = true
    problems.push(fieldProblemAt(place, found, at(place.file)))
  }
  const ignored = outcomes.flatMap((one) =>
    'judged' in one
      ? one.judged.flatMap((judged) => (judged.outcome === 'ignored' ? [{ judged, file: one.file }] : []))
      : [],
  )
  /** Documents that this composition reads no longer count as foreign. */
  const read = new Set<JudgedObject>()
  const broken: PlacedObject[] = []
  const placed = ({ judged, file }: (typeof ignored)[number]): PlacedObject | undefined => {
    read.add(judged)
    const { document, base } = judged
    const { value, findings } = objectIn(judged)
    // The object is skipped, so a finding that would be a warning in a foreign document is an error here.
    for (const finding of findings) problems.push(findingAt({ ...judged, outcome: 'refused' }, finding, at(file)))
    if (findings.length > 0) incomplete = true
    if (findings.length > 0 && value !== undefined) broken.push({ value, file, document, base })
    return value === undefined || findings.length > 0 ? undefined : { value, file, document, base }
  }

  const definedAt = (place: TemplatePlace) => originOf(asIgnored(place), at(place.file))
  const definitions = ignored.flatMap((one) =>
    READERS.some((reader) => reader.reads(one.judged.apiVersion, one.judged.kindName)) ? (placed(one) ?? []) : [],
  )
  const apis = readApis(definitions, complain, definedAt)
  const documents = lazily(() => documentsIn(outcomes))
  const externals: LateInstances['externals'][number][] = []
  const external: ExpansionScope['external'] = (reference, cluster) => {
    const found = documents().find((one) => isNamed(one, reference))
    if (found !== undefined) externals.push({ reference, object: found })
    return found ?? (cluster === undefined ? notHere(reference) : undefined)
  }
  const scope = { apis, complain, originOf: definedAt, external }

  const defines = [...apis.values()]
  const invalid = lazily(() => definedAndInvalid([...broken, ...definitions], apis, definedAt))
  const late: PlacedObject[] = []
  let objects = 0
  const made: FileOutcome[] = []
  for (const one of ignored) {
    const api = apis.get(idOf(one.judged))
    const wrong = api === undefined && !read.has(one.judged) ? invalid().get(idOf(one.judged)) : undefined
    if (wrong !== undefined) {
      read.add(one.judged)
      const { document, base, kindName } = one.judged
      complain({ file: one.file, document, base }, definedWrongly(kindName, wrong))
      continue
    }
    if (api === undefined) {
      if (!read.has(one.judged) && isOfClaimedGroup(one.judged)) {
        read.add(one.judged)
        const { document, base, apiVersion, kindName } = one.judged
        const unread = unreadDefinition(outcomes, kindName)
        complain(
          { file: one.file, document, base },
          unread === undefined ? notUnderstood(apiVersion, kindName, READERS) : definedWrongly(kindName, unread),
        )
      } else if (!read.has(one.judged)) {
        const { document, base } = one.judged
        const slip = slipOf(one.judged, defines)
        if (slip !== undefined) complain({ file: one.file, document, base }, slip)
      }
      continue
    }
    const instance = placed(one)
    if (instance === undefined) continue
    if (objects > LIMITS.documents) {
      complain(instance, {
        code: 'too-many',
        path: [],
        message: `instances of composed kinds make more than ${LIMITS.documents} objects together: this one is not read`,
      })
      continue
    }
    const [saidBefore, incompleteBefore]: readonly [number, boolean] = [problems.length, incomplete]
    const expanded = expandInstance(instance, api, scope)
    objects += expanded.length
    if (expanded.some(({ waits }) => waits !== undefined)) {
      // `withLate` expands the instance again with the observed values and reports its problems then.
      late.push(instance)
      problems.length = saidBefore
      incomplete = incompleteBefore
    } else made.push(...expanded.map(({ file, judged }) => ({ file, judged })))
  }

  return {
    outcomes: [
      ...outcomes.map((one) =>
        'judged' in one ? { ...one, judged: one.judged.filter((judged) => !read.has(judged)) } : one,
      ),
      ...made,
    ],
    apis: defines.map(({ kind, apiVersion, summary, spec, origin }) => ({
      kind,
      apiVersion,
      summary,
      spec,
      origin,
    })),
    problems,
    expanded: ignored.flatMap(({ judged, file }) =>
      read.has(judged) ? [{ file, line: originOf(judged, at(file)).line, ...namedAs(judged, apis) }] : [],
    ),
    incomplete,
    ...(late.length === 0 ? {} : { late: { definitions, instances: late, externals, ...defined({ commit }) } }),
  }
}

function idOf({ apiVersion, kindName }: IgnoredDocument): string {
  return idOfApi({ apiVersion, kind: kindName })
}

function namedAs(judged: IgnoredDocument, apis: ReadonlyMap<string, DefinedApi>): Omit<Ignored, 'file' | 'line'> {
  const { apiVersion, kindName: kind } = judged
  if (apis.has(idOfApi({ apiVersion, kind })))
    return { apiVersion, kind, note: 'instance of an API that is defined here' }
  const reads = READERS.some((reader) => reader.reads(apiVersion, kind))
  return { apiVersion, kind, note: reads ? 'defines an API' : 'not expanded' }
}

/** Reports an uninterpreted object of a supported group: an orphaned instance does not count as removed. */
function notUnderstood(apiVersion: string, kind: string, readers: readonly ApiReader[]): FieldProblem {
  const group = apiVersion.split('/')[0] ?? ''
  const known = readers.flatMap((reader) => (reader.group === group ? reader.kinds : []))
  const instance = group === 'kro.run' && kind !== 'GraphRevision'
  if (apiVersion === 'kro.run/v1alpha1' && kind === 'ResourceGroup')
    return {
      code: 'unknown-kind',
      path: ['kind'],
      severity: 'error',
      message: 'ResourceGroup is what kro before 0.2 called a ResourceGraphDefinition, and croft does not read it',
      hint: 'write kind: ResourceGraphDefinition',
    }
  return {
    code: instance ? 'unknown-kind' : 'kind-not-kept',
    path: ['kind'],
    severity: instance ? 'error' : 'warning',
    message: instance
      ? `no ResourceGraphDefinition here defines ${kind} of ${apiVersion}, so croft cannot expand it`
      : `croft reads ${known.join(' and ')} of ${group} and does not read ${kind}: this object is left alone`,
  }
}

/** Reports whether the document defines an API. Without such documents there are no instances. */
function mayDefine(judged: JudgedObject): boolean {
  if (judged.outcome !== 'ignored') return false
  return isOfClaimedGroup(judged) || slipIn(namesOf(judged, false), [], READERS) !== undefined
}

function slipOf(judged: IgnoredDocument, apis: readonly DefinedApi[]): FieldProblem | undefined {
  const { document, kindName, note = '' } = judged
  // Parse the text again only if its kind is unknown.
  const broken = kindName === '' && apis.length > 0 && readDocuments(document.text)[0]?.findings.some(isSyntax) === true
  return broken ? brokenInstance(document.text, note, apis) : slipIn(namesOf(judged, apis.length > 0), apis, READERS)
}

/** Returns an object's apiVersion and kind. If its judge found no kind, `closely` reads both from the text. */
function namesOf(judged: IgnoredDocument, closely: boolean): { readonly apiVersion: string; readonly kind: string } {
  const { apiVersion, kindName } = judged
  const value = closely && kindName === '' ? objectIn(judged).value : undefined
  if (value === undefined || !('metadata' in value || 'spec' in value)) return { apiVersion, kind: kindName }
  return { apiVersion: textIn(value.apiVersion), kind: textIn(value.kind) }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isOfClaimedGroup(judged: JudgedObject): judged is IgnoredDocument {
  return judged.outcome === 'ignored' && CLAIMED_GROUP.test(judged.apiVersion)
}

/** Returns all objects of the files, foreign ones too: a definition may refer to any of them. */
function documentsIn(outcomes: readonly FileOutcome[]): readonly DocumentFields[] {
  const judged = outcomes.flatMap((one) => ('judged' in one ? one.judged : []))
  return judged.flatMap((one) => {
    const { value } = objectIn(one)
    return value === undefined ? [] : [value]
  })
}

function isNamed({ apiVersion, kind, metadata }: DocumentFields, wanted: ObjectReference): boolean {
  const { name, namespace } = isFields(metadata) ? metadata : {}
  if (apiVersion !== wanted.apiVersion || kind !== wanted.kind || name !== wanted.name) return false
  return namespace === undefined || wanted.namespace === undefined || namespace === wanted.namespace
}

function notHere({ apiVersion, kind, name, namespace }: ObjectReference): string {
  const where = namespace === undefined ? name : `${namespace}/${name}`
  return `no document here is ${kind} ${where} of ${apiVersion}; if it is in a cluster, name that with the annotation croft.dev/cluster`
}

function objectIn({ document, base }: JudgedObject): {
  readonly value: DocumentFields | undefined
  readonly findings: readonly YamlFinding[]
} {
  const [read] = readDocuments(document.text)
  const found = objectsOf(read?.value).find((one) => one.base.join() === base.join())
  return { value: found?.value, findings: read?.findings ?? [] }
}

function asIgnored({ document, base }: TemplatePlace): JudgedObject {
  return { outcome: 'ignored', document, base, problems: [], findings: [], apiVersion: '', kindName: '' }
}
