import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Budget, BudgetSpent, createBudget } from '../budget.ts'
import { isFields, type ReadDocument, readAsKustomize, readJson } from '../manifest.ts'
import { readFullYaml } from '../yaml/full-yaml.ts'
import { templateNote } from '../yaml/template-text.ts'
import { textOf } from '../yaml/text-of.ts'
import { chartPlaceOfEntry } from './charts.ts'
import { BUILT_IN, type Configuration, configurationSchema, joined } from './configuration.ts'
import { generate, generatorFiles, nameBeforeContent, nameByContent } from './generators.ts'
import { PatchFailed } from './json-patch.ts'
import { documentsOf, itemsOf, type KustomizeItem, metadataOf, nameOf } from './objects.ts'
import { patch, plainPatch } from './patches.ts'
import { followNames } from './references.ts'
import { isRemote, remoteEntry } from './remote-entry.ts'
import { replace } from './replacements.ts'
import {
  type Kustomization,
  kustomizationSchema,
  NOT_FOLLOWED,
  type PatchEntry,
  type Replacement,
  type Variable,
} from './schema.ts'
import { addAnnotations, addLabels, affixNames, setImages, setNamespace, setReplicas } from './transform.ts'
import { resolveVars } from './vars.ts'

/** A built document, with the place where it was written. */
export interface BuiltDocument {
  readonly file: string
  readonly read: ReadDocument
}

/** A failure to build, with its place. */
export interface KustomizeFinding {
  readonly file: string
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Line in the file. */
  readonly line: number
}

export interface Built {
  readonly documents: readonly BuiltDocument[]
  readonly findings: readonly KustomizeFinding[]
  readonly used: ReadonlySet<string>
  readonly wanted: ReadonlySet<string>
}

/** In kustomize's order of precedence. */
export const NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** Loaded files: manifests as text, and files that generators name as bytes. */
export interface FilesInHand {
  readonly texts: ReadonlyMap<string, string>
  readonly bytes?: ReadonlyMap<string, Uint8Array>
  /** Objects of other repositories and of charts, by their places. */
  readonly fetched?: ReadonlyMap<string, readonly unknown[]>
  /** For repeated builds of the same files: the results about them so far. */
  readonly before?: FilesBefore
}

export interface FilesBefore {
  readonly folders: ReadonlySet<string>
  /** Manifests that were read, by their paths; more are added. */
  readonly read: Map<string, readonly ReadDocument[]>
}

/** Reports whether this is the name of a kustomization. */
export function isKustomization(path: string): boolean {
  return NAMES.includes(path.slice(path.lastIndexOf('/') + 1))
}

/** Builds kustomizations of one tree, and records the files used. */
export interface Kustomizer {
  build(directory: string): readonly BuiltDocument[]
  /** The directories and generator files that a kustomization names. `readable`: it names no others. */
  names(file: string): {
    readonly readable: boolean
    readonly directories: readonly string[]
    readonly generatorFiles: readonly string[]
    readonly component: boolean
  }
  readonly findings: readonly KustomizeFinding[]
  /** Files that were read: kustomizations, resources and patches. */
  readonly used: ReadonlySet<string>
  /** Places elsewhere that it would have to be fetched from. */
  readonly wanted: ReadonlySet<string>
}

/** Builds the kustomization of a directory; default: the top one. */
export function buildKustomization(hand: FilesInHand, top = '', budget?: Budget): Built {
  const kustomizer = createKustomizer(hand, budget)
  const documents = kustomizer.build(top)
  return { documents, findings: kustomizer.findings, used: kustomizer.used, wanted: kustomizer.wanted }
}

/**
 * Builds from loaded files, by their paths from the top (`../` for those above it); it fetches nothing and runs
 * nothing. Each document keeps its text and line, so that a problem is reported where it was written.
 */
