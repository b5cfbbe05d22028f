import { type KubernetesClient, segment } from '../../kubernetes/client.ts'
import { createInformer, type Informer, type InformerOptions } from '../../kubernetes/informer.ts'
import { type Foreign, nameOf, recordsOf } from '../../kubernetes/objects.ts'
import { READERS } from '../../source/compose/readers.ts'

/** A kind as the cluster serves it. */
export interface KindPlace {
  readonly apiVersion: string
  readonly plural: string
  readonly namespaced: boolean
}

/** Returns how the cluster serves a kind. Undefined: not served. */
export async function placeOfKind(
  client: KubernetesClient,
  apiVersion: string,
  kind: string,
): Promise<KindPlace | undefined | { readonly trouble: string }> {
  const top = apiVersion.includes('/') ? 'apis' : 'api'
  const listed = await client.get(`/${top}/${apiVersion.split('/').map(segment).join('/')}`)
  if (listed.is === 'error' && listed.status === 404) return undefined
  if (listed.is !== 'answer') return { trouble: listed.is === 'error' ? listed.refusal.message : listed.message }
  for (const resource of recordsOf(listed.value.resources)) {
    const plural = nameOf(resource.name)
    if (plural !== undefined && !plural.includes('/') && resource.kind === kind)
      return { apiVersion, plural, namespaced: resource.namespaced === true }
  }
  return undefined
}

/** Kinds of definitions that the cluster serves, each in a version that croft reads. */
export async function servedDefinitions(
  client: KubernetesClient,
): Promise<readonly KindPlace[] | { readonly trouble: string }> {
  const groups = await client.get('/apis')
  if (groups.is !== 'answer') return { trouble: groups.is === 'error' ? groups.refusal.message : groups.message }
  const found: KindPlace[] = []
  for (const group of recordsOf(groups.value.groups)) {
    const versions = recordsOf(group.versions).flatMap(({ groupVersion }) => nameOf(groupVersion) ?? [])
    for (const reader of READERS.filter((one) => one.group === group.name))
      for (const kind of reader.kinds)
        for (const version of versions.filter((one) => reader.reads(one, kind))) {
          const place = await placeOfKind(client, version, kind)
          if (place === undefined) continue
          if ('trouble' in place) return place
          found.push(place)
          break
        }
  }
  return found
}

export interface FollowedKinds {
  /** Follows exactly these collections from now on. */
  follow(paths: readonly string[], signal: AbortSignal): void
  objects(path: string): readonly Foreign[]
  synced(path: string): boolean
  trouble(path: string): string | undefined
  note(path: string, object: Foreign): void
}

/** Informers of collections that come and go with definitions. */
export function createFollowedKinds(options: Omit<InformerOptions, 'path' | 'labelSelector'>): FollowedKinds {
  const followed = new Map<string, { readonly informer: Informer; readonly stop: AbortController }>()
  return {
    follow(paths, signal) {
      for (const [path, { stop }] of followed)
        if (!paths.includes(path)) {
          stop.abort()
          followed.delete(path)
        }
      for (const path of paths) {
        if (followed.has(path)) continue
        const stop = new AbortController()
        const informer = createInformer({ ...options, path })
        followed.set(path, { informer, stop })
        void informer.run(AbortSignal.any([signal, stop.signal]))
      }
    },
    objects: (path) => [...(followed.get(path)?.informer.objects().values() ?? [])],
    synced: (path) => followed.get(path)?.informer.synced() === true,
    trouble: (path) => followed.get(path)?.informer.trouble(),
    note: (path, object) => followed.get(path)?.informer.note(object),
  }
}

export function collectionIn({ apiVersion, plural, namespaced }: KindPlace, namespace: string): string {
  return `/apis/${apiVersion}/${namespaced ? `namespaces/${segment(namespace)}/` : ''}${plural}`
}
