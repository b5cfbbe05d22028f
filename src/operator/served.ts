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

/** Which of croft's kinds the cluster serves now, in every version that croft reads. */
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

/** Of each group the version that the server prefers, where croft reads it; else the first that it reads. */
function groupVersions(list: Foreign): readonly string[] {
  return recordsOf(list.groups).flatMap((group) => {
    const preferred = nameOf(at(group, 'preferredVersion', 'groupVersion'))
    const all = [preferred, ...recordsOf(group.versions).map((version) => nameOf(version.groupVersion))]
    const read = all.find((one) => one !== undefined && KINDS.some((kind) => kind.accepts(one)))
    return read === undefined ? [] : [read]
  })
}

/** Namespaced kinds are read in the operator's namespace alone: what stands elsewhere is not its business. */
export function collectionOf({ apiVersion, plural, namespaced }: ServedKind, home: string): string {
  return `/apis/${apiVersion}/${namespaced ? `namespaces/${segment(home)}/` : ''}${plural}`
}
