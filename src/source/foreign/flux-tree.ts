import { createKustomizer, type FilesBefore, foldersOf, isKustomization, NAMES } from '../kustomize/build.ts'
import { generatorFilesOf } from '../kustomize/tree.ts'
import { isFields, objectsOf } from '../manifest.ts'
import { documentsIn, documentsOf } from './documents.ts'
import { type FluxVariables, substituted } from './flux-variables.ts'
import { wordOf } from './gitops.ts'
import type { ForeignFile, NotCarried } from './reading.ts'

export type FluxObject = Readonly<Record<string, unknown>>

/** The objects that a repository's Kustomizations apply, as Flux does. */
export interface AppliedTree {
  /** Kustomizations that point to a directory of the files; empty if there are none. */
  readonly kustomizations: readonly AppliedKustomization[]
  /** Files that one of them reads. */
  readonly used: ReadonlySet<string>
  readonly notCarried: readonly NotCarried[]
}

export interface AppliedKustomization {
  readonly what: string
  readonly objects: readonly AppliedObject[]
}

export interface AppliedObject {
  readonly object: FluxObject
  /** Variables that stayed in it, and where their values are. */
  readonly unknown: readonly string[]
  readonly elsewhere: readonly string[]
}

interface Written {
  readonly file: string
  readonly object: FluxObject
}

/** Deeper Kustomizations form a cycle. */
const MOST_LEVELS = 20

/**
 * Follows Flux's Kustomizations from the outermost inward: each applies its namespace, patches and variables to its
 * objects, which may be further Kustomizations. Returns a text if that fails.
 */
export function appliedByFlux(files: readonly ForeignFile[], under: string | undefined): AppliedTree | string {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const own = files.flatMap((file) =>
    (documentsOf(file) ?? []).flatMap((value) =>
      objectsOf(value).map(({ value: object }): Written => ({ file: file.path, object })),
    ),
  )
  const folders = foldersOf(texts.keys())
  const all = own.filter(({ object }) => directoryOf(object, folders) !== undefined && !isPinned(object, own))
  if (all.length === 0) return { kustomizations: [], used: new Set(), notCarried: [] }
  const hand = inHand(texts, folders)
  const inside = under?.replace(/^\.?\/+|\/+$/g, '')
  const roots = outermost(all, hand).filter(
    ({ file }) => inside === undefined || file.startsWith(`${inside}/`) || file === inside,
  )
  if (roots.length === 0) return `${inside ?? 'it'} holds no Kustomization of Flux that is outside all others`
  const several = twice(roots)
  if (several !== undefined) return several
  const used = new Set<string>()
  const notCarried: NotCarried[] = []
  const kustomizations: AppliedKustomization[] = []
  const seen = new Set<string>()
  const follow = (object: FluxObject, level: number): void => {
    const what = whatOf(object)
    if (seen.has(what) || level > MOST_LEVELS) return
    seen.add(what)
    const spec = specOf(object)
    if (spec.suspend === true) {
      notCarried.push({ what, why: 'it is suspended, and so is what it applies' })
      return
    }
    if (isFields(spec.kubeConfig)) {
      notCarried.push({ what, why: 'it is for another cluster, by spec.kubeConfig' })
      return
    }
    const built = builtBy(object, hand)
    for (const file of built.used) used.add(file)
    if (built.failed.length > 0) {
      for (const why of built.failed) notCarried.push({ what, why })
      return
    }
    for (const why of built.without) notCarried.push({ what, why })
    const variables = variablesOf(object, [...built.written, ...own])
    const objects = built.written.map((written): AppliedObject => {
      const filled =
        spec.postBuild === undefined ? { object: written.object, unknown: [] } : substituted(written.object, variables)
      return { ...filled, elsewhere: variables.elsewhere }
    })
    kustomizations.push({ what, objects })
    for (const { object: one } of objects) if (directoryOf(one, folders) !== undefined) follow(one, level + 1)
  }
  for (const { object } of roots) follow(object, 0)
  return { kustomizations, used, notCarried }
}

