import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterFacts } from './presets/preset.ts'
import { PRESET_NAMES, PRESETS, type PresetName } from './presets/registry.ts'

/*
 * Compares each preset with its chart's version: names and types of values with values.yaml or values.schema.json,
 * fields of objects with the definitions that the chart brings. After a change of version, read those again and change
 * the row.
 */

const CLUSTER: ClusterFacts = {
  families: [4],
  serviceCidrs: ['10.43.0.0/16'],
  dns: ['10.43.0.10'],
  domain: 'cluster.local',
  nodes: [{ name: 's1', addresses: ['192.168.4.81'] }],
}

type Type = 'string' | 'number' | 'boolean' | 'list' | 'map'

interface Accepted {
  readonly version: string
  readonly chart?: { readonly repo: string; readonly name: string; readonly values: Readonly<Record<string, Type>> }
  /** By apiVersion and kind: the known fields of `spec`. */
  readonly objects?: Readonly<Record<string, readonly string[]>>
  /** All fields, so that each is tried. */
  readonly fullest: object
}

const ACCEPTED: Readonly<Record<PresetName, Accepted>> = {
  argocd: {
    version: '10.1.1',
    chart: {
      repo: 'https://argoproj.github.io/argo-helm',
      name: 'argo-cd',
      values: { 'global.domain': 'string', 'dex.enabled': 'boolean' },
    },
    objects: {
      'argoproj.io/v1alpha1 AppProject': ['description', 'sourceRepos', 'destinations', 'clusterResourceWhitelist'],
    },
    fullest: {
      host: 'argo.home.arpa',
      projects: [{ name: 'a', description: 'd', repositories: ['https://git.example.org/a'], namespaces: ['a'] }],
    },
  },
  'cert-manager': {
    version: 'v1.21.1',
    chart: {
      repo: 'https://charts.jetstack.io',
      name: 'cert-manager',
      values: { 'crds.enabled': 'boolean', 'crds.keep': 'boolean' },
    },
    objects: { 'cert-manager.io/v1 ClusterIssuer': ['acme', 'ca', 'selfSigned', 'vault', 'venafi'] },
    fullest: {
      issuers: [
        { name: 'a', acme: { email: 'a@example.org' } },
        { name: 'b', ca: { secret: 's' } },
        { name: 'c', selfSigned: true },
      ],
    },
  },
  cilium: {
    version: '1.19.6',
    chart: {
      repo: 'https://helm.cilium.io',
      name: 'cilium',
      values: {
        kubeProxyReplacement: 'boolean',
        k8sServiceHost: 'string',
        k8sServicePort: 'number',
        'ipv4.enabled': 'boolean',
        'ipv6.enabled': 'boolean',
        'operator.replicas': 'number',
        'ipam.mode': 'string',
        'hubble.enabled': 'boolean',
        'hubble.relay.enabled': 'boolean',
        'hubble.ui.enabled': 'boolean',
        'hubble.tls.auto.method': 'string',
        'l2announcements.enabled': 'boolean',
        'k8sClientRateLimit.qps': 'number',
        'k8sClientRateLimit.burst': 'number',
      },
    },
    objects: {
      'cilium.io/v2 CiliumLoadBalancerIPPool': ['allowFirstLastIPs', 'blocks', 'disabled', 'serviceSelector'],
      'cilium.io/v2alpha1 CiliumL2AnnouncementPolicy': [
        'externalIPs',
        'interfaces',
        'loadBalancerIPs',
        'nodeSelector',
        'serviceSelector',
      ],
    },
    fullest: {
      apiServer: { host: '192.168.4.79' },
      hubble: true,
      pools: [{ name: 'lan', ranges: ['10.0.0.0/24', '10.0.1.1-10.0.1.9'] }],
      l2: { interfaces: ['eth0'], nodes: { role: 'edge' } },
    },
  },
  coredns: {
    version: '1.46.2',
    chart: {
      repo: 'https://coredns.github.io/helm',
      name: 'coredns',
      values: {
        replicaCount: 'number',
        priorityClassName: 'string',
        tolerations: 'list',
        topologySpreadConstraints: 'list',
        'service.name': 'string',
        'service.clusterIP': 'string',
        servers: 'list',
      },
    },
    fullest: { clusterIp: '10.43.0.10', upstream: ['192.168.4.1'], hosts: { 'nas.home.arpa': ['192.168.4.9'] } },
  },
  flux: {
    version: '2.18.3',
    chart: {
      repo: 'https://fluxcd-community.github.io/helm-charts',
      name: 'flux2',
      values: { 'crds.annotations.helm.sh/resource-policy': 'string' },
    },
    objects: { 'source.toolkit.fluxcd.io/v1 GitRepository': ['interval', 'url', 'ref', 'secretRef'] },
    fullest: { repositories: [{ name: 'a', url: 'https://git.example.org/a', secret: 's' }] },
  },
  garage: { version: '2.1.0', fullest: { nodes: 3, capacity: '1Gi', storageClass: 'local', buckets: ['a'] } },
  'kube-vip': {
    version: '0.9.9',
    chart: {
      repo: 'https://kube-vip.github.io/helm-charts',
      name: 'kube-vip',
      values: {
        nameOverride: 'string',
        'config.address': 'string',
        'env.vip_interface': 'string',
        'env.vip_arp': 'string',
        'env.cp_enable': 'string',
        'env.svc_enable': 'string',
        'env.svc_election': 'string',
        'env.prometheus_server': 'string',
      },
    },
    objects: {
      'helm.cattle.io/v1 HelmChart': ['chart', 'repo', 'version', 'targetNamespace', 'valuesContent', 'failurePolicy'],
    },
    fullest: { interface: 'eth0', range: '10.0.0.0/24' },
  },
  'local-path': { version: '0.0.37', fullest: { path: '/data', storageClass: 'local', default: false } },
  metallb: {
    version: '0.16.1',
    chart: {
      repo: 'https://metallb.github.io/metallb',
      name: 'metallb',
      values: { 'speaker.frr.enabled': 'boolean', 'frrk8s.enabled': 'boolean' },
    },
    objects: {
      'metallb.io/v1beta1 IPAddressPool': ['addresses', 'autoAssign', 'avoidBuggyIPs', 'serviceAllocation'],
      'metallb.io/v1beta1 L2Advertisement': ['interfaces', 'ipAddressPoolSelectors', 'ipAddressPools', 'nodeSelectors'],
    },
    fullest: { pools: [{ name: 'lan', ranges: ['10.0.0.0/24'] }] },
  },
  'rook-ceph': {
    version: 'v1.19.10',
    chart: {
      repo: 'https://charts.rook.io/release',
      name: 'rook-ceph',
      values: { enableDiscoveryDaemon: 'boolean' },
    },
    objects: {
      'ceph.rook.io/v1 CephCluster': [
        'cephVersion',
        'dashboard',
        'dataDirHostPath',
        'mgr',
        'mon',
        'placement',
        'storage',
      ],
      'ceph.rook.io/v1 CephBlockPool': ['failureDomain', 'replicated'],
    },
    fullest: { devices: '^sd[b-d]', nodes: { storage: 'yes' } },
  },
  traefik: {
    version: '41.3.0',
    chart: {
      repo: 'https://traefik.github.io/charts',
      name: 'traefik',
      values: {
        'deployment.replicas': 'number',
        'ingressClass.enabled': 'boolean',
        'ingressClass.isDefaultClass': 'boolean',
        'service.spec.loadBalancerIP': 'string',
        'ports.web.http.redirections.entryPoint.to': 'string',
        'ports.web.http.redirections.entryPoint.scheme': 'string',
      },
    },
    fullest: { replicas: 2, address: '10.0.0.1' },
  },
}

