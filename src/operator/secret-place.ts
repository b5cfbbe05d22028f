import type { SecretReference } from '../model/secret.ts'
import type { SecretPlace } from './cluster-source.ts'

type KubernetesReference = Extract<SecretReference, { readonly secretRef: unknown }>['secretRef']

/**
 * Where a Secret is. What an object of a granted namespace names is in that namespace, whatever else is written; the source that it
 * was judged with came along with the reference. Pure.
 */
export function secretPlace(reference: KubernetesReference, home: string): SecretPlace | { readonly refused: string } {
  const { name, key, namespace, source } = reference
  if (source === undefined) return { name, key, namespace: namespace ?? home }
  if (namespace === undefined || namespace === source) return { name, key, namespace: source }
  return { refused: `the Secret ${name} of the namespace ${namespace} is not for objects of ${source}` }
}
