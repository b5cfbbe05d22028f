import { LIMITS } from '../lib/limits.ts'
import { readFullYaml } from './full-yaml.ts'
import { DELETED, jsonPatch, mergePatch, PatchFailed } from './kustomize-patch.ts'
import { type Kustomization, kustomizationSchema, type PatchEntry, type PatchTarget } from './kustomize-schema.ts'
import { isFields, objectsOf, type ReadDocument, readDocuments, readJson } from './manifest.ts'

/** A document that a kustomization brings, changed as it says, with the place where it was written. */
export interface BuiltDocument {
  readonly file: string
  readonly read: ReadDocument
}

/** What cannot be built, and where. */
export interface KustomizeFinding {
  readonly file: string
  readonly code: string
  readonly message: string
  readonly hint?: string
}

export interface Built {
  readonly documents: readonly BuiltDocument[]
  readonly findings: readonly KustomizeFinding[]
}

const NAMES = ['kustomization.yaml', 'kustomization.yml']

/** The kustomization of the top directory, where there is one. */
export function rootKustomization(paths: Iterable<string>): string | undefined {
  const known = new Set(paths)
  return NAMES.find((name) => known.has(name))
}

/**
 * Builds the kustomization of a directory, the top one unless said otherwise, out of files that are all in hand: nothing is fetched, nothing is run.
 * Each document keeps its text and line, so that whatever is wrong with it is told where it was written.
 */
