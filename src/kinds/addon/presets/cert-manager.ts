import { z } from 'zod'
import { logicalName, webUrl } from '../../fields/text.ts'
import { className, mailAddress } from './fields.ts'
import { preset } from './preset.ts'

const issuer = z
  .strictObject({
    name: logicalName,
    /** Signs with its own new key, for names that no one outside must trust. */
    selfSigned: z.boolean().optional(),
    /** Signs with the certificate and key in this Secret of the add-on's namespace. */
    ca: z.strictObject({ secret: logicalName }).optional(),
    acme: z
      .strictObject({
        server: webUrl.default('https://acme-v02.api.letsencrypt.org/directory'),
        email: mailAddress,
        ingressClass: className.default('traefik'),
      })
      .optional(),
  })
  .refine(
    (one) => [one.selfSigned === true, one.ca !== undefined, one.acme !== undefined].filter(Boolean).length === 1,
    {
      error: 'an issuer with exactly one of selfSigned: true, ca and acme',
    },
  )

/** Certificates, and those who issue them. */
export const certManager = preset({
  name: 'cert-manager',
  about: 'Certificates, with their ClusterIssuers in the same apply.',
  version: 'v1.21.1',
  namespace: 'cert-manager',
  fields: z.strictObject({ issuers: z.array(issuer).default([]) }),
  chart: () => ({
    repo: 'https://charts.jetstack.io',
    name: 'cert-manager',
    values: { crds: { enabled: true, keep: true } },
  }),
  objects: ({ issuers }) =>
    issuers.map(({ name, ca, acme }) => ({
      apiVersion: 'cert-manager.io/v1',
      kind: 'ClusterIssuer',
      metadata: { name },
      spec:
        acme !== undefined
          ? {
              acme: {
                server: acme.server,
                email: acme.email,
                privateKeySecretRef: { name: `${name}-account` },
                solvers: [{ http01: { ingress: { ingressClassName: acme.ingressClass } } }],
              },
            }
          : ca !== undefined
            ? { ca: { secretName: ca.secret } }
            : { selfSigned: {} },
    })),
  example: {
    issuers: [
      { name: 'letsencrypt', acme: { email: 'ops@example.org' } },
      { name: 'inner', selfSigned: true },
    ],
  },
})
