import { LIMITS } from '../../../lib/limits.ts'
import { isFields } from '../../manifest.ts'
import { ADDON, NO_CLUSTER } from '../addon-draft.ts'
import { documentsIn } from '../documents.ts'
import type { Fields } from '../reading.ts'
import { wordOf } from './attributes.ts'
import type { Instance, ResourceReader } from './resource.ts'

/** Manifests of the kubernetes provider, and of the two providers that are called kubectl. */
export const kubernetes: ResourceReader = {
  provider: /(?:^|\/)(?:(?:hashicorp|opentofu)\/kubernetes|(?:gavinbunker|alekc)\/kubectl)["\]]*$/,
  read(instance) {
    const { type, name, sensitive, options } = instance
    if (type !== 'kubernetes_manifest' && type !== 'kubectl_manifest')
      return { why: 'croft reads kubernetes_manifest and kubectl_manifest alone; write an Addon with objects' }
    if (options.cluster === undefined) return { why: NO_CLUSTER }
    // The kubectl providers mark all texts as sensitive; kubernetes_manifest marks only those that the author chose.
    if (type === 'kubernetes_manifest' && (sensitive.includes('manifest') || sensitive.includes('object')))
      return { why: 'the state calls a part of it sensitive; write an Addon with objects and secrets' }
    const object = objectIn(instance)
    const metadata = object !== undefined && isFields(object.metadata) ? object.metadata : {}
    const [kind, own] = [wordOf(object?.kind), wordOf(metadata.name)]
    if (object === undefined || kind === undefined || own === undefined)
      return { why: 'the state holds no whole manifest of one object' }
    if (kind === 'Secret')
      return { why: 'it is a Secret; write it into secrets of an Addon, each value as a reference' }
    const namespace = wordOf(metadata.namespace)
    return {
      kind: ADDON,
      manifest: {
        apiVersion: ADDON.apiVersion,
        kind: ADDON.kind,
        metadata: { name: name('Addon', [kind, own]) },
        spec: {
          cluster: options.cluster,
          ...(namespace === undefined ? {} : { namespace }),
          objects: [object],
          // The object exists already: adopt it instead of creating it.
          adopt: true,
        },
      },
    }
  },
}

/** Returns the object as its author wrote it, without the API server's defaults. */
function objectIn({ type, attributes, sensitive }: Instance): Fields | undefined {
  if (type === 'kubernetes_manifest') {
    const { manifest } = attributes
    // A state keeps the type of a value of any shape beside it.
    const value = isFields(manifest) && Array.isArray(manifest.type) ? manifest.value : manifest
    return isFields(value) && isShallow(value, 0) ? withoutNulls(value) : undefined
  }
  const hidden = Array.isArray(attributes.sensitive_fields) && attributes.sensitive_fields.length > 0
  if (hidden || sensitive.includes('sensitive_fields')) return undefined
  const documents = documentsIn(wordOf(attributes.yaml_body) ?? '')?.filter(isFields) ?? []
  const [one] = documents
  return documents.length === 1 && one !== undefined && isShallow(one, 0) ? withoutNulls(one) : undefined
}

/** Reports whether a value is no deeper than Kubernetes objects can be. A state is untrusted input. */
function isShallow(value: unknown, depth: number): boolean {
  if (value === null || typeof value !== 'object') return true
  return depth < LIMITS.yamlDepth && Object.values(value).every((inner) => isShallow(inner, depth + 1))
}

function withoutNulls(value: Readonly<Fields>): Fields {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, cleaned(inner)]])),
  )
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned)
  return isFields(value) ? withoutNulls(value) : value
}
