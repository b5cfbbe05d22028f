/** Kinds of workloads that charts bring, and where their objects are. */
export const WORKLOADS = { DaemonSet: 'apps/daemonsets', Deployment: 'apps/deployments' } as const

export type Workload = keyof typeof WORKLOADS

/** What a chart brings, as far as others notice. */
export interface Brought {
  readonly workloads: readonly (readonly [Workload, name: string, labels: Readonly<Record<string, string>>])[]
  /** Kinds that the cluster knows from then on. */
  readonly kinds?: readonly (readonly [
    apiVersions: string,
    kind: string,
    plural: string,
    scope: 'Cluster' | 'Namespaced',
  ])[]
}

/** By the name of a chart, wherever it comes from. Undefined: a chart that nobody here has ever seen brings nothing. */
export function broughtBy(chart: string): Brought | undefined {
  return CHARTS[chart.replace(/^.*\//, '')]
}

const app = (name: string) => ({ 'app.kubernetes.io/name': name })
const deployment = (name: string) => ['Deployment', name, app(name)] as const

const CHARTS: Readonly<Record<string, Brought>> = {
  cilium: {
    workloads: [
      ['DaemonSet', 'cilium', { 'k8s-app': 'cilium' }],
      ['Deployment', 'cilium-operator', { 'io.cilium/app': 'operator' }],
    ],
    kinds: [
      ['cilium.io/v2,v2alpha1', 'CiliumLoadBalancerIPPool', 'ciliumloadbalancerippools', 'Cluster'],
      ['cilium.io/v2alpha1', 'CiliumL2AnnouncementPolicy', 'ciliuml2announcementpolicies', 'Cluster'],
      ['cilium.io/v2', 'CiliumNetworkPolicy', 'ciliumnetworkpolicies', 'Namespaced'],
      ['cilium.io/v2', 'CiliumClusterwideNetworkPolicy', 'ciliumclusterwidenetworkpolicies', 'Cluster'],
    ],
  },
  'cert-manager': {
    workloads: [
      ['Deployment', 'cert-manager', app('cert-manager')],
      ['Deployment', 'cert-manager-cainjector', app('cainjector')],
      ['Deployment', 'cert-manager-webhook', app('webhook')],
    ],
    kinds: [
      ['cert-manager.io/v1', 'ClusterIssuer', 'clusterissuers', 'Cluster'],
      ['cert-manager.io/v1', 'Issuer', 'issuers', 'Namespaced'],
      ['cert-manager.io/v1', 'Certificate', 'certificates', 'Namespaced'],
    ],
  },
  'argo-cd': {
    workloads: ['argocd-server', 'argocd-repo-server', 'argocd-redis'].map(deployment),
    kinds: [
      ['argoproj.io/v1alpha1', 'Application', 'applications', 'Namespaced'],
      ['argoproj.io/v1alpha1', 'ApplicationSet', 'applicationsets', 'Namespaced'],
      ['argoproj.io/v1alpha1', 'AppProject', 'appprojects', 'Namespaced'],
    ],
  },
  flux2: {
    workloads: ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'].map(
      deployment,
    ),
    kinds: [
      ['source.toolkit.fluxcd.io/v1', 'GitRepository', 'gitrepositories', 'Namespaced'],
      ['source.toolkit.fluxcd.io/v1', 'HelmRepository', 'helmrepositories', 'Namespaced'],
      ['kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'kustomizations', 'Namespaced'],
      ['helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'helmreleases', 'Namespaced'],
    ],
  },
  metallb: {
    workloads: [deployment('metallb-controller'), ['DaemonSet', 'metallb-speaker', app('metallb-speaker')]],
    kinds: [
      ['metallb.io/v1beta1', 'IPAddressPool', 'ipaddresspools', 'Namespaced'],
      ['metallb.io/v1beta1', 'L2Advertisement', 'l2advertisements', 'Namespaced'],
    ],
  },
  'rook-ceph': {
    workloads: [deployment('rook-ceph-operator')],
    kinds: [
      ['ceph.rook.io/v1', 'CephCluster', 'cephclusters', 'Namespaced'],
      ['ceph.rook.io/v1', 'CephBlockPool', 'cephblockpools', 'Namespaced'],
    ],
  },
  traefik: { workloads: [deployment('traefik')] },
  coredns: { workloads: [deployment('coredns')] },
  'kube-vip': { workloads: [['DaemonSet', 'kube-vip-services', app('kube-vip')]] },
  'kube-vip-cloud-provider': { workloads: [deployment('kube-vip-cloud-provider')] },
}
