import { z } from 'zod'
import { Declined, type Route, route } from './route.ts'

/** A certificate with all rights on the cluster: for admins, for a day at most, and never in a log. */
export const KUBECONFIG: Route = route({
  method: 'POST',
  path: '/api/kubeconfig',
  summary: 'A kubeconfig of a cluster, for a limited time; its certificate may do everything there',
  scope: 'admin',
  audit: 'input',
  input: z.strictObject({
    cluster: z.string().min(1).max(256),
    hours: z.number().int().min(1).max(24).default(8),
  }),
  output: z.object({ cluster: z.string(), message: z.string(), yaml: z.string() }),
  async handle({ controller, secondFactor }, { cluster, hours }) {
    await secondFactor()
    const made = await controller.kubeconfigs?.make(cluster, hours * 3_600_000)
    if (made === undefined)
      throw new Declined(
        404,
        'not-found',
        `croft holds no CA of a cluster ${cluster}: it is not declared or not formed yet.`,
      )
    const until = new Date(made.untilMs).toISOString().slice(0, 16).replace('T', ' ')
    return { cluster, message: `Kubeconfig of ${cluster}, good until ${until} UTC.`, yaml: made.yaml }
  },
})
