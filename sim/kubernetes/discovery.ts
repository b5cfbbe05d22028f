import { type ApiResource, resources } from './catalogue.ts'
import type { Store } from './store.ts'

const SUB_KINDS: Readonly<Record<string, readonly [kind: string, group?: string, version?: string]>> = {
  'nodes/proxy': ['NodeProxyOptions'],
  'pods/attach': ['PodAttachOptions'],
  'pods/binding': ['Binding'],
  'pods/eviction': ['Eviction', 'policy', 'v1'],
  'pods/exec': ['PodExecOptions'],
  'pods/portforward': ['PodPortForwardOptions'],
  'pods/proxy': ['PodProxyOptions'],
  'services/proxy': ['ServiceProxyOptions'],
  'serviceaccounts/token': ['TokenRequest', 'authentication.k8s.io', 'v1'],
}

const SUB_VERBS: Readonly<Record<string, readonly string[]>> = {
  finalize: ['update'],
  proxy: ['create', 'delete', 'get', 'patch', 'update'],
  attach: ['create', 'get'],
  binding: ['create'],
  eviction: ['create'],
  exec: ['create', 'get'],
  log: ['get'],
  portforward: ['create', 'get'],
  token: ['create'],
}

function subKind(resource: ApiResource, sub: string): readonly [kind: string, group?: string, version?: string] {
  if (sub === 'scale') return ['Scale', 'autoscaling', 'v1']
  return SUB_KINDS[`${resource.plural}/${sub}`] ?? [resource.kind]
}

/** `/api/v1`, `/apis/apps/v1`. Undefined: nothing is served there. */
export function resourceList(store: Store, group: string, version: string): Record<string, unknown> | undefined {
  const found = resources(store).filter((one) => one.group === group && one.version === version)
  if (found.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: found.flatMap((one) => [
      {
        name: one.plural,
        singularName: one.singular,
        namespaced: one.namespaced,
        kind: one.kind,
        verbs: one.verbs,
        ...(one.shortNames.length === 0 ? {} : { shortNames: one.shortNames }),
        ...(one.categories.length === 0 ? {} : { categories: one.categories }),
      },
      ...one.subresources.map((sub) => {
        const [kind, subGroup, subVersion] = subKind(one, sub)
        return {
          name: `${one.plural}/${sub}`,
          singularName: '',
          namespaced: one.namespaced,
          ...(subGroup === undefined ? {} : { group: subGroup, version: subVersion }),
          kind,
          verbs: SUB_VERBS[sub] ?? ['get', 'patch', 'update'],
        }
      }),
    ]),
  }
}

/** Groups in the order in which they are served, each with its versions, the preferred one first. */
function groups(store: Store): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const { group, version } of resources(store)) {
    const versions = found.get(group) ?? []
    if (!versions.includes(version)) versions.push(version)
    found.set(group, versions)
  }
  return found
}

export function groupList(store: Store): Record<string, unknown> {
  const found = [...groups(store)].filter(([name]) => name !== '').map(([name, versions]) => groupOf(name, versions))
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...found, groupOf('metrics.k8s.io', ['v1beta1'])] }
}

export function oneGroup(store: Store, name: string): Record<string, unknown> | undefined {
  const versions = groups(store).get(name)
  return versions === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(name, versions) }
}

function groupOf(name: string, versions: readonly string[]): Record<string, unknown> {
  const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: all, preferredVersion: all[0] }
}

/** The newer form, in which one answer holds everything. */
export function aggregated(store: Store, core: boolean): Record<string, unknown> {
  const wanted = [...groups(store)].filter(([name]) => (name === '') === core)
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: wanted.map(([name, versions]) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => ({
        version,
        resources: resources(store)
          .filter((one) => one.group === name && one.version === version)
          .map((one) => ({
            resource: one.plural,
            responseKind: { group: '', version: '', kind: one.kind },
            scope: one.namespaced ? 'Namespaced' : 'Cluster',
            singularResource: one.singular,
            verbs: one.verbs,
            ...(one.shortNames.length === 0 ? {} : { shortNames: one.shortNames }),
            ...(one.categories.length === 0 ? {} : { categories: one.categories }),
            ...(one.subresources.length === 0
              ? {}
              : {
                  subresources: one.subresources.map((sub) => {
                    const [kind, group = '', subVersion = ''] = subKind(one, sub)
                    return {
                      subresource: sub,
                      responseKind: { group, version: subVersion, kind },
                      verbs: SUB_VERBS[sub] ?? ['get', 'patch', 'update'],
                    }
                  }),
                }),
          })),
        freshness: 'Current',
      })),
    })),
  }
}
