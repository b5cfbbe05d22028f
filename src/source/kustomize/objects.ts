import { foreignPattern, PatternRefused } from '../../lib/foreign-pattern.ts'
import { builtInKind } from '../../model/kube-object.ts'
import { isFields, objectsOf, type ReadDocument } from '../manifest.ts'
import { groupVersionOf } from './field-paths.ts'
import { PatchFailed } from './json-patch.ts'
import type { PatchTarget } from './schema.ts'

export type ObjectFields = Readonly<Record<string, unknown>>

/** The document that an object came in. A List is one document of many objects. */
export interface Carrier {
  readonly file: string
  readonly read: ReadDocument
}

/** One name of an object during a build. */
export interface ObjectName {
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

/** One object during a build, with all its earlier names. */
export interface KustomizeItem {
  readonly carrier: Carrier
  readonly index: number
  readonly object: ObjectFields
  readonly previous: readonly ObjectName[]
  readonly prefixes: readonly string[]
  readonly suffixes: readonly string[]
  /** Made by a generator, and named after its content at the very end. */
  readonly hashed: boolean
  /** Built before, from another repository: what it was called inside of that is not known. */
  readonly elsewhere?: true
}

/** Returns the objects of a document as items. An empty document has none. */
export function itemsOf(carrier: Carrier): readonly KustomizeItem[] {
  return objectsOf(carrier.read.value).map(({ value }, index) => ({
    carrier,
    index,
    object: value,
    previous: [],
    prefixes: [],
    suffixes: [],
    hashed: false,
  }))
}

/** Turns items back into documents, each where it was written. An object deleted from a List leaves a hole. */
export function documentsOf(items: readonly KustomizeItem[]): readonly Carrier[] {
  const byCarrier = new Map<Carrier, Map<number, ObjectFields>>()
  for (const { carrier, index, object } of items) {
    const objects = byCarrier.get(carrier) ?? new Map<number, ObjectFields>()
    byCarrier.set(carrier, objects.set(index, withoutNoAnnotations(object)))
  }
  return [...byCarrier].map(([carrier, objects]) => {
    const { read } = carrier
    const [first] = objectsOf(read.value)
    if (first === undefined || first.base.length === 0) return { ...carrier, read: { ...read, value: objects.get(0) } }
    const list = read.value as ObjectFields
    const items = (list.items as readonly unknown[]).map((_, index) => objects.get(index) ?? null)
    return { ...carrier, read: { ...read, value: { ...list, items } } }
  })
}

/** kustomize notes its own annotations on every object and takes the field away with the last of them. */
function withoutNoAnnotations(object: ObjectFields): ObjectFields {
  if (!isFields(object.metadata) || !('annotations' in object.metadata)) return object
  const { annotations, ...metadata } = object.metadata
  if (annotations !== null && (!isFields(annotations) || Object.keys(annotations).length > 0)) return object
  return { ...object, metadata }
}

export function metadataOf(object: ObjectFields) {
  const metadata = isFields(object.metadata) ? object.metadata : {}
  const texts = (value: unknown) => (isFields(value) ? (value as Readonly<Record<string, string>>) : {})
  return {
    name: wordOf(metadata.name),
    namespace: wordOf(metadata.namespace),
    labels: texts(metadata.labels),
    annotations: texts(metadata.annotations),
  }
}

export function identityOf(object: ObjectFields): ObjectName {
  const { name, namespace } = metadataOf(object)
  return { kind: wordOf(object.kind), name, namespace }
}

/** Everything that it was and is called, the first name first. */
export function identitiesOf({ object, previous }: KustomizeItem): readonly ObjectName[] {
  return [...previous, identityOf(object)]
}

/** The item with another object, its old name kept in mind: later patches and references may still use it. */
export function changed(item: KustomizeItem, object: ObjectFields): KustomizeItem {
  if (object === item.object) return item
  const before = identityOf(item.object)
  const after = identityOf(object)
  const same = before.name === after.name && before.namespace === after.namespace && before.kind === after.kind
  return same ? { ...item, object } : { ...item, object, previous: [...item.previous, before] }
}

/** Reports whether a kind is known to be cluster-scoped. kustomize takes unknown kinds for namespaced. */
export function isClusterScoped(object: ObjectFields): boolean {
  const kind = builtInKind({ apiVersion: stableVersion(object.apiVersion), kind: wordOf(object.kind) })
  return kind !== undefined && !kind.namespaced
}

/** Older versions of a group have the scopes of today's. */
function stableVersion(apiVersion: unknown): string {
  const { group } = groupVersionOf(apiVersion)
  return group === '' ? 'v1' : `${group}/v1`
}

/** Returns the namespace for comparisons: `default` if there is none, and empty for cluster-scoped kinds. */
export function effectiveNamespace(object: ObjectFields, namespace: string): string {
  if (isClusterScoped(object)) return ''
  return namespace === '' ? 'default' : namespace
}

/** Reports whether the patch names this object by its present or any earlier name. */
export function isCalled(item: KustomizeItem, by: ObjectFields): boolean {
  if (item.object.apiVersion !== by.apiVersion) return false
  const wanted = identityOf(by)
  const namespace = effectiveNamespace(by, wanted.namespace)
  return identitiesOf(item).some(
    (one) =>
      one.kind === wanted.kind &&
      one.name === wanted.name &&
      effectiveNamespace(item.object, one.namespace) === namespace,
  )
}

/** Reports whether a target selects this item: patterns match its first or its present name and namespace. */
export function isSelected(item: KustomizeItem, target: PatchTarget): boolean {
  const whole = (pattern: string | undefined, text: string) =>
    pattern === undefined || pattern === '' || fits(pattern, text)
  const { object } = item
  const { group, version } = groupVersionOf(object.apiVersion)
  const { labels, annotations } = metadataOf(object)
  const all = identitiesOf(item)
  const ends = [all[0], all.at(-1)].filter((one) => one !== undefined)
  return (
    whole(target.kind, wordOf(object.kind)) &&
    whole(target.group, group) &&
    whole(target.version, version) &&
    ends.some((one) => whole(target.namespace, effectiveNamespace(object, one.namespace))) &&
    ends.some((one) => whole(target.name, one.name)) &&
    selects(target.labelSelector, labels) &&
    selects(target.annotationSelector, annotations)
  )
}

/** Reports whether an untrusted pattern matches the whole text. */
export function fits(pattern: string, text: string): boolean {
  try {
    return foreignPattern(pattern).fits(text)
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error
    throw new PatchFailed(`the pattern ${pattern.slice(0, 100)} is refused: ${error.message}`)
  }
}

/** `app=web,tier!=db,gpu,!old,env in (a, b)` */
function selects(selector: string | undefined, labels: Readonly<Record<string, string>>): boolean {
  return (selector ?? '')
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .every((term) => {
      const [, key = '', not, list = ''] = /^([^!=\s]+)\s+(not)?\s*in\s*\(([^)]*)\)$/.exec(term) ?? []
      if (key !== '') {
        const listed = list.split(',').some((one) => one.trim() === labels[key])
        return not === undefined ? listed : !listed
      }
      const [, name = '', sign = '', value = ''] = /^([^!=\s]+)\s*(!=|==?|)\s*(.*)$/.exec(term) ?? []
      if (sign === '') return term.startsWith('!') ? !Object.hasOwn(labels, term.slice(1)) : Object.hasOwn(labels, name)
      return sign === '!=' ? labels[name] !== value : labels[name] === value
    })
}

export function nameOf(object: ObjectFields): string {
  return `${wordOf(object.kind)}/${metadataOf(object).name}`.slice(0, 200)
}

export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
