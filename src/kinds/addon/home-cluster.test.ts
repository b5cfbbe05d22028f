import assert from 'node:assert/strict'
import { test } from 'node:test'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { link } from '../../plan/link.ts'
import { readTexts, told } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'

/** Three boxes, two families of addresses, no flannel and no kube-proxy: a home cluster as people have it. */
const CLUSTER = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec: {ssh: {address: 192.168.14.2, user: k3s, hostKeys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO]}}
---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: farm}
spec:
  version: v1.34.3+k3s1
  endpoint: {server: cow}
  servers: [{machine: Host/cow, addresses: [192.168.14.2, "fd12:3456:789a:14::2"]}]
  podCidrs: [10.42.0.0/16, "fd22:2025:6a6a:42::/104"]
  serviceCidrs: [10.43.0.0/16, "fd22:2025:6a6a:43::/112"]
  disable: [coredns, servicelb, traefik]
  flannelBackend: none
  kubeProxy: false
  networkPolicy: false
  nodeMasks: {ipv6: 120}
  serverFlags: {disable-cloud-controller: true}
`

const HANDOVER = `handover:
    to: argocd
    project: system
    values: {repository: "https://git.example/farm/values.git", files: [common.yaml, farm.yaml]}
    sync:
      prune: true
      retry: {limit: 5, backoff: {duration: 5s, factor: 2, maxDuration: 3m}}
      options: [CreateNamespace=true, RespectIgnoreDifferences=true]
    ignoreDifferences:
      - {group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}
      - {kind: Secret, name: cilium-ca, jqPathExpressions: [".data"]}`

/** Values of each component, beyond the fields of its preset. */
const ADDONS: Readonly<Record<string, string>> = {
  cilium: `preset: cilium
  with: {kubeProxyReplacement: true, hubble: true, pools: [{name: lan, ranges: [192.168.14.48/28, "fd12:3456:789a:14:1::/112"]}]}
  values:
    ipv4: {enabled: true}
    ipv6: {enabled: true}
    routingMode: native
    autoDirectNodeRoutes: true
    ipv4NativeRoutingCIDR: 10.42.0.0/16
    ipv6NativeRoutingCIDR: "fd22:2025:6a6a:42::/104"
    ipam: {mode: cluster-pool, operator: {clusterPoolIPv4PodCIDRList: [10.42.0.0/16], clusterPoolIPv6PodCIDRList: ["fd22:2025:6a6a:42::/104"], clusterPoolIPv6MaskSize: 120}}
    bgpControlPlane: {enabled: true}
    gatewayAPI: {enabled: true}
  ${HANDOVER}`,
  coredns: `preset: coredns
  values: {tolerations: [{key: dns-unready, operator: Exists, effect: NoSchedule}], service: {ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4, IPv6]}}`,
  'cert-manager': `preset: cert-manager
  secrets: [{name: cloudflare, data: {token: {env: CLOUDFLARE_TOKEN}}}]
  objects:
    - apiVersion: cert-manager.io/v1
      kind: ClusterIssuer
      metadata: {name: le}
      spec: {acme: {server: "https://acme-v02.api.letsencrypt.org/directory", email: me@example.org, privateKeySecretRef: {name: le}, solvers: [{dns01: {cloudflare: {apiTokenSecretRef: {name: cloudflare, key: token}}}}]}}`,
  traefik: `preset: traefik
  values: {service: {spec: {ipFamilyPolicy: PreferDualStack}}, ports: {websecure: {http3: {enabled: true}}}}`,
  argocd: `preset: argocd
  with: {host: argocd.example.org}
  values: {configs: {cm: {"accounts.ci": apiKey}, rbac: {policy.csv: "g, ci, role:readonly"}}}
  secrets:
    - {name: apps, labels: {argocd.argoproj.io/secret-type: repository}, data: {url: {env: APPS_URL}, sshPrivateKey: {file: /etc/croft/apps-key}}}
    - {name: charts, labels: {argocd.argoproj.io/secret-type: repository}, data: {url: {env: CHARTS_URL}, enableOCI: {env: YES}, password: {vault: {path: farm/charts, key: password}}}}`,
  'rook-ceph': `preset: rook-ceph
  with: {devices: "^sd[b-z]", monitors: 1, replicas: 1}
  objects:
    - {apiVersion: ceph.rook.io/v1, kind: CephFilesystem, metadata: {name: barn, namespace: rook-ceph}, spec: {metadataPool: {replicated: {size: 2}}, dataPools: [{name: data, replicated: {size: 2}}], metadataServer: {activeCount: 1}}}
    - {apiVersion: ceph.rook.io/v1, kind: CephObjectStore, metadata: {name: s3, namespace: rook-ceph}, spec: {metadataPool: {replicated: {size: 2}}, dataPool: {replicated: {size: 2}}, gateway: {port: 80, instances: 1}}}`,
}

test('all that an owner gives to the components of a home cluster can be said in add-ons', () => {
  for (const [name, spec] of Object.entries(ADDONS)) {
    const addon = `apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: ${name}}\nspec:\n  cluster: farm\n  ${spec}\n`
    const read = readTexts({ 'cluster.yaml': CLUSTER, 'addon.yaml': addon })
    assert.deepEqual(told(read.problems), [], name)
    const estate = link(read, { findKind })
    assert.deepEqual(
      estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
      [],
      name,
    )
    const objects = estate.resources.flatMap(({ desired }) => (desired.type === 'object' ? [desired] : []))
    // All values must reach the applied objects.
    const applied = JSON.stringify(objects).replaceAll('\\\\', '')
    const values = (yamlLibrary().parse(`cluster: farm\n${spec.replaceAll(/^ {2}/gm, '')}`) as { values?: object })
      .values
    for (const leaf of leaves(values)) assert.ok(applied.includes(leaf), `${name}: ${leaf} is not applied`)
  }
})

test('what is handed over to Argo CD has two sources, prunes, tries again and leaves fields alone', () => {
  const addon = `apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: cilium}\nspec:\n  cluster: farm\n  ${ADDONS.cilium}\n`
  const estate = link(readTexts({ 'cluster.yaml': CLUSTER, 'addon.yaml': addon }), { findKind })
  const text = JSON.stringify(estate.resources)
  for (const part of [
    '"valueFiles":["$values/common.yaml","$values/farm.yaml"]',
    '{"repoURL":"https://git.example/farm/values.git","targetRevision":"main","ref":"values"}',
    '"automated":{"prune":true,"selfHeal":true}',
    '"syncOptions":["ServerSideApply=true","CreateNamespace=true","RespectIgnoreDifferences=true"]',
    '"retry":{"limit":5,"backoff":{"duration":"5s","factor":2,"maxDuration":"3m"}}',
    '"ignoreDifferences":[{"group":"apps","kind":"Deployment","jsonPointers":["/spec/replicas"]},{"kind":"Secret","name":"cilium-ca","jqPathExpressions":[".data"]}]',
  ])
    assert.ok(text.includes(part), part)
})

test('Flux is told to prune, and what only Argo CD knows is refused by its field', () => {
  const refused = (handover: string) =>
    told(
      readTexts({
        'a.yaml': `apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: a}\nspec:\n  cluster: farm\n  preset: traefik\n  handover: {to: flux, ${handover}}\n`,
      }).problems,
    ).join()
  assert.equal(refused('sync: {prune: true}'), '')
  assert.match(refused('sync: {retry: {limit: 3}}'), /Flux knows only prune of sync/)
  assert.match(refused('ignoreDifferences: [{kind: Secret}]'), /ignoreDifferences is for Argo CD alone/)
  assert.match(
    refused('values: {repository: "https://git.example/v.git", files: [a.yaml]}'),
    /values is for Argo CD alone/,
  )
})

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
/** A chart in its authors' repository, with volumes for data and metadata. */
const GARAGE = `chart:
    git: {url: "https://git.example/makers/garage.git", commit: ${COMMIT}, path: script/helm/garage}
    values: {garage: {replicationFactor: 1}, persistence: {meta: {storageClass: haystack, size: 1Gi}, data: {storageClass: haystack, size: 100Gi}}}
  namespace: garage`

function garage(more: string) {
  const addon = `apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: garage}\nspec:\n  cluster: farm\n  ${GARAGE}\n  ${more}\n`
  const read = readTexts({ 'cluster.yaml': CLUSTER, 'addon.yaml': addon })
  const asked: string[] = []
  const objectsAt = (place: string) => {
    asked.push(place)
    return { objects: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'garage' }, spec: {} }] }
  }
  const estate = link({ ...read, objectsAt }, { findKind })
  const problems = [...told(read.problems), ...estate.problems.map(({ message }) => message)]
  return { asked: new Set(asked), problems, text: JSON.stringify(estate.resources) }
}

test('a chart in Git is rendered at its commit, for the Kubernetes of its cluster, and its objects are kept', () => {
  const { asked, problems, text } = garage('')
  assert.deepEqual(problems, [])
  const [place = '', ...others] = asked
  assert.deepEqual(others, [])
  const { values, ...wanted } = JSON.parse(place.replace(/^chart\+/, '')) as Record<string, string>
  assert.deepEqual(wanted, {
    git: { url: 'https://git.example/makers/garage.git', commit: COMMIT },
    chart: 'script/helm/garage',
    version: COMMIT,
    release: 'garage',
    namespace: 'garage',
    kubeVersion: '1.34.3',
  })
  assert.match(values ?? '', /"data":\{"storageClass":"haystack","size":"100Gi"\}/)
  assert.ok(text.includes('"kind":"StatefulSet"') && !text.includes('HelmChart'), text)
})

test('a chart in Git is handed over to Argo CD with two sources, and to Flux by a release at its commit', () => {
  const { problems, text } = garage(HANDOVER)
  assert.deepEqual(problems, [])
  const source = `{"repoURL":"https://git.example/makers/garage.git","path":"script/helm/garage","targetRevision":"${COMMIT}","helm":{"releaseName":"garage",`
  for (const part of [source, '"valueFiles":["$values/common.yaml","$values/farm.yaml"]', '"ref":"values"'])
    assert.ok(text.includes(part), part)
  const flux = garage('handover: {to: flux}')
  assert.deepEqual(flux.problems, [])
  for (const part of [`"ref":{"commit":"${COMMIT}"}`, '"chart":"./script/helm/garage"', '"kind":"HelmRelease"'])
    assert.ok(flux.text.includes(part), part)
})

test('a chart is in Git or in a repository, and says which', () => {
  const problemsOf = (chart: string) =>
    told(
      readTexts({
        'a.yaml': `apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: a}\nspec:\n  cluster: farm\n  chart: ${chart}\n`,
      }).problems,
    ).join()
  const place = `git: {url: "https://git.example/a.git", commit: ${COMMIT}, path: chart}`
  assert.equal(problemsOf(`{${place}}`), '')
  assert.match(problemsOf(`{${place}, version: 1.0.0}`), /two-sources .*version is for a chart of a repository/)
  assert.match(problemsOf('{repo: "https://charts.example", name: a}'), /missing-field .*chart\.version is missing/)
  assert.match(problemsOf(`{${place.replace(COMMIT, 'main')}}`), /a whole commit/)
})

/** Every text and number in a tree, as it stands in JSON. */
function leaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leaves)
  return []
}

test('a cluster with a mistake is one problem, and its add-ons have none of their own', () => {
  const wrong = CLUSTER.replace('Host\nmetadata: {name: cow}', 'Host\nmetadata: {name: sheep}')
  const unread = CLUSTER.replace('kubeProxy: false', 'kubeProxi: false')
  const addon = `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: web}
spec:
  cluster: farm
  chart: {repo: "https://charts.example", name: web, version: 1.2.3}
`
  const estate = link(readTexts({ 'farm.yaml': wrong, 'web.yaml': addon }), { findKind })
  assert.deepEqual(
    estate.problems.map(({ object, code }) => `${object} ${code}`),
    ['Cluster/farm unknown-reference'],
  )
  assert.ok(estate.unreadable.some((key) => key.startsWith('Addon/web')))
  const read = readTexts({ 'farm.yaml': unread, 'web.yaml': addon })
  const linked = link(read, { findKind })
  assert.equal(read.problems.length, 1)
  assert.deepEqual(
    linked.problems.filter(({ object }) => object !== 'Cluster/farm'),
    [],
  )
  assert.ok(linked.unreadable.some((key) => key.startsWith('Addon/web')))
})
