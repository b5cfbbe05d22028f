import { LIMITS } from '../lib/limits.ts'
import { type Budget, BudgetSpent, createBudget } from './budget.ts'
import { readFullYaml } from './full-yaml.ts'
import { type Item, mapObjects, patch, renamed } from './kustomize-objects.ts'
import { PatchFailed } from './kustomize-patch.ts'
import { type Kustomization, kustomizationSchema, type PatchEntry } from './kustomize-schema.ts'
import { type ReadDocument, readDocuments, readJson } from './manifest.ts'

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

/** Is this the name of a kustomization? */
export function isKustomization(path: string): boolean {
  return NAMES.includes(path.slice(path.lastIndexOf('/') + 1))
}

/** Builds kustomizations of one tree, and remembers what was taken for them. */
export interface Kustomizer {
  build(directory: string): readonly BuiltDocument[]
  /** The directories that a kustomization names. A kustomization that cannot be read names none. */
  names(file: string): { readonly directories: readonly string[]; readonly component: boolean }
  readonly findings: readonly KustomizeFinding[]
  /** Files that were read: kustomizations, resources and patches. */
  readonly used: ReadonlySet<string>
}

/** Builds the kustomization of a directory, the top one unless said otherwise. */
export function buildKustomization(files: ReadonlyMap<string, string>, top = '', budget?: Budget): Built {
  const kustomizer = createKustomizer(files, budget)
  return { documents: kustomizer.build(top), findings: kustomizer.findings }
}

/**
 * Works on files that are all in hand, by their paths from the top (`../` for what is above it): nothing is fetched,
 * nothing is run. Each document keeps its text and line, so that whatever is wrong with it is told where it was written.
 */
export function createKustomizer(files: ReadonlyMap<string, string>, budget: Budget = createBudget()): Kustomizer {
  const findings: KustomizeFinding[] = []
  const used = new Set<string>()
  const complain = (file: string, code: string, message: string, hint?: string) => {
    if (findings.length < LIMITS.problemsKept)
      findings.push({ file, code, message, ...(hint === undefined ? {} : { hint }) })
  }
  let built = 0
  const folders = foldersOf(files.keys())
  const reads = new Map<string, readonly ReadDocument[]>()

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
    used.add(file)
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
      if (isDirectory(place)) return build(place, above, [])
      complain(file, 'kustomize-missing', `${entry} is not there`, 'correct the path, or add the file')
      return []
    }
    used.add(place)
    const documents = reads.get(place) ?? (/\.json$/i.test(place) ? readJson(text) : readDocuments(text))
    reads.set(place, documents)
    budget.documents(documents.length)
    for (const { value } of documents) budget.nodes(value)
    return documents.map((read) => ({ file: place, read }))
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
    const above = place === '..' || place.startsWith('../')
    if (entry.startsWith('/') || (above && !files.has(place) && !isDirectory(place))) {
      complain(file, 'kustomize-outside', `${entry.slice(0, 200)} leads out of what is read`, OUTSIDE)
      return undefined
    }
    return place
  }

  const isDirectory = (place: string): boolean => place === '' || folders.has(place)

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
        all = patch(all, entry, patchText(entry, directory, file), file, budget)
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
      budget.nodes([labels, annotations], all.length)
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
    if (place === undefined || text === undefined) throw new PatchFailed(`the patch ${entry.path ?? ''} is not there`)
    used.add(place)
    return text
  }

  return {
    build(directory) {
      try {
        return build(directory, [], []).map(({ file, read }) => ({ file, read }))
      } catch (error) {
        if (!(error instanceof BudgetSpent)) throw error
        const file = NAMES.map((name) => join(directory, name)).find((name) => files.has(name))
        complain(file ?? directory, 'too-large', error.message, 'follow fewer overlays at once (path), or patch less')
        return []
      }
    },
    names(file) {
      const parsed = kustomizationSchema.safeParse(readFullYaml(files.get(file) ?? '').value ?? {})
      if (!parsed.success) return { directories: [], component: false }
      const { resources, bases, components, kind } = parsed.data
      const entries = [...(resources ?? []), ...(bases ?? []), ...(components ?? [])]
      const directory = file.slice(0, Math.max(0, file.lastIndexOf('/')))
      return { directories: entries.map((entry) => normal(join(directory, entry))), component: kind === 'Component' }
    },
    findings,
    used,
  }
}

/** Every directory that something lies in. */
function foldersOf(files: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const file of files)
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}

const OUTSIDE = 'keep what it names in the same repository'

function join(directory: string, entry: string): string {
  return directory === '' ? entry : `${directory}/${entry}`
}

/** Without `.`, and `..` only at its beginning, where it leads above the top. */
function normal(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..' || parts.length === 0 || parts.at(-1) === '..') parts.push(part)
    else parts.pop()
  }
  return parts.join('/')
}
