import { z } from 'zod'
import { whole } from '../../fields/number.ts'
import { dnsName } from '../../fields/text.ts'
import { addressRange } from './fields.ts'
import { preset } from './preset.ts'

/** The names of a cluster; for clusters that disable the one that K3s brings. */
export const coredns = preset({
  name: 'coredns',
  about: 'The names of a cluster, in place of the CoreDNS that K3s brings (the Cluster then disables coredns).',
  version: '1.46.2',
  namespace: 'kube-system',
  fields: z.strictObject({
    replicas: whole(1, 10).default(2),
    clusterIp: addressRange.optional(),
    /** Who answers for all other names; what the node itself asks when empty. */
    upstream: z.array(addressRange).default([]),
    clusterDomain: dnsName.default('cluster.local'),
  }),
  chart: ({ replicas, clusterIp, upstream, clusterDomain }) => ({
    repo: 'https://coredns.github.io/helm',
    name: 'coredns',
    bootstrap: true,
    values: {
      replicaCount: replicas,
      ...(clusterIp === undefined ? {} : { service: { clusterIP: clusterIp } }),
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
              parameters: `${clusterDomain} in-addr.arpa ip6.arpa`,
              configBlock: 'pods insecure\nfallthrough in-addr.arpa ip6.arpa\nttl 30',
            },
            { name: 'prometheus', parameters: '0.0.0.0:9153' },
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
  example: { replicas: 2, clusterIp: '10.43.0.10', upstream: ['192.168.4.1'] },
})