export function createKustomizer(
  { texts: files, bytes, fetched, before: earlier }: FilesInHand,
  budget: Budget = createBudget(),
): Kustomizer {
  const findings: KustomizeFinding[] = []
  const used = new Set<string>()
  const wanted = new Set<string>()
  /** `about`: a word of the file, whose line is reported. */
  const complain = (file: string, code: string, message: string, hint?: string, about?: string) => {
    const line = about === undefined ? 1 : lineOf(files.get(file) ?? '', about)
    if (findings.length < LIMITS.problemsKept) findings.push({ file, code, message, line, ...defined({ hint }) })
  }
  const folders = earlier?.folders ?? foldersOf(files.keys())
  const known = earlier?.read ?? new Map<string, readonly ReadDocument[]>()
  let built = 0

  const fileIn = (directory: string) => NAMES.map((name) => join(directory, name)).find((name) => files.has(name))

  /** Reads a kustomization without reporting its problems. */
  const readQuietly = (file: string): Kustomization | undefined =>
    kustomizationSchema.safeParse(readFullYaml(files.get(file) ?? '').value ?? {}).data

  const build = (directory: string, above: readonly string[], onto: KustomizeParts): KustomizeParts => {
    const file = fileIn(directory)
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
    if (above.length > LIMITS.directoryDepth) {
      complain(asker, 'too-large', `kustomizations lead more than ${LIMITS.directoryDepth} levels down`)
      return onto
    }
    if (++built > LIMITS.kustomizations) {
      const hint = 'exclude what croft need not read in .croftignore, or name a part of the repository'
      if (built === LIMITS.kustomizations + 1)
        complain(file, 'too-large', `croft builds at most ${LIMITS.kustomizations} kustomizations of one tree`, hint)
      return onto
    }
    used.add(file)
    const before = findings.length
    const kustomization = parse(file)
    if (kustomization === undefined) return onto
    let all = kustomization.kind === 'Component' ? onto : NOTHING
    for (const entry of [...(kustomization.resources ?? []), ...(kustomization.bases ?? [])])
      all = together(all, resource(entry, directory, file, [...above, file]))
    for (const entry of kustomization.configurations ?? [])
      all = { ...all, config: joined(all.config, configuration(entry, directory, file)) }
    const { items } = all
    const generated = attempt(file, before, () =>
      generate(items, kustomization, carrierOf(file), bytesAt(directory, file)),
    )
    all = { ...all, items: [...(generated ?? items), ...charts(kustomization, directory, file, before, above)] }
    for (const entry of kustomization.components ?? []) {
      const place = placeOf(entry, directory, file)
      if (place !== undefined) all = build(place, [...above, file], all)
    }
    const changed = transform(all.items, kustomization, directory, file, all.config, before)
    return { ...all, items: changed, vars: [...all.vars, ...(kustomization.vars ?? [])] }
  }

  /** A file with more fields to look at. */
  const configuration = (entry: string, directory: string, file: string) => {
    const place = placeOf(entry, directory, file)
    const text = place === undefined ? undefined : files.get(place)
    if (place === undefined || text === undefined) {
      complain(file, 'kustomize-missing', `${entry.slice(0, 200)} is not there`)
      return {}
    }
    used.add(place)
    const parsed = configurationSchema.safeParse(readFullYaml(text).value ?? {})
    if (parsed.success) return parsed.data
    complain(place, 'kustomize-field', `this configuration is not followed: ${parsed.error.issues[0]?.message ?? ''}`)
    return {}
  }

  /** Runs one step. Its failure is a finding, unless an earlier one, from `since` on, explains it. */
  const attempt = <T>(file: string, since: number, step: () => T): T | undefined => {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof PatchFailed)) throw error
      if (findings.length === since) complain(file, 'kustomize-patch', error.message)
      return undefined
    }
  }

  const bytesAt = (directory: string, file: string) => (path: string) => {
    const place = placeOf(path, directory, file)
    const text = place === undefined ? undefined : files.get(place)
    const found =
      place === undefined ? undefined : (bytes?.get(place) ?? (text === undefined ? text : Buffer.from(text)))
    if (place === undefined || found === undefined) throw new PatchFailed(`the file ${path.slice(0, 200)} is not there`)
    used.add(place)
    budget.bytes(found.length)
    return found
  }

  const resource = (entry: string, directory: string, file: string, above: readonly string[]): KustomizeParts => {
    if (isRemote(entry)) return { ...NOTHING, items: elsewhere(entry, file) }
    const place = placeOf(entry, directory, file)
    if (place === undefined) return NOTHING
    const text = files.get(place)
    if (text === undefined) {
      const kustomization = fileIn(place)
      if (kustomization !== undefined && readQuietly(kustomization)?.kind === 'Component') {
        const hint = 'name it under components, not under resources'
        complain(file, 'kustomize-component', `${entry.slice(0, 200)} is a Component`, hint, entry)
        return NOTHING
      }
      if (isDirectory(place)) return build(place, above, NOTHING)
      const inHand = bytes?.get(place)
      const unread = inHand === undefined ? undefined : textOf(inHand)
      if (unread !== undefined && 'finding' in unread) {
        const { code, line, message, hint } = unread.finding
        findings.push({ file: place, code, line, message, ...defined({ hint }) })
      } else complain(file, 'kustomize-missing', `${entry} is not there`, 'correct the path, or add the file', entry)
      return NOTHING
    }
    used.add(place)
    const reads = known.get(place) ?? (/\.json$/i.test(place) ? readJson(text) : readAsKustomize(text))
    known.set(place, reads)
    budget.documents(reads.length)
    for (const { value } of reads) budget.nodes(value)
    // Keep an unreadable document, so that its problems are reported at its place.
    for (const read of reads) if (read.findings.length > 0) unread.push({ file: place, read })
    const whole = reads.filter(({ findings: wrong }) => wrong.length === 0)
    return { ...NOTHING, items: whole.flatMap((read) => itemsOf({ file: place, read })) }
  }

  /** The objects of a base in another repository, at one commit, if they are at hand. */
  const elsewhere = (entry: string, file: string): readonly KustomizeItem[] => {
    const meant = remoteEntry(entry)
    const short = entry.slice(0, 200)
    if ('url' in meant)
      return objectsFrom(`git+${meant.url}#${meant.commit}:${meant.path}`, file, short, entry).map((item) => ({
        ...nameBeforeContent(item),
        elsewhere: true,
      }))
    const why = 'why' in meant ? meant.why : `${meant.unpinned} may mean something else tomorrow`
    complain(file, 'kustomize-remote', `${short} is not fetched: ${why}`, meant.hint, entry)
    return []
  }

  const objectsFrom = (place: string, file: string, short: string, about: string): readonly KustomizeItem[] => {
    const objects = fetched?.get(place)
    if (objects === undefined) {
      wanted.add(place)
      complain(
        file,
        'kustomize-remote',
        `${short} is elsewhere, and is fetched for the path of an Addon alone`,
        undefined,
        about,
      )
      return []
    }
    budget.documents(objects.length)
    return objects.flatMap((value) => {
      budget.nodes(value)
      const carrier = carrierOf(file)
      return isFields(value) ? itemsOf({ ...carrier, read: { ...carrier.read, value } }) : []
    })
  }

  /** Returns Helm's output for the charts of a kustomization, if it was rendered. */
  const charts = (
    { helmCharts, namespace = '' }: Kustomization,
    directory: string,
    file: string,
    since: number,
    above: readonly string[],
  ): readonly KustomizeItem[] =>
    (helmCharts ?? []).flatMap((entry) => {
      // Since 5.8, the namespace of an overlay is passed to Helm, or does not reach the chart's objects at all.
      const over = above.find((one) => ![undefined, entry.namespace].includes(readQuietly(one)?.namespace))
      if (over !== undefined) {
        complain(
          over,
          'kustomize-field',
          `namespace: ${readQuietly(over)?.namespace ?? ''} stands above the chart ${entry.name} of ${file}, and versions of kustomize differ in whether it reaches that`,
          `write the same namespace into the entry of helmCharts in ${file}`,
          'namespace',
        )
        return []
      }
      const read = (path: string) => Buffer.from(bytesAt(directory, file)(path)).toString('utf8')
      const place = attempt(file, since, () => chartPlaceOfEntry(entry, read))
      if (place === undefined) return []
      if (namespace !== '' && entry.namespace === undefined) {
        complain(
          file,
          'kustomize-field',
          `namespace: ${namespace} stands above the chart ${entry.name}, and versions of kustomize differ in whether they pass it to Helm`,
          `write namespace: ${namespace} into the entry of helmCharts`,
          'namespace',
        )
        return []
      }
      const items = objectsFrom(place, file, `the chart ${entry.name}`, 'helmCharts:')
      const other = items.find(({ object }) => !['', namespace].includes(metadataOf(object).namespace))
      if (namespace !== '' && other !== undefined)
        complain(
          file,
          'kustomize-field',
          `namespace: ${namespace} is not that of ${nameOf(other.object)} of the chart ${entry.name}, and versions of kustomize differ in whether they change it`,
          `write namespace: ${namespace} into the entry of helmCharts`,
          'namespace',
        )
      return items
    })

  /** A path inside the tree; undefined and a finding for everything else. */
  const placeOf = (entry: string, directory: string, file: string): string | undefined => {
    if (isRemote(entry)) {
      complain(
        file,
        'kustomize-remote',
        `${entry.slice(0, 200)} is not in this repository, and croft fetches resources alone`,
        'copy it into the repository',
        entry,
      )
      return undefined
    }
    const place = normal(join(directory, entry))
    const above = place === '..' || place.startsWith('../')
    const inHand = files.has(place) || bytes?.has(place) === true
    if (entry.startsWith('/') || (above && !inHand && !isDirectory(place))) {
      complain(file, 'kustomize-outside', `${entry.slice(0, 200)} leads out of what is read`, OUTSIDE, entry)
      return undefined
    }
    return place
  }

  const isDirectory = (place: string): boolean => place === '' || folders.has(place)

  const parse = (file: string): Kustomization | undefined => {
    const text = files.get(file) ?? ''
    const { value, findings: wrong } = readFullYaml(text)
    const first = wrong[0]
    if (first !== undefined) {
      const template = templateNote(text, wrong)
      if (template === undefined)
        findings.push({ file, code: first.code, message: first.message, line: lineAt(text, first.offset) })
      else complain(file, 'template', `this kustomization is ${template}`, 'name it in .croftignore')
      return undefined
    }
    if (value === null || value === undefined) {
      complain(file, 'kustomize-empty', 'the kustomization is empty', 'name its resources, or remove the file')
      return undefined
    }
    const parsed = kustomizationSchema.safeParse(value)
    if (parsed.success) return parsed.data
    for (const issue of parsed.error.issues.slice(0, 5)) {
      if (issue.code !== 'unrecognized_keys') {
        const [message, hint] = plainPatch(issue.path, value) ?? [`${issue.path.join('.')}: ${issue.message}`]
        complain(file, 'kustomize-field', message, hint, `${String(issue.path[0])}:`)
      } else
        for (const key of issue.keys)
          complain(
            file,
            'kustomize-field',
            `${[...issue.path, key].join('.')} is not followed in a kustomization`,
            NOT_FOLLOWED[key] ?? 'build it beforehand, or write the manifests out',
            `${key}:`,
          )
    }
    return undefined
  }

  /** Applies the steps in kustomize's order. A failed step skips the rest: a half-built result does not count. */
  const transform = (
    items: readonly KustomizeItem[],
    kustomization: Kustomization,
    directory: string,
    file: string,
    config: Configuration,
    since: number,
  ): readonly KustomizeItem[] => {
    const lay = (entry: PatchEntry) => (all: readonly KustomizeItem[]) =>
      patch(all, entry, patchText(entry, directory, file), budget)
    const { namespace = '', namePrefix: prefix = '', nameSuffix: suffix = '' } = kustomization
    const steps: readonly ((all: readonly KustomizeItem[]) => readonly KustomizeItem[])[] = [
      ...(kustomization.patchesStrategicMerge ?? []).map((text) =>
        lay(text.includes('\n') || text.includes(': ') ? { patch: text } : { path: text }),
      ),
      ...(kustomization.patches ?? []).map(lay),
      (all) => (namespace === '' ? all : setNamespace(all, namespace, config)),
      (all) => (prefix === '' ? all : affixNames(all, { prefix, suffix: '' })),
      (all) => (suffix === '' ? all : affixNames(all, { prefix: '', suffix })),
      (all) => addLabels(all, kustomization, config, budget),
      (all) => addAnnotations(all, kustomization.commonAnnotations ?? {}, config, budget),
      ...(kustomization.patchesJson6902 ?? []).map(lay),
      (all) => setReplicas(all, kustomization.replicas, config, budget),
      (all) => setImages(all, kustomization.images, config, budget),
      ...(kustomization.replacements ?? []).map(
        (entry) => (all: readonly KustomizeItem[]) =>
          replacementsOf(entry, directory, file).reduce((some, one) => replace(some, one, budget), all),
      ),
    ]
    return attempt(file, since, () => steps.reduce((all, step) => step(all), items)) ?? items
  }

  /** A replacement, or those of the file that it names. */
  const replacementsOf = (entry: Replacement, directory: string, file: string): readonly Replacement[] => {
    if (entry.path === undefined) return [entry]
    const { value, findings: wrong } = readFullYaml(patchText({ path: entry.path }, directory, file))
    const parsed = kustomizationSchema.shape.replacements.safeParse(Array.isArray(value) ? value : [value])
    if (wrong.length > 0 || !parsed.success)
      throw new PatchFailed(`${entry.path} holds no replacements that can be read`)
    return parsed.data ?? []
  }

  const patchText = (entry: PatchEntry, directory: string, file: string): string => {
    if (entry.patch !== undefined) return entry.patch
    const place = entry.path === undefined ? undefined : placeOf(entry.path, directory, file)
    const text = place === undefined ? undefined : files.get(place)
    if (place === undefined || text === undefined) throw new PatchFailed(`the patch ${entry.path ?? ''} is not there`)
    used.add(place)
    return text
  }

  const unread: BuiltDocument[] = []
  return {
    build(directory) {
      unread.length = 0
      let gathered: KustomizeParts
      try {
        gathered = build(directory, [], NOTHING)
      } catch (error) {
        if (!(error instanceof BudgetSpent)) throw error
        const file = fileIn(directory)
        complain(file ?? directory, 'too-large', error.message, 'follow fewer overlays at once (path), or patch less')
        return []
      }
      const { items, config, vars } = gathered
      const named = attempt(join(directory, NAMES[0] ?? ''), findings.length, () =>
        resolveVars(followNames(nameByContent(items), config.nameReference), vars, config),
      )
      const kept = (named ?? items).filter(({ object }) => metadataOf(object).annotations[LOCAL_ONLY] !== 'true')
      return [...unread, ...documentsOf(kept)]
    },
    names(file) {
      const { value, findings: wrong } = readFullYaml(files.get(file) ?? '')
      const parsed = kustomizationSchema.safeParse(value ?? {}).data
      const directory = file.slice(0, Math.max(0, file.lastIndexOf('/')))
      const from = (entry: string) => normal(join(directory, entry))
      return {
        readable: wrong.length === 0,
        directories: entriesOf(value).map(from),
        generatorFiles: parsed === undefined ? [] : generatorFiles(parsed).map(from),
        component: parsed?.kind === 'Component',
      }
    },
    findings,
    used,
    wanted,
  }
}

