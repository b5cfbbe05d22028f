import { GRANTABLE } from '../controller/sources/grant-schema.ts'
import type { Kind } from '../kinds/kind.ts'
import { findKind, KINDS } from '../kinds/registry.ts'
import { type Asked, type KubernetesClient, segment } from '../kubernetes/client.ts'
import { at, type Foreign, nameOf, recordsOf } from '../kubernetes/objects.ts'

/** A kind of croft that the cluster serves. */
export interface ServedKind {
  readonly kind: Kind
  readonly apiVersion: string
  readonly plural: string
  readonly namespaced: boolean
}

/** Returns croft's kinds that the cluster serves now, in every version that croft reads. */
export async function servedKinds(
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<Asked<readonly ServedKind[]>> {
  const groups = await client.get('/apis', signal)
  if (groups.is !== 'answer') return groups
  const served: ServedKind[] = []
  for (const apiVersion of groupVersions(groups.value)) {
    const listed = await client.get(`/apis/${apiVersion.split('/').map(segment).join('/')}`, signal)
    if (listed.is !== 'answer') return listed
    for (const resource of recordsOf(listed.value.resources)) {
      const [plural, name] = [nameOf(resource.name), nameOf(resource.kind)]
      const kind =
        plural === undefined || name === undefined || plural.includes('/') ? undefined : findKind(apiVersion, name)
      if (kind === undefined || plural === undefined) continue
      served.push({ kind, apiVersion, plural, namespaced: resource.namespaced === true })
    }
  }
  return { is: 'answer', value: served }
}

/** Returns each group's version: the server's preferred one if croft reads it, else the first that it reads. */
function groupVersions(list: Foreign): readonly string[] {
  return recordsOf(list.groups).flatMap((group) => {
    const preferred = nameOf(at(group, 'preferredVersion', 'groupVersion'))
    const all = [preferred, ...recordsOf(group.versions).map((version) => nameOf(version.groupVersion))]
    const read = all.find((one) => one !== undefined && KINDS.some((kind) => kind.accepts(one)))
    return read === undefined ? [] : [read]
  })
}

/**
 * Returns why objects of this kind are being deleted together: their definition or their namespace is, so their
 * machines must stay. Undefined: they were deleted one by one. An unclear answer counts as the former.
 */
export async function takenAlong(
  client: KubernetesClient,
  { apiVersion, plural, namespaced }: Omit<ServedKind, 'kind'>,
  namespace: string,
): Promise<string | undefined> {
  const listed = await client.get(`/apis/${apiVersion.split('/').map(segment).join('/')}`)
  if (listed.is === 'silence' || (listed.is === 'error' && listed.status !== 404))
    return 'the server does not say whether its definition stays'
  const resources = listed.is === 'answer' ? recordsOf(listed.value.resources) : []
  const verbs = resources.find(({ name }) => name === plural)?.verbs
  // The server no longer offers to create objects of a kind that is being deleted.
  if (!Array.isArray(verbs) || !verbs.includes('create')) return `the definition of ${plural} is being deleted`
  if (!namespaced) return undefined
  const space = await client.get(`/api/v1/namespaces/${segment(namespace)}`)
  if (space.is !== 'answer') return `the server does not say whether the namespace ${namespace} stays`
  const going = at(space.value, 'metadata', 'deletionTimestamp') !== undefined
  return going ? `the namespace ${namespace} is being deleted` : undefined
}

/** Returns the path of a kind's collection: for a namespaced one that of this namespace. */
export function collectionOf({ apiVersion, plural, namespaced }: ServedKind, namespace: string): string {
  return `/apis/${apiVersion}/${namespaced ? `namespaces/${segment(namespace)}/` : ''}${plural}`
}

/**
 * Returns the collections of a kind: of the operator's own namespace, and of those with a grant for grantable kinds.
 * Pure.
 */
export function collectionsOf(served: ServedKind, home: string, granted: Iterable<string>): readonly string[] {
  const more = served.namespaced && GRANTABLE.includes(served.kind.kind) ? granted : []
  return [home, ...more].map((namespace) => collectionOf(served, namespace))
}
