import { leftAlone } from '../files/ignore-rules.ts'
import { isFields, objectsOf } from '../manifest.ts'
import { readFullYaml } from '../yaml/full-yaml.ts'
import { templateNote } from '../yaml/template-text.ts'
import { ADDON, NO_CLUSTER } from './addon-draft.ts'
import { documentsOf } from './documents.ts'
import type { Draft, DraftManifest } from './draft.ts'
import { fitToKind } from './fit.ts'
import {
  createNames,
  type Fields,
  type ForeignFile,
  type ForeignReading,
  type NotCarried,
  type ReadOptions,
} from './reading.ts'

/** An object of a repository that an agent in the cluster follows. */
export interface AgentObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string | undefined
  readonly spec: Fields
  /** For ConfigMaps. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** The result of one object: add-ons, nothing because other objects read it, or a reason. */
export type FromAgent =
  | {
      readonly addons: readonly {
        readonly name: string
        readonly manifest: (name: string, cluster: string) => DraftManifest | { readonly why: string }
      }[]
      readonly without?: readonly string[]
    }
  | { readonly read: true }
  | { readonly why: string }

export function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

type AgentJudge = (object: AgentObject, all: readonly AgentObject[]) => FromAgent | undefined

/** Reads all files; `judge` converts an object of the agent, or returns undefined for a foreign one. */
export function readAgentFiles(files: readonly ForeignFile[], options: ReadOptions, judge: AgentJudge): ForeignReading {
  const { objects, notCarried } = agentObjectsIn(files)
  const made = draftAddons(objects, objects, options, judge)
  return { ...made, notCarried: [...notCarried, ...made.notCarried] }
}

/** Returns the objects of the files. Templates are skipped and named. */
export function agentObjectsIn(files: readonly ForeignFile[]): {
  readonly objects: readonly (AgentObject & { readonly file: string })[]
  readonly notCarried: readonly NotCarried[]
} {
  const notCarried: NotCarried[] = []
  const objects: (AgentObject & { readonly file: string })[] = []
  const alone = leftAlone(
    files.map(({ path }) => path),
    undefined,
  )
  for (const file of files) {
    const { path, text } = file
    const documents = documentsOf(file)
    if (documents === undefined)
      notCarried.push({ what: path, why: alone(path) ?? templateIn(text) ?? 'it cannot be read as YAML or JSON' })
    for (const value of documents ?? [])
      for (const { value: object } of objectsOf(value)) {
        const one = agentObject(object)
        if (one !== undefined) objects.push({ ...one, file: path })
      }
  }
  return { objects, notCarried }
}

function templateIn(text: string): string | undefined {
  return templateNote(text, readFullYaml(text).findings)
}

export function agentObject(object: Readonly<Record<string, unknown>>): AgentObject | undefined {
  const { apiVersion, kind, metadata, spec, data } = object
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isFields(metadata)) return undefined
  const name = wordOf(metadata.name)
  if (name === undefined) return undefined
  return {
    apiVersion,
    kind,
    name,
    namespace: wordOf(metadata.namespace),
    spec: isFields(spec) ? { ...spec } : {},
    ...(isFields(data) ? { data } : {}),
  }
}

/** The add-ons that these objects become, and why others become none. `all`: what they may refer to. */
export function draftAddons(
  objects: readonly AgentObject[],
  all: readonly AgentObject[],
  options: ReadOptions,
  judge: AgentJudge,
): ForeignReading {
  const notCarried: NotCarried[] = []
  const drafts: Draft[] = []
  const freeName = createNames()
  for (const object of objects) {
    const made = judge(object, all)
    const what = `${object.kind} ${object.namespace === undefined ? '' : `${object.namespace}/`}${object.name}`
    if (made === undefined || 'read' in made) continue
    if ('why' in made) {
      notCarried.push({ what, why: made.why })
      continue
    }
    for (const why of made.without ?? []) notCarried.push({ what, why })
    for (const one of made.addons) {
      if (options.cluster === undefined) {
        notCarried.push({ what, why: NO_CLUSTER })
        continue
      }
      const manifest = one.manifest(freeName('Addon', [one.name]), options.cluster)
      if ('why' in manifest) {
        notCarried.push({ what, why: manifest.why })
        continue
      }
      const { draft, problems } = fitToKind({ manifest, comments: [`from ${what}`] }, ADDON)
      const [problem] = problems
      if (problem !== undefined) notCarried.push({ what, why: problem.message })
      else {
        for (const why of draft.comments.slice(1)) notCarried.push({ what, why })
        drafts.push(draft)
      }
    }
  }
  return { drafts, notCarried }
}

const COMMIT = /^[0-9a-f]{40}$/

export function isCommit(revision: string | undefined): boolean {
  return revision !== undefined && COMMIT.test(revision)
}

/** A directory of the repository that croft reads itself: it follows the branch as the agent did. */
export function pathAddon(name: string, cluster: string, path: string, namespace: string | undefined): DraftManifest {
  return {
    apiVersion: ADDON.apiVersion,
    kind: ADDON.kind,
    metadata: { name },
    spec: { cluster, ...(namespace === undefined ? {} : { namespace }), path, adopt: true },
  }
}

/** A directory of a Git repository: pinned to a commit it is an add-on; of a branch or tag it is handed back. */
export function gitAddon(
  name: string,
  cluster: string,
  of: {
    readonly url: string
    readonly revision: string | undefined
    readonly path: string
    readonly namespace: string | undefined
    /** The directory is a chart, with these values. */
    readonly values?: Fields
  },
): DraftManifest | { readonly why: string } {
  const path = of.path.replace(/^\.?\/+|\/+$/g, '')
  if (!of.url.startsWith('https://'))
    return { why: `croft reads repositories over https, and this one is ${of.url.split(':')[0] ?? ''}` }
  if (!isCommit(of.revision))
    return {
      why: `${of.revision ?? 'its default branch'} is not a commit; pin one (git rev-parse), take the directory over with Addon.path, or leave it to its agent`,
    }
  if (path === '') return { why: 'it is the whole repository; name a directory in it' }
  const git = { url: of.url, commit: of.revision, path }
  const values = of.values === undefined || Object.keys(of.values).length === 0 ? {} : { values: of.values }
  return {
    apiVersion: ADDON.apiVersion,
    kind: ADDON.kind,
    metadata: { name },
    spec: {
      cluster,
      ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
      ...(of.values === undefined ? { git } : { chart: { git, ...values } }),
      adopt: true,
    },
  }
}
