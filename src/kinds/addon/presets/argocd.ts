import { z } from 'zod'
import { dnsName, line, logicalName, webUrl } from '../../fields/text.ts'
import { preset } from './preset.ts'

/** Argo CD, with the projects that Applications belong to. */
export const argocd = preset({
  name: 'argocd',
  about: 'Argo CD, with its projects; what is handed over to it needs this add-on.',
  version: '10.1.1',
  namespace: 'argocd',
  fields: z.strictObject({
    host: dnsName.optional(),
    projects: z
      .array(
        z.strictObject({
          name: logicalName,
          description: line.optional(),
          repositories: z.array(webUrl).min(1),
          namespaces: z.array(logicalName).default([]),
        }),
      )
      .default([]),
  }),
  chart: ({ host }) => ({
    repo: 'https://argoproj.github.io/argo-helm',
    name: 'argo-cd',
    values: { ...(host === undefined ? {} : { global: { domain: host } }), dex: { enabled: false } },
  }),
  objects: ({ projects }, { namespace }) =>
    projects.map(({ name, description, repositories, namespaces }) => ({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'AppProject',
      metadata: { name, namespace },
      spec: {
        ...(description === undefined ? {} : { description }),
        sourceRepos: repositories,
        destinations: (namespaces.length === 0 ? ['*'] : namespaces).map((one) => ({
          server: 'https://kubernetes.default.svc',
          namespace: one,
        })),
        clusterResourceWhitelist: [{ group: '*', kind: '*' }],
      },
    })),
  example: {
    host: 'argocd.home.arpa',
    projects: [{ name: 'apps', repositories: ['https://git.example.org/home/apps'] }],
  },
})
