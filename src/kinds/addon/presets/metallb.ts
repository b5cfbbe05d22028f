import { z } from 'zod'
import { logicalName } from '../../fields/text.ts'
import { addressRange } from './fields.ts'
import { preset } from './preset.ts'

/** Addresses for Services on a network without a load balancer. */
export const metallb = preset({
  name: 'metallb',
  about: 'Addresses for Services of type LoadBalancer, announced on the local network.',
  version: '0.16.1',
  namespace: 'metallb-system',
  fields: z.strictObject({
    pools: z.array(z.strictObject({ name: logicalName, ranges: z.array(addressRange).min(1) })).default([]),
  }),
  chart: () => ({
    repo: 'https://metallb.github.io/metallb',
    name: 'metallb',
    // Announcing on the local network needs no router beside it.
    values: { speaker: { frr: { enabled: false } }, frrk8s: { enabled: false } },
  }),
  objects: ({ pools }, { namespace }) => [
    ...pools.map(({ name, ranges }) => ({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name, namespace },
      spec: { addresses: ranges },
    })),
    ...(pools.length === 0
      ? []
      : [
          {
            apiVersion: 'metallb.io/v1beta1',
            kind: 'L2Advertisement',
            metadata: { name: 'default', namespace },
            spec: { ipAddressPools: pools.map(({ name }) => name) },
          },
        ]),
  ],
  example: { pools: [{ name: 'lan', ranges: ['192.168.4.200-192.168.4.219'] }] },
})
