import { foreignPattern, PatternRefused } from '../lib/foreign-pattern.ts'
import type { Budget } from './budget.ts'
import { DELETED, jsonPatch, mergePatch, PatchFailed } from './kustomize-patch.ts'
import type { PatchEntry, PatchTarget } from './kustomize-schema.ts'
import { isFields, objectsOf, type ReadDocument, readDocuments } from './manifest.ts'

/** A document on its way through kustomizations. */
export interface Item {
  readonly file: string
  readonly read: ReadDocument
  /** Names that it had before prefixes: patches may still call it by them. */
  readonly names?: readonly string[]
}

export type Fields = Readonly<Record<string, unknown>>

/** Lays a patch, of whichever form, onto every item that it is for. */
export function patch(
  items: readonly Item[],
  entry: PatchEntry,
  text: string,
  file: string,
  budget: Budget,
): readonly Item[] {
  const patches = readDocuments(text)
  const broken = patches.flatMap((one) => one.findings)[0]
  if (broken !== undefined) throw new PatchFailed(`a patch cannot be read: ${broken.message}`)
  const target = entry.target
  return patches.reduce<readonly Item[]>((all, { value }) => {
    const operations = Array.isArray(value)
    if (operations && target === undefined) throw new PatchFailed('a JSON patch needs a target')
    if (!operations && !isFields(value)) throw new PatchFailed('a patch is neither a manifest nor a list of operations')
    let hits = 0
    const next = all.flatMap((item) => {
      let gone = false
      const mapped = mapObjects(item, (object, names) => {
        budget.match()
        const meant = target === undefined ? isSame(object, names, value as Fields) : isTarget(object, names, target)
        if (!meant || gone) return object
        hits++
        budget.nodes(value)
        if (operations) return jsonPatch(object, value, budget) as Fields
        const own = wordOf(object.apiVersion).startsWith('croft.dev/')
        const laid = mergePatch(object, withoutIdentity(value as Fields), own)
        if (laid !== DELETED) return laid as Fields
        gone = true
        return object
      })
      return gone ? [] : [mapped]
    })
    if (hits === 0 && target === undefined)
      throw new PatchFailed(`a patch in ${file} is for ${nameOf(value as Fields)}, which is not there`)
    return next
  }, items)
}

/** The name and kind of a patch say what it is for: what is patched keeps its own. */
function withoutIdentity(value: Fields): Fields {
  const { apiVersion: _, kind: __, metadata, ...rest } = value
  if (!isFields(metadata)) return rest
  const { name: ___, namespace: ____, ...others } = metadata
  return { ...rest, ...(Object.keys(others).length === 0 ? {} : { metadata: others }) }
}

export function mapObjects(item: Item, change: (object: Fields, names: readonly string[]) => Fields): Item {
  const { value } = item.read
  const objects = objectsOf(value)
  const [only] = objects
  if (only === undefined) return item
  if (objects.length > 1 || only.base.length > 0) {
    // In a List only the present names say who is who.
    const items = ((value as Fields).items as readonly unknown[]).map((one) =>
      isFields(one) ? change(one, [metadataOf(one).name]) : one,
    )
    return { ...item, read: { ...item.read, value: { ...(value as Fields), items } } }
  }
  const names = [...new Set([...(item.names ?? []), metadataOf(only.value).name])]
  return { ...item, names, read: { ...item.read, value: change(only.value, names) } }
}

export function renamed(
  object: Fields,
  how: {
    readonly namespace: string | undefined
    readonly namePrefix: string
    readonly nameSuffix: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  },
): Fields {
  const metadata = isFields(object.metadata) ? object.metadata : {}
  const over = (before: unknown, more: Readonly<Record<string, string>>) =>
    Object.keys(more).length === 0 ? before : { ...(isFields(before) ? before : {}), ...more }
  const labels = over(metadata.labels, how.labels)
  const annotations = over(metadata.annotations, how.annotations)
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(typeof metadata.name === 'string' ? { name: `${how.namePrefix}${metadata.name}${how.nameSuffix}` } : {}),
      ...(how.namespace === undefined ? {} : { namespace: how.namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  }
}

function isSame(object: Fields, names: readonly string[], patched: Fields): boolean {
  const { name } = metadataOf(patched)
  return object.kind === patched.kind && groupOf(object) === groupOf(patched) && names.includes(name)
}

function isTarget(object: Fields, names: readonly string[], target: PatchTarget): boolean {
  const whole = (pattern: string | undefined, text: string) => pattern === undefined || fits(pattern, text)
  const { namespace, labels, annotations } = metadataOf(object)
  const version = wordOf(object.apiVersion).split('/').at(-1) ?? ''
  return (
    whole(target.kind, wordOf(object.kind)) &&
    whole(target.group, groupOf(object)) &&
    whole(target.version, version) &&
    whole(target.namespace, namespace) &&
    names.some((name) => whole(target.name, name)) &&
    selects(target.labelSelector, labels) &&
    selects(target.annotationSelector, annotations)
  )
}

function fits(pattern: string, text: string): boolean {
  try {
    return foreignPattern(pattern).fits(text)
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error
    throw new PatchFailed(`the pattern ${pattern.slice(0, 100)} is refused: ${error.message}`)
  }
}

/** `app=web,tier!=db,gpu` */
function selects(selector: string | undefined, labels: Readonly<Record<string, string>>): boolean {
  return (selector ?? '')
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .every((term) => {
      const [, name = '', sign = '', value = ''] = /^([^!=\s]+)\s*(!=|==?|)\s*(.*)$/.exec(term) ?? []
      if (sign === '') return term.startsWith('!') ? !Object.hasOwn(labels, term.slice(1)) : Object.hasOwn(labels, name)
      return sign === '!=' ? labels[name] !== value : labels[name] === value
    })
}

function metadataOf(object: Fields) {
  const metadata = isFields(object.metadata) ? object.metadata : {}
  const texts = (value: unknown) => (isFields(value) ? (value as Readonly<Record<string, string>>) : {})
  return {
    name: wordOf(metadata.name),
    namespace: wordOf(metadata.namespace),
    labels: texts(metadata.labels),
    annotations: texts(metadata.annotations),
  }
}

function nameOf(object: Fields): string {
  return `${wordOf(object.kind)}/${metadataOf(object).name}`.slice(0, 200)
}

function groupOf(object: Fields): string {
  const version = wordOf(object.apiVersion)
  return version.includes('/') ? (version.split('/')[0] ?? '') : ''
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