/** Returns Kustomizations that no other one applies. The root one often applies itself, from its own directory. */
function outermost(all: readonly Written[], hand: Hand): readonly Written[] {
  const placeOf = ({ file, object }: Written) => `${file} ${whatOf(object)}`
  const inner = new Set<string>()
  const own: Written[] = []
  for (const one of all)
    for (const written of builtBy(one.object, hand).written) {
      if (written.object.kind !== 'Kustomization') continue
      if (written.file === one.file && nameOf(written.object) === nameOf(one.object)) own.push(one)
      else inner.add(`${written.file} ${nameOf(written.object)}`)
    }
  const outside = all.filter(({ file, object }) => !inner.has(`${file} ${nameOf(object)}`))
  const begins = own.filter(({ object }) => nameOf(object) === 'flux-system')
  const roots = [...outside, ...begins]
  return [...new Map((roots.length === 0 ? own : roots).map((one) => [placeOf(one), one])).values()]
}

/** The loaded files, and generator inputs that are no manifests: objects made from those lack their content. */
interface Hand {
  readonly texts: ReadonlyMap<string, string>
  readonly bytes: ReadonlyMap<string, Uint8Array>
  readonly before: FilesBefore
  /** Cached builds by their input: each is built to find the outermost, and again to follow them. */
  readonly builds: Map<string, BuiltByFlux>
}

interface BuiltByFlux {
  readonly used: ReadonlySet<string>
  readonly written: readonly Written[]
  /** Missing objects, and failures that may affect any object. */
  readonly without: readonly string[]
  readonly failed: readonly string[]
}

function inHand(texts: ReadonlyMap<string, string>, folders: ReadonlySet<string>): Hand {
  const kustomizations = [...texts].flatMap(([path, text]) =>
    isKustomization(path) ? [{ path, bytes: Buffer.from(text) }] : [],
  )
  const missing = generatorFilesOf(kustomizations).filter((path) => !texts.has(path))
  const bytes = new Map(missing.map((path) => [path, NOT_AT_HAND]))
  return { texts, bytes, before: { folders, read: new Map() }, builds: new Map() }
}

/** The objects of a Kustomization's directory, with what the Kustomization itself adds to its kustomization.yaml. */
function builtBy(object: FluxObject, hand: Hand): BuiltByFlux {
  const { path, targetNamespace, namePrefix, nameSuffix, patches, components, images } = specOf(object)
  const asked = JSON.stringify([path, targetNamespace, namePrefix, nameSuffix, patches, components, images])
  const built = hand.builds.get(asked) ?? builtNow(object, hand)
  hand.builds.set(asked, built)
  return built
}

function builtNow(object: FluxObject, { texts: files, bytes, before }: Hand): BuiltByFlux {
  const spec = specOf(object)
  const directory = directoryOf(object, before.folders) ?? ''
  const texts = new Map(files)
  const file = NAMES.map((name) => `${directory}/${name}`).find((name) => files.has(name))
  const written = file === undefined ? undefined : documentsIn(files.get(file) ?? '')?.[0]
  const base = isFields(written) ? written : { resources: resourcesBelow(directory, files) }
  const list = (name: string) => [base[name], spec[name]].flatMap((more) => (Array.isArray(more) ? more : []))
  const joined = {
    ...base,
    ...(wordOf(spec.targetNamespace) === undefined ? {} : { namespace: spec.targetNamespace }),
    ...(wordOf(spec.namePrefix) === undefined ? {} : { namePrefix: spec.namePrefix }),
    ...(wordOf(spec.nameSuffix) === undefined ? {} : { nameSuffix: spec.nameSuffix }),
    ...Object.fromEntries(['patches', 'components', 'images'].map((name) => [name, list(name)])),
  }
  texts.set(file ?? `${directory}/kustomization.yaml`, JSON.stringify(joined, null, 1))
  const kustomizer = createKustomizer({ texts, bytes, before })
  const documents = kustomizer.build(directory)
  const { findings } = kustomizer
  const say = ({ file: where, message }: (typeof findings)[number]) => `${where}: ${message}`
  return {
    used: kustomizer.used,
    written: documents.flatMap(({ file: from, read }) =>
      objectsOf(read.value).map(({ value }): Written => ({ file: from, object: value })),
    ),
    // A missing remote base does not affect the rest.
    without: findings.filter(({ code }) => code === 'kustomize-remote').map(say),
    failed: findings.filter(({ code }) => code !== 'kustomize-remote').map(say),
  }
}

