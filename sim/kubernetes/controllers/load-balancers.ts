import { flagList } from '../../k3s/config-file.ts'
import { isPodReady } from '../../k3s/kubelet.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { type KubeObject, list, type Tree, text, tree, trees } from '../object.ts'
import { all, find, put, remove } from '../store.ts'
import { born } from './owned-pods.ts'

const NAMESPACE = 'kube-system'
const OWNER = 'svccontroller.k3s.cattle.io/svcname'

/** Clusters that have had such a Service: what was made for it may have to go. */
const hadAny = new WeakSet<EtcdCluster>()

/**
 * Gives addresses to Services of type LoadBalancer: K3s' own servicelb, with a pod on every node that holds its
 * ports, unless it is disabled; then an installed load balancer with a pool.
 */
export function keepLoadBalancers(world: World, cluster: EtcdCluster): void {
  const { store } = cluster
  const own = !flagList(cluster.manager?.flags ?? new Map(), 'disable').includes('servicelb')
  const services = all(store, '/services').filter(({ spec }) => tree(spec).type === 'LoadBalancer')
  const wanted = new Set(own ? services.map(setName) : [])
  if (services.length === 0 && !hadAny.has(cluster)) return
  hadAny.add(cluster)
  for (const set of all(store, 'apps/daemonsets'))
    if (set.metadata.labels?.[OWNER] !== undefined && !wanted.has(set.metadata.name))
      remove(store, 'apps/daemonsets', NAMESPACE, set.metadata.name)
  const taken = new Set<number>()
  const given = new Set(services.flatMap(addressesOf))
  for (const service of services) {
    const ports = trees(tree(service.spec).ports).map(({ port }) => Number(port))
    // A port of a node is held once: who comes later waits.
    const free = ports.every((port) => !taken.has(port))
    for (const port of ports) taken.add(port)
    if (own) announce(world, cluster, service)
    const ingress = own
      ? free
        ? nodesOf(cluster, service)
        : []
      : addressesOf(service).length > 0
        ? addressesOf(service)
        : (fromPools(cluster, service, given) ?? [])
    for (const ip of ingress) given.add(ip)
    const now = { ingress: ingress.map((ip) => ({ ip, ipMode: 'VIP' })) }
    const shown = ingress.length === 0 ? {} : now
    if (JSON.stringify(tree(service.status).loadBalancer ?? {}) === JSON.stringify(shown)) continue
    put(store, '/services', { ...service, status: { ...tree(service.status), loadBalancer: shown } })
  }
}

function setName({ metadata }: KubeObject): string {
  return `svclb-${metadata.name}-${(metadata.uid ?? '').slice(0, 8)}`
}

function addressesOf({ status }: KubeObject): readonly string[] {
  return trees(tree(tree(status).loadBalancer).ingress).map(({ ip }) => text(ip))
}

function announce(world: World, { store }: EtcdCluster, service: KubeObject): void {
  const name = setName(service)
  if (find(store, 'apps/daemonsets', NAMESPACE, name) !== undefined) return
  const labels = { app: name, [OWNER]: service.metadata.name }
  const containers = trees(tree(service.spec).ports).map(({ port }) => ({
    name: `lb-tcp-${Number(port)}`,
    image: 'rancher/klipper-lb:v0.4.13',
    ports: [{ containerPort: Number(port), hostPort: Number(port) }],
  }))
  const tolerations = [
    'node-role.kubernetes.io/master',
    'node-role.kubernetes.io/control-plane',
    'CriticalAddonsOnly',
  ].map((key) => ({ key, operator: 'Exists' }))
  put(store, 'apps/daemonsets', {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...born(world, name, NAMESPACE), labels: { ...labels, 'objectset.rio.cattle.io/hash': 'sim' } },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels }, spec: { tolerations, containers } },
    },
    status: {},
  })
}

function nodesOf({ store }: EtcdCluster, service: KubeObject): readonly string[] {
  const name = setName(service)
  const nodes = all(store, '/pods')
    .filter((pod) => pod.metadata.labels?.app === name && isPodReady(pod))
    .map(({ spec }) => text(tree(spec).nodeName))
  return nodes
    .flatMap((node) => {
      const addresses = trees(tree(find(store, '/nodes', undefined, node)?.status).addresses)
      return text(addresses.find(({ type }) => type === 'InternalIP')?.address) || []
    })
    .sort()
}

/** Cilium, MetalLB or kube-vip, where one of them runs and has a pool. */
function fromPools(
  { store }: EtcdCluster,
  service: KubeObject,
  given: ReadonlySet<string>,
): readonly string[] | undefined {
  const runs = (name: string) =>
    all(store, '/pods').some((pod) => pod.metadata.name.startsWith(`${name}-`) && isPodReady(pod))
  const ranges = [
    ...(runs('cilium-operator')
      ? all(store, 'cilium.io/ciliumloadbalancerippools').flatMap(({ spec }) => trees(tree(spec).blocks).map(blockOf))
      : []),
    ...(runs('metallb-controller')
      ? all(store, 'metallb.io/ipaddresspools').flatMap(({ spec }) => list(tree(spec).addresses).map(text))
      : []),
    ...(runs('kube-vip-cloud-provider')
      ? Object.values(tree(find(store, '/configmaps', NAMESPACE, 'kubevip')?.data)).map(text)
      : []),
  ]
  const asked = text(tree(service.spec).loadBalancerIP)
  if (asked !== '' && ranges.length > 0) return given.has(asked) ? undefined : [asked]
  for (const range of ranges) {
    const [, net = '', host = '0'] = /^(\d+\.\d+\.\d+)\.(\d+)/.exec(range) ?? []
    for (let number = Number(host); net !== '' && number < 255; number++)
      if (number > 0 && !given.has(`${net}.${number}`)) return [`${net}.${number}`]
  }
  return undefined
}

function blockOf(block: Tree): string {
  return text(block.cidr) || text(block.start)
}
