import { z } from 'zod'
import { logicalName, webUrl } from '../../fields/text.ts'
import { preset } from './preset.ts'

/** Flux, with the repositories that it follows. */
export const flux = preset({
  name: 'flux',
  about: 'Flux, with the repositories that it follows.',
  version: '2.18.3',
  namespace: 'flux-system',
  fields: z.strictObject({
    repositories: z
      .array(
        z.strictObject({
          name: logicalName,
          url: webUrl,
          branch: logicalName.default('main'),
          /** Secret of the add-on with username and password, or the key. */
          secret: logicalName.optional(),
        }),
      )
      .default([]),
  }),
  chart: () => ({
    repo: 'https://fluxcd-community.github.io/helm-charts',
    name: 'flux2',
    // Everything that Flux keeps is of kinds that this chart defines: they stay when it goes.
    values: { crds: { annotations: { 'helm.sh/resource-policy': 'keep' } } },
  }),
  objects: ({ repositories }, { namespace }) =>
    repositories.map(({ name, url, branch, secret }) => ({
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { name, namespace },
      spec: { interval: '1m', url, ref: { branch }, ...(secret === undefined ? {} : { secretRef: { name: secret } }) },
    })),
  example: { repositories: [{ name: 'home', url: 'https://git.example.org/home/apps' }] },
})
