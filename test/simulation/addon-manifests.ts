/* Add-ons as tests declare them. */

export function addonManifest(name: string, spec: string, objects: readonly object[] = []): string {
  const lines = objects.map((object) => `    - ${JSON.stringify(object)}\n`).join('')
  return `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec:
  cluster: homelab
${spec}
${objects.length === 0 ? '' : `  objects:\n${lines}`}`
}

export type KindOfAgent = readonly [group: string, version: string, kind: string]

/** A definition that accepts every field. `subresources`: its status is written apart from the rest. */
export function definitionOf([group, version, kind]: KindOfAgent, subresources?: { readonly status: object }): object {
  const singular = kind.toLowerCase()
  const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [
        { name: version, served: true, storage: true, ...(subresources === undefined ? {} : { subresources }), schema },
      ],
    },
  }
}

/** The definitions of an agent's kinds: all of it that others need. */
export function agentAddon(name: string, kinds: readonly KindOfAgent[], subresources?: { readonly status: object }) {
  const definitions = kinds.map((kind) => definitionOf(kind, subresources))
  return addonManifest(name, `  namespace: ${name === 'flux' ? 'flux-system' : name}`, definitions)
}

export const ARGO = agentAddon('argocd', [['argoproj.io', 'v1alpha1', 'Application']], { status: {} })
export const FLUX = agentAddon(
  'flux',
  [
    ['source.toolkit.fluxcd.io', 'v1', 'GitRepository'],
    ['source.toolkit.fluxcd.io', 'v1', 'HelmRepository'],
    ['kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization'],
    ['helm.toolkit.fluxcd.io', 'v2', 'HelmRelease'],
  ],
  { status: {} },
)