export function buildKustomization(files: ReadonlyMap<string, string>, top = ''): Built {
  const findings: KustomizeFinding[] = []
  const complain = (file: string, code: string, message: string, hint?: string) =>
    findings.push({ file, code, message, ...(hint === undefined ? {} : { hint }) })
  let built = 0

  const build = (directory: string, above: readonly string[], onto: readonly Item[]): readonly Item[] => {
    const file = NAMES.map((name) => join(directory, name)).find((name) => files.has(name))
    const asker = above.at(-1) ?? '.'
    if (file === undefined) {
      complain(asker, 'kustomize-missing', `there is no kustomization.yaml in ${directory === '' ? '.' : directory}`)
      return onto
    }
    if (above.includes(file)) {
      complain(
        asker,
        'kustomize-cycle',
        `kustomizations lead in a circle: ${[...above, file].join(' → ')}`,
        'remove one of the steps',
      )
      return onto
    }
    if (++built > LIMITS.kustomizations || above.length > LIMITS.directoryDepth) {
      complain(
        asker,
        'too-large',
        `more than ${LIMITS.kustomizations} kustomizations, or more than ${LIMITS.directoryDepth} deep`,
      )
      return onto
    }
    const kustomization = parse(file)
    if (kustomization === undefined) return onto
    let items: readonly Item[] = []
    for (const entry of [...(kustomization.resources ?? []), ...(kustomization.bases ?? [])]) {
      items = [...items, ...resource(entry, directory, file, [...above, file])]
    }
    const component = kustomization.kind === 'Component'
    let all = component ? [...onto, ...items] : items
    for (const entry of kustomization.components ?? []) {
      const place = placeOf(entry, directory, file)
      if (place !== undefined) all = build(place, [...above, file], all)
    }
    return transform(all, kustomization, directory, file)
  }

  const resource = (entry: string, directory: string, file: string, above: readonly string[]): readonly Item[] => {
    const place = placeOf(entry, directory, file)
    if (place === undefined) return []
    const text = files.get(place)
    if (text === undefined) {
      if ([...files.keys()].some((name) => name.startsWith(`${place}/`) || place === '')) return build(place, above, [])
      complain(file, 'kustomize-missing', `${entry} is not there`, 'correct the path, or add the file')
      return []
    }
    const reads = /\.json$/i.test(place) ? readJson(text) : readDocuments(text)
    return reads.map((read) => ({ file: place, read }))
  }

  /** A path inside the tree; undefined and a finding for everything else. */
  const placeOf = (entry: string, directory: string, file: string): string | undefined => {
    if (/^[a-z][a-z0-9+.-]*:|^[^/]*@|\/\/|\?ref=|^(?:[a-z0-9-]+\.)+[a-z]{2,}\//i.test(entry)) {
      complain(
        file,
        'kustomize-remote',
        `${entry.slice(0, 200)} is not in this repository: remote bases are not fetched`,
        'copy it into the repository',
      )
      return undefined
    }
    const place = normal(join(directory, entry))
    if (place === undefined || entry.startsWith('/')) {
      complain(file, 'kustomize-outside', `${entry.slice(0, 200)} leads out of the directory that is read`)
      return undefined
    }
    return place
  }

  const parse = (file: string): Kustomization | undefined => {
    const { value, findings: wrong } = readFullYaml(files.get(file) ?? '')
    const first = wrong[0]
    if (first !== undefined) {
      complain(file, first.code, first.message)
      return undefined
    }
    const parsed = kustomizationSchema.safeParse(value ?? {})
    if (parsed.success) return parsed.data
    for (const issue of parsed.error.issues.slice(0, 5)) {
      const where = issue.path.join('.')
      const what =
        issue.code === 'unrecognized_keys'
          ? `${issue.keys.join(', ')} is not read in a kustomization`
          : `${where}: ${issue.message}`
      complain(
        file,
        'kustomize-field',
        what,
        issue.code === 'unrecognized_keys' ? 'build it beforehand, or write the manifests out' : undefined,
      )
    }
    return undefined
  }

  const transform = (
    items: readonly Item[],
    kustomization: Kustomization,
    directory: string,
    file: string,
  ): readonly Item[] => {
    let all = items
    const lay = (entry: PatchEntry) => {
      try {
        all = patch(all, entry, patchText(entry, directory, file), file)
      } catch (error) {
        if (!(error instanceof PatchFailed)) throw error
        complain(file, 'kustomize-patch', error.message)
      }
    }
    for (const text of kustomization.patchesStrategicMerge ?? [])
      lay(text.includes('\n') || text.includes(': ') ? { patch: text } : { path: text })
    for (const entry of kustomization.patches ?? []) lay(entry)
    const { namespace, namePrefix = '', nameSuffix = '' } = kustomization
    const labels = {
      ...kustomization.commonLabels,
      ...Object.assign({}, ...(kustomization.labels ?? []).map(({ pairs }) => pairs)),
    } as Readonly<Record<string, string>>
    const annotations = kustomization.commonAnnotations ?? {}
    if (
      namespace !== undefined ||
      namePrefix !== '' ||
      nameSuffix !== '' ||
      Object.keys(labels).length + Object.keys(annotations).length > 0
    ) {
      all = all.map((item) =>
        mapObjects(item, (object) => renamed(object, { namespace, namePrefix, nameSuffix, labels, annotations })),
      )
    }
    for (const entry of kustomization.patchesJson6902 ?? []) lay(entry)
    return all
  }

  const patchText = (entry: PatchEntry, directory: string, file: string): string => {
    if (entry.patch !== undefined) return entry.patch
    const place = entry.path === undefined ? undefined : placeOf(entry.path, directory, file)
    const text = place === undefined ? undefined : files.get(place)
    if (text === undefined) throw new PatchFailed(`the patch ${entry.path ?? ''} is not there`)
    return text
  }

  return { documents: build(top, [], []).map(({ file, read }) => ({ file, read })), findings }
}

interface Item {
  readonly file: string
  readonly read: ReadDocument
  /** Names that it had before prefixes: patches may still call it by them. */
  readonly names?: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

function patch(items: readonly Item[], entry: PatchEntry, text: string, file: string): readonly Item[] {
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
        const meant = target === undefined ? isSame(object, names, value as Fields) : isTarget(object, names, target)
        if (!meant || gone) return object
        hits++
        if (operations) return jsonPatch(object, value) as Fields
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

function mapObjects(item: Item, change: (object: Fields, names: readonly string[]) => Fields): Item {
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

function renamed(
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
  const whole = (pattern: string | undefined, text: string) => pattern === undefined || anchored(pattern).test(text)
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

function anchored(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern.slice(0, 500)})$`, 'u')
  } catch {
    throw new PatchFailed(`${pattern.slice(0, 100)} is no pattern`)
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

function join(directory: string, entry: string): string {
  return directory === '' ? entry : `${directory}/${entry}`
}

/** Without `.` and `..`; undefined when it would lead out. */
function normal(path: string): string | undefined {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
