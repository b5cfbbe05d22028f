import { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Scope } from '../auth/roles.ts'
import type { Wish } from '../port.ts'
import type { FurtherRight } from './rights.ts'
import { type Context, Declined, type Route, route } from './route.ts'
import { granted, keySchema, list } from './schemas.ts'

// The wishes of people, one per wish of the controller's port; only this file says which right each needs.

const STATUS_OF = { 'not-found': 404, conflict: 409, refused: 422 } as const
/** Orders that cannot be taken back. */
const GRAVE = ['replace', 'remove-member', 'abort']

/** Reports whether a wish needs a second factor, if the caller has one. */
function isGrave(wish: Wish): boolean {
  if (wish.wish === 'approve') return true
  if (wish.wish === 'power') return wish.order === 'off'
  return wish.wish === 'cluster' && GRAVE.includes(wish.order)
}

async function ask({ controller, actor, secondFactor }: Context, wish: Wish) {
  if (isGrave(wish)) await secondFactor()
  const answer = await controller.ask(wish, actor)
  if (!answer.ok) throw new Declined(STATUS_OF[answer.reason], answer.reason, answer.message)
  return answer
}

function wish<I extends z.ZodObject>(
  name: string,
  summary: string,
  scope: Scope,
  input: I,
  make: (given: z.output<I>, context: Context) => Wish,
  raises: readonly FurtherRight<z.output<I>>[] = [],
): Route {
  return route({
    method: 'POST',
    path: `/api/wishes/${name}`,
    summary,
    scope,
    audit: 'input',
    input,
    output: granted,
    raises,
    handle: (context, given) => ask(context, make(given, context)),
  })
}

export const WISHES: readonly Route[] = [
  wish(
    'reconcile',
    'Look at everything, or at one resource, now',
    'operate',
    z.strictObject({ key: keySchema.optional() }),
    ({ key }) => ({ wish: 'reconcile', ...defined({ key }) }),
  ),
  wish(
    'approve',
    'Let held actions pass, for a limited time',
    'approve',
    z.strictObject({
      keys: list(keySchema).refine((keys) => keys.length > 0 && keys.length <= LIMITS.listPage, 'name at least one'),
      /** By key, the name of the list that was shown. If the held list has changed since, nothing is approved. */
      seen: z.record(keySchema, z.string().max(64)).optional(),
      forMs: z.number().int().min(60_000).max(LIMITS.approvalMs).default(3_600_000),
    }),
    ({ keys, forMs, seen }, { clock }) => ({
      wish: 'approve',
      keys,
      expiresMs: clock.now() + forMs,
      ...defined({ seen }),
    }),
  ),
  wish('suspend', 'Leave a resource alone', 'operate', z.strictObject({ key: keySchema }), ({ key }) => ({
    wish: 'suspend',
    key,
  })),
  wish('resume', 'Take care of a resource again', 'operate', z.strictObject({ key: keySchema }), ({ key }) => ({
    wish: 'resume',
    key,
  })),
  wish(
    'adopt-drift',
    'Make Git agree with the world, by a commit on a branch',
    'operate',
    z.strictObject({ key: keySchema, fields: list(z.string().min(1).max(512)) }),
    ({ key, fields }) => ({ wish: 'adopt-drift', key, fields }),
  ),
  wish('revert-drift', 'Make the world agree with Git', 'operate', z.strictObject({ key: keySchema }), ({ key }) => ({
    wish: 'revert-drift',
    key,
  })),
  wish(
    'cluster',
    'Pause, resume or abort a rollout, replace a node, remove an etcd member, take a snapshot',
    'operate',
    z.strictObject({
      cluster: z.string().min(1).max(256),
      order: z.enum(['pause', 'resume', 'abort', 'replace', 'remove-member', 'snapshot']),
      node: z.string().max(256).optional(),
      member: z.string().max(64).optional(),
    }),
    ({ cluster, order, node, member }) => ({ wish: 'cluster', cluster, order, ...defined({ node, member }) }),
    GRAVE.map((grave) => ({ when: `order ${grave}`, scope: 'admin', applies: ({ order }) => order === grave })),
  ),
  wish(
    'power',
    'Put something to sleep, wake it, or keep it as it is for a while',
    'power',
    z.strictObject({
      target: z.string().min(1).max(256),
      order: z.enum(['off', 'on', 'hold', 'release']),
      reason: z.string().max(500).optional(),
      untilMs: z.number().int().positive().optional(),
      ignoreHolds: z.boolean().optional(),
    }),
    ({ target, order, reason, untilMs, ignoreHolds }) => ({
      wish: 'power',
      target,
      order,
      ...defined({ reason, untilMs, ignoreHolds }),
    }),
    [{ when: 'ignoreHolds', scope: 'admin', applies: ({ ignoreHolds }) => ignoreHolds === true }],
  ),
]
