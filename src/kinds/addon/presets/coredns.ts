import { z } from 'zod'
import { contains, parseCidr } from '../../../k3s/cidr.ts'
import { ipAddress } from '../../fields/address.ts'
import { whole } from '../../fields/number.ts'
import { dnsName } from '../../fields/text.ts'
import { preset } from './preset.ts'

/** The names of a cluster; for clusters that disable the one that K3s brings. */
export const coredns = preset({
  name: 'coredns',
  about: 'The names of a cluster, in place of the CoreDNS that K3s brings (the Cluster then disables coredns).',
  version: '1.46.2',
  namespace: 'kube-system',
  fields: z.strictObject({
    replicas: whole(1, 10).default(2),
    /** The DNS address that nodes give to pods. Default: the Cluster's. */
    clusterIp: ipAddress.optional(),
    /** Name servers for all other names. Default: those of the node. */
    upstream: z.array(ipAddress).default([]),
    clusterDomain: dnsName.optional(),
    /** Names with addresses, in addition to those of nodes with addresses in the Cluster. */
    hosts: z.record(dnsName, z.array(ipAddress).min(1)).default({}),
  }),
  chart: ({ replicas, clusterIp, upstream, clusterDomain, hosts }, { name, cluster }) => ({
    repo: 'https://coredns.github.io/helm',
    name: 'coredns',
    bootstrap: true,
    values: {
      replicaCount: replicas,
      priorityClassName: 'system-cluster-critical',
      tolerations: [
        { key: 'CriticalAddonsOnly', operator: 'Exists' },
        { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
        // Nodes that come on carry it until names are answered.
        { key: 'dns-unready', operator: 'Exists', effect: 'NoSchedule' },
      ],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          // A sleeping node counts as an empty domain: the pods must all fit on the others.
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { 'k8s-app': 'coredns', 'app.kubernetes.io/instance': name } },
        },
      ],
      service: { name: 'kube-dns', ...addresses(clusterIp === undefined ? cluster.dns : [clusterIp]) },
      servers: [
        {
          // Answers that are too long for a packet are asked for again over TCP.
          zones: [{ zone: '.', use_tcp: true }],
          port: 53,
          plugins: [
            { name: 'errors' },
            { name: 'health', configBlock: 'lameduck 5s' },
            { name: 'ready' },
            {
              name: 'kubernetes',
              parameters: `${clusterDomain ?? cluster.domain} in-addr.arpa ip6.arpa`,
              configBlock: 'pods insecure\nfallthrough in-addr.arpa ip6.arpa\nttl 30',
            },
            ...hostsPlugin([
              ...cluster.nodes,
              ...Object.entries(hosts).map(([host, all]) => ({ name: host, addresses: all })),
            ]),
            { name: 'prometheus', parameters: ':9153' },
            { name: 'forward', parameters: `. ${upstream.length === 0 ? '/etc/resolv.conf' : upstream.join(' ')}` },
            { name: 'cache', parameters: 30 },
            { name: 'loop' },
            { name: 'reload' },
            { name: 'loadbalance' },
          ],
        },
      ],
    },
  }),
  problems: ({ clusterIp }, { serviceCidrs }) => {
    const ranges = serviceCidrs.flatMap((range) => parseCidr(range) ?? [])
    if (clusterIp === undefined || ranges.length === 0 || ranges.some((range) => contains(range, clusterIp))) return []
    const message = `clusterIp is ${clusterIp}; expected an address in the range of Services (${serviceCidrs.join(', ')})`
    return [{ path: ['clusterIp'], message, hint: 'leave it out: it is then the one that nodes give to pods' }]
  },
  example: { replicas: 2, clusterIp: '10.43.0.10', upstream: ['192.168.4.1'] },
})

/** Returns a single address, or one of each family. */
function addresses(all: readonly string[]): object {
  const [first] = all
  if (first === undefined) return {}
  return all.length === 1
    ? { clusterIP: first }
    : { clusterIP: first, clusterIPs: all, ipFamilyPolicy: 'RequireDualStack' }
}

/** Returns the node names that K3s writes only into its own CoreDNS. */
function hostsPlugin(hosts: readonly { readonly name: string; readonly addresses: readonly string[] }[]) {
  if (hosts.length === 0) return []
  const lines = hosts.flatMap(({ name, addresses: own }) => own.map((address) => `${address} ${name}`))
  return [{ name: 'hosts', configBlock: [...lines, 'ttl 60', 'fallthrough'].join('\n') }]
}
