import { z } from 'zod'
import { ipAddress } from '../../fields/address.ts'
import { whole } from '../../fields/number.ts'
import { dnsName, hostName, logicalName } from '../../fields/text.ts'
import { addressRange, labels } from './fields.ts'
import { preset } from './preset.ts'

/** On each node, server or agent, K3s serves the API here, without depending on another node. */
const OWN_DOOR = { host: '127.0.0.1', port: 6444 }

/** The network of a cluster, in place of flannel and kube-proxy, with addresses for Services. */
export const cilium = preset({
  name: 'cilium',
  about: 'The network of a cluster, in place of flannel and, where asked, of kube-proxy; addresses for Services.',
  version: '1.19.6',
  namespace: 'kube-system',
  fields: z
    .strictObject({
      /** Replaces kube-proxy. The Cluster then has kubeProxy: false. */
      kubeProxyReplacement: z.boolean().default(true),
      /** Address of the API before any Service works. Default: K3s' local port on each node. */
      apiServer: z
        .strictObject({
          host: z.union([ipAddress, dnsName], { error: 'a DNS name or an IP address' }),
          port: whole(1, 65_535).default(6443),
        })
        .optional(),
      operatorReplicas: whole(1, 5).default(1),
      hubble: z.boolean().default(false),
      /** Addresses that Services of type LoadBalancer get. */
      pools: z.array(z.strictObject({ name: logicalName, ranges: z.array(addressRange).min(1) })).default([]),
      /** Announce those addresses on the local network. */
      l2: z.strictObject({ interfaces: z.array(hostName).default([]), nodes: labels.optional() }).optional(),
    })
    .refine(({ l2, kubeProxyReplacement }) => l2 === undefined || kubeProxyReplacement, {
      path: ['l2'],
      error: 'addresses are announced only by a Cilium that does the work of kube-proxy',
    }),
  chart: ({ kubeProxyReplacement, apiServer = OWN_DOOR, operatorReplicas, hubble, l2 }, { cluster }) => ({
    repo: 'https://helm.cilium.io',
    name: 'cilium',
    // Nodes are not ready before it runs: its installer must not wait for them.
    bootstrap: true,
    values: {
      kubeProxyReplacement,
      k8sServiceHost: apiServer.host,
      k8sServicePort: apiServer.port,
      ipv4: { enabled: cluster.families.includes(4) },
      ipv6: { enabled: cluster.families.includes(6) },
      operator: { replicas: operatorReplicas },
      ipam: { mode: 'kubernetes' },
      hubble: {
        enabled: hubble,
        ...(hubble
          ? {
              relay: { enabled: true },
              ui: { enabled: true },
              // A job in the cluster makes these certificates. The templates would make new ones at each rendering, so
              // a tool that compares them, such as Argo CD, would never settle.
              tls: { auto: { method: 'cronJob' } },
            }
          : {}),
      },
      ...(l2 === undefined
        ? {}
        : {
            l2announcements: { enabled: true },
            k8sClientRateLimit: { qps: 50, burst: 100 },
          }),
    },
  }),
  objects: ({ pools, l2 }, { version }) => [
    ...pools.map(({ name, ranges }) => ({
      // Up to 1.17 there is no other.
      apiVersion: /^v?1\.(?:[0-9]|1[0-7])\./.test(version) ? 'cilium.io/v2alpha1' : 'cilium.io/v2',
      kind: 'CiliumLoadBalancerIPPool',
      metadata: { name },
      spec: { blocks: ranges.map(block) },
    })),
    ...(l2 === undefined
      ? []
      : [
          {
            apiVersion: 'cilium.io/v2alpha1',
            kind: 'CiliumL2AnnouncementPolicy',
            metadata: { name: 'default' },
            spec: {
              externalIPs: true,
              loadBalancerIPs: true,
              ...(l2.interfaces.length === 0 ? {} : { interfaces: l2.interfaces.map((one) => `^${one}$`) }),
              ...(l2.nodes === undefined ? {} : { nodeSelector: { matchLabels: l2.nodes } }),
            },
          },
        ]),
  ],
  example: {
    apiServer: { host: '192.168.4.79' },
    pools: [{ name: 'lan', ranges: ['192.168.4.200-192.168.4.219'] }],
    l2: { interfaces: ['eth0'] },
  },
})

function block(range: string): { readonly cidr: string } | { readonly start: string; readonly stop: string } {
  const [start = '', stop] = range.split('-')
  return stop === undefined ? { cidr: start } : { start, stop }
}
