import { findKind } from '../../../kinds/registry.ts'
import { isFields, objectsOf } from '../../manifest.ts'
import { documentsIn } from '../documents.ts'
import type { Draft, DraftManifest } from '../draft.ts'
import type { ForeignFormat, NotCarried } from '../reading.ts'

/** Annotations that a cluster, or a tool that writes to it, keeps for itself. */
const MACHINE_ANNOTATION =
  /^(?:kubectl\.kubernetes\.io\/|crossplane\.io\/external-create-|crossplane\.io\/composition-resource-name$|upjet\.crossplane\.io\/|kustomize\.toolkit\.fluxcd\.io\/(?!prune|ssa)|argocd\.argoproj\.io\/tracking-id$|meta\.helm\.sh\/)/
const MACHINE_LABEL =
  /^(?:kustomize\.toolkit\.fluxcd\.io\/|helm\.toolkit\.fluxcd\.io\/|app\.kubernetes\.io\/managed-by$)/

/** Objects as a cluster gives them (`kubectl get -o yaml`), as a person would have written them. */
export const crossplane: ForeignFormat = {
  name: 'crossplane',
  about: 'objects of a cluster with Crossplane: kubectl get environmentvms,providerconfigs -o yaml',
  read(files) {
    const drafts = new Map<string, Draft>()
    const notCarried: NotCarried[] = []
    for (const { path, text } of files) {
      const documents = documentsIn(text)
      if (documents === undefined) notCarried.push({ what: path, why: 'it cannot be read as YAML or JSON' })
      for (const value of documents ?? []) {
        for (const object of objectsOf(value)) {
          const manifest = cleaned(object.value)
          if (manifest === undefined) {
            notCarried.push(leftOut(object.value, path))
            continue
          }
          const { kind, metadata } = manifest
          // Duplicates of two exports count once.
          drafts.set(`${kind}/${metadata.namespace ?? ''}/${metadata.name}`, { manifest, comments: [] })
        }
      }
    }
    return { drafts: [...drafts.values()], notCarried }
  },
}

function leftOut(object: Readonly<Record<string, unknown>>, path: string): NotCarried {
  const kind = typeof object.kind === 'string' ? object.kind : undefined
  const name = isFields(object.metadata) && typeof object.metadata.name === 'string' ? ` ${object.metadata.name}` : ''
  if (kind === undefined)
    return { what: `${name === '' ? 'an object' : `the object${name}`} in ${path}`, why: 'it has no kind' }
  if (kind === 'Secret')
    return {
      what: `Secret${name}`,
      why: 'croft takes no secret out of an export; write it into the repository encrypted with sops',
    }
  if (name === '') return { what: `${kind} in ${path}`, why: 'it has no name' }
  return { what: `${kind}${name}`, why: 'croft has no kind for it' }
}

/** Removes the cluster's additions. Undefined for kinds that croft does not keep, and for objects without a name. */
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

/** Removes fields that the API server sets by default; the author did not write them. */
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
