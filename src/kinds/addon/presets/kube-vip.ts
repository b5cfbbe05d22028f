import { z } from 'zod'
import { hostName } from '../../fields/text.ts'
import { addressRange } from './fields.ts'
import { preset } from './preset.ts'

/** Addresses that move between nodes. The address of the cluster's own API belongs into the Cluster. */
export const kubeVip = preset({
  name: 'kube-vip',
  about: 'Addresses for Services that move between nodes. The address of the API itself belongs into the Cluster.',
  version: '0.9.2',
  namespace: 'kube-system',
  fields: z.strictObject({
    interface: hostName.optional(),
    range: addressRange,
  }),
  chart: (fields) => ({
    repo: 'https://kube-vip.github.io/helm-charts',
    name: 'kube-vip',
    bootstrap: true,
    values: {
      config: { address: '' },
      env: {
        ...(fields.interface === undefined ? {} : { vip_interface: fields.interface }),
        vip_arp: 'true',
        cp_enable: 'false',
        svc_enable: 'true',
        svc_election: 'true',
      },
    },
  }),
  objects: ({ range }, { namespace }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kubevip', namespace },
      data: { [range.includes('/') ? 'cidr-global' : 'range-global']: range },
    },
  ],
  example: { interface: 'eth0', range: '192.168.4.200-192.168.4.219' },
})
