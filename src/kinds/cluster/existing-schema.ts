import { z } from 'zod'
import { secretReference } from '../fields/ssh.ts'
import { matching } from '../fields/text.ts'

/** What only a cluster has that croft does not run: the way to its API, and what charts may assume of it. */
export const existingFields = {
  type: z.enum(['k3s', 'existing']).default('k3s'),
  /** A secret whose value is a kubeconfig. */
  kubeconfig: secretReference.optional(),
  /** Without it the current context of the kubeconfig. */
  context: matching(
    /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9@:._/+-]*$/,
    'the name of a context, like admin@prod',
    253,
  ).optional(),
  /** The cluster that croft itself runs in, with the service account of its pod. */
  inCluster: z.literal(true).optional(),
  charts: z
    .strictObject({
      kubeVersion: matching(/^v?1\.[0-9]+\.[0-9]+$/, 'a version of Kubernetes like 1.34.3', 40).optional(),
      apiVersions: z
        .array(matching(/^[a-z0-9.-]+(?:\/[A-Za-z0-9]+){1,2}$/, 'like monitoring.coreos.com/v1', 200))
        .max(100)
        .default([]),
    })
    .optional(),
}