/** Returns the entries of a kustomization, even if other fields of it are unknown. */
function entriesOf(value: unknown): readonly string[] {
  if (!isFields(value)) return []
  const lists = [value.resources, value.bases, value.components]
  return lists.flatMap((list) => (Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []))
}

/** Returns the line of the first occurrence of a word. */
function lineOf(text: string, word: string): number {
  return lineAt(text, Math.max(0, text.indexOf(word)))
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The contribution of a kustomization to its parent. */
interface KustomizeParts {
  readonly items: readonly KustomizeItem[]
  readonly config: Configuration
  readonly vars: readonly Variable[]
}

const NOTHING: KustomizeParts = { items: [], config: BUILT_IN, vars: [] }

function together(a: KustomizeParts, b: KustomizeParts): KustomizeParts {
  const config = b.config === BUILT_IN ? a.config : joined(a.config, b.config)
  return { items: [...a.items, ...b.items], config, vars: [...a.vars, ...b.vars] }
}

/** kustomize itself leaves these out of what it builds. */
const LOCAL_ONLY = 'config.kubernetes.io/local-config'

/** Returns the carrier of generated objects: the kustomization itself. */
function carrierOf(file: string) {
  return { file, read: { document: { text: '', line: 1 }, value: {}, findings: [] } }
}

/** Every directory that something lies in. */
export function foldersOf(files: Iterable<string>): ReadonlySet<string> {
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

/** Normalizes a path: no `.`, and `..` only at its beginning, above the top. */
function normal(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..' || parts.length === 0 || parts.at(-1) === '..') parts.push(part)
    else parts.pop()
  }
  return parts.join('/')
}
