import { z } from 'zod'
import { jsonIn } from '../../lib/foreign-json.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { changedEstate, type Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Resource } from '../../model/resource.ts'
import type { Granted } from '../../server/port.ts'

interface Revert {
  readonly key: ResourceKey
  readonly seen?: Readonly<Record<string, string>> | undefined
}

/** What people have asked for and what still holds. Kept in the store: a restart must not forget a pause. */
const schema = z.object({
  suspended: z.array(z.string()).default([]),
  /** Drift that is put back whatever the policy says, until it is: as far as it is still what the person saw. */
  reverting: z
    .array(
      z.union([
        z.string().transform((key): Revert => ({ key })),
        z.object({ key: z.string(), seen: z.record(z.string(), z.string()).optional() }),
      ]),
    )
    .default([]),
  approvals: z.array(z.object({ by: z.string(), keys: z.array(z.string()), expiresMs: z.number() })).default([]),
})

export type ActiveWishes = z.output<typeof schema>

const NO_WISHES: ActiveWishes = { suspended: [], reverting: [], approvals: [] }

/** The wishes as they were kept. What cannot be read counts as none: a wish is asked for again, a truth is not. */
export function readWishes(text: string | undefined): ActiveWishes {
  return schema.safeParse(jsonIn(text ?? '')).data ?? NO_WISHES
}

/** Takes out what is over: approvals that have expired, drifts that are gone. Pure. */
export function currentWishes(
  wishes: ActiveWishes,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  nowMs: number,
): ActiveWishes {
  const approvals = wishes.approvals.filter((approval) => approval.expiresMs > nowMs)
  const reverting = wishes.reverting.filter(({ key }) => records.get(key)?.driftSinceMs !== undefined)
  const same = approvals.length === wishes.approvals.length && reverting.length === wishes.reverting.length
  return same ? wishes : { ...wishes, approvals, reverting }
}

/** The estate as Git declares it and as people have asked for it to be treated meanwhile. Pure. */
export function withWishes(estate: Estate, wishes: ActiveWishes, nowMs: number): Estate {
  const approvals = wishes.approvals.filter((approval) => approval.expiresMs > nowMs)
  if (wishes.suspended.length + wishes.reverting.length + approvals.length === 0) return estate
  const suspended = new Set(wishes.suspended)
  const approved = new Set(approvals.flatMap((approval) => approval.keys))
  const treat = (resource: Resource): Resource => {
    const pause = suspended.has(resource.key)
    const allow = approved.has(resource.key)
    if (!pause && !allow) return resource
    return {
      ...resource,
      policy: {
        ...resource.policy,
        ...(pause ? { paused: true } : {}),
        ...(allow ? { drift: 'correct' as const, replace: 'allowed' as const } : {}),
      },
    }
  }
  return changedEstate(estate, (whole) => ({
    ...whole,
    resources: whole.resources.map(treat),
    reverts: new Map(wishes.reverting.map(({ key, seen }) => [key, seen])),
    approvals: [
      ...whole.approvals,
      ...approvals.map(({ by, keys, expiresMs }) => ({
        name: by,
        deletes: keys,
        expiresMs,
        origin: { file: by, line: 1, column: 1 },
      })),
    ],
  }))
}

export function refused(reason: Exclude<Granted, { ok: true }>['reason'], message: string): Granted {
  return { ok: false, reason, message }
}
