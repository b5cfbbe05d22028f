import { z } from 'zod'
import { ipAddress } from '../../fields/address.ts'
import { whole } from '../../fields/number.ts'
import { preset } from './preset.ts'

/** The way in for HTTP; for clusters that disable the one that K3s brings. */
export const traefik = preset({
  name: 'traefik',
  about: 'The way in for HTTP, in place of the Traefik that K3s brings (the Cluster then disables traefik).',
  version: '41.3.0',
  namespace: 'traefik',
  fields: z.strictObject({
    replicas: whole(1, 20).default(1),
    address: ipAddress.optional(),
    /** Send every request for HTTP on to HTTPS. */
    redirect: z.boolean().default(true),
  }),
  chart: ({ replicas, address, redirect }) => ({
    repo: 'https://traefik.github.io/charts',
    name: 'traefik',
    values: {
      deployment: { replicas },
      ingressClass: { enabled: true, isDefaultClass: true },
      ...(address === undefined ? {} : { service: { spec: { loadBalancerIP: address } } }),
      ...(redirect
        ? { ports: { web: { http: { redirections: { entryPoint: { to: 'websecure', scheme: 'https' } } } } } }
        : {}),
    },
  }),
  example: { replicas: 2, address: '192.168.4.200' },
})
