import type { Estate } from '../../src/model/estate.ts'
import { agentAddon, definitionOf } from '../simulation/addon-manifests.ts'
import { clusterEstate, clusterManifest } from '../simulation/cluster-run.ts'

/* What the tests on a real kube-apiserver declare. */

/** The objects of an estate without the machines under its cluster, which stands already. */
export function objectsOnly(manifests: string): Estate {
  const estate = clusterEstate(clusterManifest({ servers: ['s1'], spec: '  allow: {degraded: true}\n' }) + manifests)
  const { clusters: _, ...rest } = estate
  return {
    ...rest,
    connections: estate.connections.filter(({ driver }) => driver === 'kubernetes'),
    resources: estate.resources.filter(({ driver }) => driver === 'kubernetes'),
  }
}

export function widgets(size: number, more = '', whole = true): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: widgets}
spec:
  cluster: homelab
  namespace: widgets
  secrets: [{name: door, data: {key: {env: KEY}}}]
  objects:
    - {apiVersion: example.org/v1, kind: Widget, metadata: {name: first}, spec: {size: ${size}}}
    - ${JSON.stringify(definitionOf(['example.org', 'v1', 'Widget']))}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {colour: blue${whole ? ', shape: round' : ''}}}
${whole ? '    - {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: inside}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}}\n' : ''}${more}`
}

export const SOURCE = '/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories/agent'

/** Each agent: what it brings, the object by which it keeps, under which name it applies, and how it says that it is well. */
export const AGENTS = [
  {
    to: 'argocd',
    ground: agentAddon('argocd', [['argoproj.io', 'v1alpha1', 'Application']]),
    keeper: '/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/agent',
    manager: 'argocd-controller',
    status: { sync: { status: 'Synced' }, health: { status: 'Healthy' } },
  },
  {
    to: 'flux',
    ground: agentAddon('flux', [
      ['source.toolkit.fluxcd.io', 'v1', 'GitRepository'],
      ['kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization'],
    ]),
    keeper: '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/agent',
    manager: 'kustomize-controller',
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  },
] as const

export const AGENT_BODY = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: {
        hostNetwork: true,
        containers: [
          {
            name: 'agent',
            image: 'example.org/agent:1',
            ports: [{ containerPort: 4240, hostPort: 4240 }],
            env: [{ name: 'LEVEL', value: 'info' }],
            resources: { requests: { cpu: '1000m', memory: '0.5Gi' } },
          },
        ],
      },
    },
  },
})

export function agent(more: string): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: agent}
spec:
  cluster: homelab
  namespace: kube-system
  objects:
    - ${AGENT_BODY}
${more}`
}
