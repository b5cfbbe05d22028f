import { z } from 'zod'
import { hostName } from '../../fields/text.ts'
import { addressRange } from './fields.ts'
import { preset } from './preset.ts'

const REPOSITORY = 'https://kube-vip.github.io/helm-charts'

/** Addresses that move between nodes. The address of the cluster's own API belongs into the Cluster. */
export const kubeVip = preset({
  name: 'kube-vip',
  about: 'Addresses for Services that move between nodes. The address of the API itself belongs into the Cluster.',
  version: '0.9.9',
  namespace: 'kube-system',
  fields: z.strictObject({
    interface: hostName.optional(),
    range: addressRange,
  }),
  chart: (fields) => ({
    repo: REPOSITORY,
    name: 'kube-vip',
    bootstrap: true,
    values: {
      // The one that holds the address of the API, which comes with the Cluster, is called kube-vip and is beside it.
      nameOverride: 'kube-vip-services',
      config: { address: '' },
      env: {
        ...(fields.interface === undefined ? {} : { vip_interface: fields.interface }),
        vip_arp: 'true',
        cp_enable: 'false',
        svc_enable: 'true',
        svc_election: 'true',
        prometheus_server: ':2113',
      },
    },
  }),
  objects: ({ range }, { name, namespace }) => [
    // kube-vip announces addresses; which one a Service gets, this one says.
    {
      apiVersion: 'helm.cattle.io/v1',
      kind: 'HelmChart',
      metadata: { name: `${name}-cloud-provider`, namespace: 'kube-system' },
      spec: {
        repo: REPOSITORY,
        chart: 'kube-vip-cloud-provider',
        version: '0.2.10',
        targetNamespace: namespace,
        failurePolicy: 'abort',
        valuesContent: JSON.stringify({
          cm: { data: { [range.includes('/') ? 'cidr-global' : 'range-global']: range } },
        }),
      },
    },
  ],
  example: { interface: 'eth0', range: '192.168.4.200-192.168.4.219' },
})