/** Kinds that all clusters serve, so the rows omit them. */
const BUILT_IN = /^(?:v1|apps\/v1|batch\/v1|rbac\.authorization\.k8s\.io\/v1|storage\.k8s\.io\/v1) /

for (const name of PRESET_NAMES) {
  test(`preset ${name}: its chart takes what it is given, and its objects are such as their kinds know`, () => {
    const preset = PRESETS[name]
    const { version, chart, objects = {}, fullest } = ACCEPTED[name]
    assert.equal(preset.version, version, 'another version may take other values: read them again')
    const fields = preset.fields.parse(fullest)
    const context = { name, namespace: preset.namespace, version, cluster: CLUSTER }
    const given = preset.chart?.(fields, context)
    assert.deepEqual(given && { repo: given.repo, name: given.name }, chart && { repo: chart.repo, name: chart.name })
    assert.deepEqual(typesOf(given?.values ?? {}), chart?.values ?? {})
    for (const { apiVersion, kind, spec } of preset.objects?.(fields, context) ?? []) {
      const sort = `${apiVersion} ${kind}`
      if (BUILT_IN.test(sort)) continue
      const known = objects[sort]
      assert.ok(known, `${sort} is no kind that ${name} brings`)
      for (const field of Object.keys((spec ?? {}) as object)) assert.ok(known.includes(field), `${sort} spec.${field}`)
    }
  })
}

function typesOf(values: object, path = ''): Record<string, Type> {
  const found: Record<string, Type> = {}
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    const here = path === '' ? name : `${path}.${name}`
    if (Array.isArray(value)) found[here] = 'list'
    else if (typeof value === 'object' && value !== null) Object.assign(found, typesOf(value, here))
    else found[here] = typeof value as Type
  }
  return found
}

test('kube-vip of an add-on is not the kube-vip of the Cluster: no name and no port is the same', () => {
  const preset = PRESETS['kube-vip']
  const context = { name: 'kube-vip', namespace: preset.namespace, version: preset.version, cluster: CLUSTER }
  const values = preset.chart?.(preset.fields.parse(preset.example), context).values
  assert.notEqual(values?.nameOverride ?? 'kube-vip', 'kube-vip')
  assert.match(JSON.stringify(values?.env), /"prometheus_server":":(?!2112)\d+"/)
})

test('Cilium announces addresses only where it does the work of kube-proxy', () => {
  const read = PRESETS.cilium.fields.safeParse({ kubeProxyReplacement: false, l2: {} })
  assert.equal(read.success, false)
})
