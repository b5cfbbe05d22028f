import { type Asked, type KubernetesClient, segment } from '../../kubernetes/client.ts'
import { recordsOf, textOf } from '../../kubernetes/objects.ts'
import { builtInKind, type KubeKind, type KubeObject, objectList } from '../../model/kube-object.ts'
import type { Refusal } from '../../model/step.ts'
import { type KubernetesWay, ObservationFailed } from '../port.ts'

/** A kind as manifests name it. */
export type TypeMeta = Pick<KubeObject, 'apiVersion' | 'kind'>

/** One cluster's API, shared by reads and writes of objects: its client, and the names of kinds. */
export interface ClusterApi {
  /** Returns undefined before the cluster exists. Throws ObservationFailed if it does not answer. */
  open(signal: AbortSignal): Promise<KubernetesClient | undefined>
  /** Returns the answer, or undefined for a missing object. Throws ObservationFailed for everything else. */
  answered<T>(asked: Asked<T>): T | undefined
  /** Returns the cluster's names for a kind; undefined if it does not know it (yet). */
  kindOf(client: KubernetesClient, sort: TypeMeta, signal: AbortSignal): Promise<KubeKind | undefined>
  /** The kind is no longer served: its definition was deleted. */
  forget(sort: TypeMeta): void
  lost(): void
}

export function clusterApi(way: KubernetesWay | undefined): ClusterApi {
  const kinds = new Map<string, KubeKind>()
  const api: ClusterApi = {
    async open(signal) {
      const found = (await way?.find(signal)) ?? { is: 'unformed' as const }
      if (found.is === 'away') throw new ObservationFailed(unreachable(found.message))
      return found.is === 'open' ? found.client : undefined
    },
    answered(asked) {
      if (asked.is === 'answer') return asked.value
      if (asked.is === 'error') {
        if (asked.status === 404) return undefined
        throw new ObservationFailed(asked.refusal)
      }
      way?.lost()
      throw new ObservationFailed(unreachable(asked.message))
    },
    async kindOf(client, sort, signal) {
      const known = builtInKind(sort) ?? kinds.get(objectList(sort))
      if (known !== undefined) return known
      const { apiVersion } = sort
      const group = api.answered(await client.get(groupPath(apiVersion), signal))
      for (const resource of recordsOf(group?.resources)) {
        const [plural, kind] = [textOf(resource.name), textOf(resource.kind)]
        if (plural === undefined || kind === undefined || plural.includes('/')) continue
        kinds.set(objectList({ apiVersion, kind }), { plural, namespaced: resource.namespaced === true })
      }
      return kinds.get(objectList(sort))
    },
    forget: (sort) => {
      kinds.delete(objectList(sort))
    },
    lost: () => way?.lost(),
  }
  return api
}

function unreachable(message: string): Refusal {
  return { reason: 'Unreachable', meaning: 'backoff', message, connectionWide: true }
}

/** Returns `/apis/apps/v1/namespaces/x/deployments/y` with every part escaped. */
export function objectPath({ apiVersion, metadata }: KubeObject, plural: string): string {
  const { name, namespace } = metadata
  return `${collectionPath(apiVersion, plural, namespace)}/${segment(name)}`
}

/** Returns the path of all objects of a kind, in one namespace or in all. */
export function collectionPath(apiVersion: string, plural: string, namespace?: string): string {
  const space = namespace === undefined ? '' : `/namespaces/${segment(namespace)}`
  return `${groupPath(apiVersion)}${space}/${segment(plural)}`
}

/** Returns the path of a group's version. */
export function groupPath(apiVersion: string): string {
  return apiVersion.includes('/')
    ? `/apis/${apiVersion.split('/').map(segment).join('/')}`
    : `/api/${segment(apiVersion)}`
}
