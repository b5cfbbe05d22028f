import { findKind } from '../../kinds/registry.ts'
import { LIMITS } from '../../lib/limits.ts'
import { isFields, objectsOf } from '../manifest.ts'
import { yamlLibrary } from '../yaml-library.ts'
import type { Draft, DraftManifest } from './draft.ts'

/** What was taken from somebody else's files, and what was not, by kind. */
export interface ForeignReading {
  readonly drafts: readonly Draft[]
  /** `Deployment` → how many. */
  readonly leftOut: ReadonlyMap<string, number>
  /** Files that could not be read at all. */
  readonly unreadable: readonly string[]
}

/** Annotations that a cluster, or a tool that writes to it, keeps for itself. */
const MACHINE_ANNOTATION =
  /^(?:kubectl\.kubernetes\.io\/|crossplane\.io\/external-create-|crossplane\.io\/composition-resource-name$|upjet\.crossplane\.io\/|kustomize\.toolkit\.fluxcd\.io\/(?!prune|ssa)|argocd\.argoproj\.io\/tracking-id$|meta\.helm\.sh\/)/
const MACHINE_LABEL =
  /^(?:kustomize\.toolkit\.fluxcd\.io\/|helm\.toolkit\.fluxcd\.io\/|app\.kubernetes\.io\/managed-by$)/

/** Objects as a cluster gives them (`kubectl get -o yaml`), as a person would have written them. */
export function readClusterExport(files: readonly { readonly path: string; readonly text: string }[]): ForeignReading {
  const drafts = new Map<string, Draft>()
  const leftOut = new Map<string, number>()
  const unreadable: string[] = []
  for (const { path, text } of files) {
    const documents = documentsIn(text)
    if (documents === undefined) unreadable.push(path)
    for (const value of documents ?? []) {
      for (const object of objectsOf(value)) {
        const manifest = cleaned(object.value)
        if (manifest === undefined) {
          const kind = typeof object.value.kind === 'string' ? object.value.kind : 'without a kind'
          leftOut.set(kind, (leftOut.get(kind) ?? 0) + 1)
          continue
        }
        const { kind, metadata } = manifest
        // The same object in two exports is one object.
        drafts.set(`${kind}/${metadata.namespace ?? ''}/${metadata.name}`, { manifest, comments: [] })
      }
    }
  }
  return { drafts: [...drafts.values()], leftOut, unreadable }
}

/** Straight through the library: an export has many times the size of what a person wrote. JSON is YAML too. */
function documentsIn(text: string): readonly unknown[] | undefined {
  try {
    const documents = yamlLibrary().parseAllDocuments(text, { uniqueKeys: true, logLevel: 'silent' })
    if (!Array.isArray(documents)) return []
    if (documents.some(({ errors }) => errors.length > 0)) return undefined
    return documents.map((document) => document.toJS({ maxAliasCount: LIMITS.yamlAliases }) as unknown)
  } catch {
    return undefined
  }
}

/** Without what the cluster added. Undefined for what croft does not keep, and for what has no name. */
function cleaned(object: Readonly<Record<string, unknown>>): DraftManifest | undefined {
  const { apiVersion, kind, metadata, spec } = object
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isFields(metadata)) return undefined
  if (findKind(apiVersion, kind) === undefined || typeof metadata.name !== 'string') return undefined
  const labels = texts(metadata.labels, MACHINE_LABEL)
  const annotations = texts(metadata.annotations, MACHINE_ANNOTATION)
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      ...(typeof metadata.namespace === 'string' ? { namespace: metadata.namespace } : {}),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: writtenSpec(spec),
  }
}

/** The API server fills these in by itself; nobody wrote them. */
function writtenSpec(spec: unknown): unknown {
  if (!isFields(spec)) return spec ?? {}
  return Object.fromEntries(
    Object.entries(spec).filter(([name, value]) => {
      if (name === 'managementPolicies') return !(Array.isArray(value) && value.length === 1 && value[0] === '*')
      return !(name === 'initProvider' && isFields(value) && Object.keys(value).length === 0)
    }),
  )
}

function texts(value: unknown, without: RegExp): Readonly<Record<string, string>> | undefined {
  if (!isFields(value)) return undefined
  const kept = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !without.test(entry[0]),
  )
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
