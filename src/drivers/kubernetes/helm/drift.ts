import { annotationsOf, type Foreign } from '../../../kubernetes/objects.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { wordSet } from '../../../lib/word-list.ts'
import { builtInKind, type KubeObject, objectId, withData } from '../../../model/kube-object.ts'
import type { Change } from '../../../model/resource.ts'
import { fieldChanges } from '../diff.ts'
import { fieldsKeptBy } from '../fields.ts'

/** An object of a release's manifest, and its live state. */
export interface ReleaseObject {
  readonly declared: KubeObject
  readonly live: Foreign | undefined
}

/** Field managers that install charts: `helm`, `terraform-provider-helm_v3`, Flux' `helm-controller`. */
const HELM = /helm/i

/**
 * Returns how the cluster differs from what Helm sent: missing objects, and changed fields that Helm no longer owns. A
 * field that the server only normalised is still Helm's. Pure.
 */
export function releaseDrift(
  objects: readonly ReleaseObject[],
  { serverSide }: { readonly serverSide: boolean },
): readonly Change[] {
  const changes: Change[] = []
  for (const { declared, live } of objects) {
    if (changes.length >= LIMITS.objectChanges) break
    const id = objectId(declared)
    if (live === undefined) {
      changes.push({ path: id, from: 'missing', to: 'there', effect: 'live' })
      continue
    }
    const found = fieldChanges(
      withData(declared),
      live,
      true,
      fieldsKeptBy(live, (name) => HELM.test(name)),
    )
    const blocked = serverSide || builtInKind(declared) !== undefined ? {} : { blocked: unseen(id) }
    changes.push(...found.map((one): Change => ({ ...one, path: `${id} ${one.path}`, effect: 'live', ...blocked })))
  }
  return changes
}

/** For a custom resource Helm 3 compares two manifests and never reads the live object. */
function unseen(id: string): NonNullable<Change['blocked']> {
  return {
    message: `${id} was changed by hand, and Helm does not put back a custom resource whose manifest stays the same`,
    allow: `change it back with kubectl, delete it so that Helm makes it again, or say install: apply`,
  }
}

/** Returns objects whose deletion by Helm deletes everything inside them, without those that Helm must keep. Pure. */
export function holdingObjects(objects: readonly KubeObject[]): readonly string[] {
  return objects
    .filter((one) => HOLDING.has(one.kind) && annotationsOf(one as Foreign).get('helm.sh/resource-policy') !== 'keep')
    .map(objectId)
}

const HOLDING = wordSet(`
  Namespace CustomResourceDefinition PersistentVolumeClaim PersistentVolume CephCluster CephBlockPool
`)
