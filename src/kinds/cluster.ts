import { checkCluster } from './cluster/check.ts'
import { existingConnection } from './cluster/existing.ts'
import { expandCluster } from './cluster/expand.ts'
import { type ClusterFields, clusterSchema } from './cluster/schema.ts'
import { annotatedPolicy } from './fields/annotations.ts'
import type { Kind } from './kind.ts'

/** A K3s cluster with the machines made for it, or an existing cluster as a place for add-ons. */
export const cluster: Kind<ClusterFields> = {
  kind: 'Cluster',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'clusters',
  shortNames: ['cl'],
  summary:
    'A K3s cluster: its release, its servers and agents, and how it is kept. Or an existing cluster for add-ons.',
  schema: clusterSchema,
  check: checkCluster,
  policy: (spec, manifest) => {
    const policy = annotatedPolicy(manifest)
    return { ...policy, protect: policy.protect || spec.protect === true, deletion: spec.deletionPolicy }
  },
  expand: (declaration, lookup) =>
    declaration.spec.type === 'existing'
      ? { role: 'connection', connection: existingConnection(declaration) }
      : expandCluster(declaration, lookup),
}
