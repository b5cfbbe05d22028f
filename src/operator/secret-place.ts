import type { SecretReference } from '../model/secret.ts'
import type { SecretPlace } from './cluster-source.ts'

type KubernetesReference = Extract<SecretReference, { readonly secretRef: unknown }>['secretRef']

/**
 * Returns the place of a Secret. An object of a granted namespace gets Secrets only from that namespace; the reference
 * brings along the source that it was judged with. Pure.
 */
export function secretPlace(reference: KubernetesReference, home: string): SecretPlace | { readonly refused: string } {
  const { name, key, namespace, source } = reference
  if (source === undefined) return { name, key, namespace: namespace ?? home }
  if (namespace === undefined || namespace === source) return { name, key, namespace: source }
  return { refused: `the Secret ${name} of the namespace ${namespace} is not for objects of ${source}` }
}
