import { segment } from '../../kubernetes/client.ts'
import type { KubeObject } from '../../model/kube-object.ts'

/** `/apis/apps/v1/namespaces/x/deployments/y`. Every part is escaped. */
export function objectPath({ apiVersion, metadata }: KubeObject, plural: string): string {
  const { name, namespace } = metadata
  return `${collectionPath(apiVersion, plural, namespace)}/${segment(name)}`
}

/** All objects of a kind, in one namespace or in all. */
export function collectionPath(apiVersion: string, plural: string, namespace?: string): string {
  const space = namespace === undefined ? '' : `/namespaces/${segment(namespace)}`
  return `${groupPath(apiVersion)}${space}/${segment(plural)}`
}

/** What a version of a group serves. */
export function groupPath(apiVersion: string): string {
  return apiVersion.includes('/')
    ? `/apis/${apiVersion.split('/').map(segment).join('/')}`
    : `/api/${segment(apiVersion)}`
}
