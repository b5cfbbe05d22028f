import type { Kind } from '../kind.ts'
import { annotatedPolicy, checkAnnotations } from './annotations.ts'

const API_VERSION = 'croft.dev/v1alpha1'

/** A kind of croft's own group: its annotations are checked before anything else, and are its policy unless it says more. */
export function croftKind<Spec>({
  check,
  ...kind
}: Omit<Kind<Spec>, 'apiVersion' | 'accepts' | 'policy'> & Partial<Pick<Kind<Spec>, 'policy'>>): Kind<Spec> {
  return {
    apiVersion: API_VERSION,
    accepts: (apiVersion) => apiVersion === API_VERSION,
    policy: (_spec, manifest) => annotatedPolicy(manifest),
    check: (spec, manifest) => [...checkAnnotations(manifest), ...(check?.(spec, manifest) ?? [])],
    ...kind,
  }
}