const NOT_AT_HAND = new Uint8Array([0])

/** Returns a directory's files for Flux without a kustomization.yaml: manifests, and subdirectories with one. */
function resourcesBelow(directory: string, files: ReadonlyMap<string, string>): readonly string[] {
  const below = [...files.keys()].filter((path) => path.startsWith(`${directory}/`))
  const own = below.filter(isKustomization).map((path) => path.slice(0, path.lastIndexOf('/')))
  const tops = own.filter((one) => !own.some((other) => one.startsWith(`${other}/`)))
  const plain = below.filter((path) => /\.ya?ml$/i.test(path) && !tops.some((top) => path.startsWith(`${top}/`)))
  return [...plain, ...tops].map((path) => path.slice(directory.length + 1))
}

/** The directory of the files that a Kustomization applies. Another repository's is not among them. */
function directoryOf(object: FluxObject, folders: ReadonlySet<string>): string | undefined {
  const { apiVersion, kind } = object
  if (kind !== 'Kustomization' || typeof apiVersion !== 'string') return undefined
  if (!apiVersion.startsWith('kustomize.toolkit.fluxcd.io/')) return undefined
  const { path, sourceRef } = specOf(object)
  const directory = wordOf(path)?.replace(/^(?:\.?\/)+|\/+$/g, '') ?? ''
  if (directory === '' || directory === '.' || !isFields(sourceRef)) return undefined
  if (!['GitRepository', 'OCIRepository', 'ExternalArtifact'].includes(String(sourceRef.kind))) return undefined
  return folders.has(directory) ? directory : undefined
}

/** Reports whether a source has a fixed commit, and so becomes an add-on. */
function isPinned(object: FluxObject, all: readonly Written[]): boolean {
  const { sourceRef } = specOf(object)
  if (!isFields(sourceRef)) return false
  const source = all.find(({ object: one }) => one.kind === sourceRef.kind && nameOf(one) === sourceRef.name)
  const { ref } = source === undefined ? { ref: undefined } : specOf(source.object)
  return isFields(ref) && wordOf(ref.commit) !== undefined
}

/** Two outermost Kustomizations of one name are those of two clusters. */
function twice(roots: readonly Written[]): string | undefined {
  const byName = new Map<string, string[]>()
  for (const { file, object } of roots) byName.set(whatOf(object), [...(byName.get(whatOf(object)) ?? []), file])
  const [name, places] = [...byName].find(([, found]) => found.length > 1) ?? []
  if (places === undefined) return undefined
  const directories = places.map((file) => file.slice(0, Math.max(0, file.lastIndexOf('/'))))
  return `it holds several clusters: ${name} is in ${directories.join(' and in ')}; name the directory of one with --under`
}

/** Returns a Kustomization's variables, as far as the files have their ConfigMaps. Secrets are not read. */
function variablesOf(object: FluxObject, all: readonly Written[]): FluxVariables {
  const { postBuild } = specOf(object)
  const known = new Map<string, string>()
  const elsewhere: string[] = []
  const add = (words: unknown) => {
    if (isFields(words)) for (const [name, value] of Object.entries(words)) known.set(name, String(value))
  }
  const { substitute, substituteFrom } = isFields(postBuild) ? postBuild : {}
  for (const from of Array.isArray(substituteFrom) ? substituteFrom.filter(isFields) : []) {
    const map = all.find(
      ({ object: one }) => from.kind === 'ConfigMap' && one.kind === 'ConfigMap' && nameOf(one) === from.name,
    )
    if (map === undefined) elsewhere.push(`${String(from.kind)} ${String(from.name)}`)
    else add(map.object.data)
  }
  add(substitute)
  return { known, elsewhere }
}

function specOf({ spec }: FluxObject): Readonly<Record<string, unknown>> {
  return isFields(spec) ? spec : {}
}

function nameOf({ metadata }: FluxObject): string {
  return isFields(metadata) ? (wordOf(metadata.name) ?? '') : ''
}

/** `HelmRelease web/podinfo` */
export function whatOf(object: FluxObject): string {
  const namespace = isFields(object.metadata) ? wordOf(object.metadata.namespace) : undefined
  return `${String(object.kind)} ${namespace === undefined ? '' : `${namespace}/`}${nameOf(object)}`
}
