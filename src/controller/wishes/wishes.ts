import { z } from 'zod'
import type { PassReport } from '../../engine/engine.ts'
import { jsonIn } from '../../lib/foreign-json.ts'
import type { Consent } from '../../model/consent.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { changedEstate, type Estate } from '../../model/estate.ts'
import { isDoing, type PlanEntry } from '../../model/plan.ts'
import type { Resource } from '../../model/resource.ts'
import type { Granted } from '../../server/port.ts'

/** Active wishes of people. Kept in the store: a restart must not forget a pause. */
const schema = z.object({
  suspended: z.array(z.string()).default([]),
  consents: z
    .array(
      z.object({
        by: z.string(),
        key: z.string(),
        guard: z.string(),
        shown: z.array(z.string()).readonly().optional(),
        expiresMs: z.number().optional(),
        opened: z.boolean().optional(),
      }),
    )
    .readonly()
    .default([]),
})

export type ActiveWishes = z.output<typeof schema>

const NO_WISHES: ActiveWishes = { suspended: [], consents: [] }

/** Returns the wishes as they were kept. Wishes that cannot be read count as none: a person can ask again. */
export function readWishes(text: string | undefined): ActiveWishes {
  return schema.safeParse(jsonIn(text ?? '')).data ?? NO_WISHES
}

/** Returns the wishes without the consents that are over. Pure. */
export function currentWishes(
  wishes: ActiveWishes,
  { plan, records }: Pick<PassReport, 'plan' | 'records'>,
  nowMs: number,
): ActiveWishes {
  if (wishes.consents.length === 0) return wishes
  const entries = new Map(plan.entries.map((entry) => [entry.key, entry]))
  const known = new Set(records.map(({ key }) => key))
  const consents = wishes.consents.filter((one) => !isOver(one, entries.get(one.key), known, nowMs))
  return consents.length === wishes.consents.length ? wishes : { ...wishes, consents }
}

/** A consent ends when its time is up before its first call, or when the plan has no use for it any more. */
function isOver(
  consent: Consent,
  entry: PlanEntry | undefined,
  known: ReadonlySet<ResourceKey>,
  nowMs: number,
): boolean {
  if (hasExpired(consent, nowMs)) return true
  // Without an entry, the resource is gone or its connection is unreadable; only in the latter case its record stays.
  if (entry === undefined) return !known.has(consent.key)
  const { action, consents = [] } = entry
  if (action.do === 'nothing' || action.do === 'forget') return true
  return isDoing(action) && !consents.some(({ guard }) => guard === consent.guard)
}

function hasExpired({ opened, expiresMs }: Consent, nowMs: number): boolean {
  return opened !== true && expiresMs !== undefined && expiresMs <= nowMs
}

/** Marks consents as used: they then end with their attempt, not by the clock. Pure. */
export function opened(wishes: ActiveWishes, used: readonly Consent[]): ActiveWishes {
  const isUsed = (one: Consent) => used.some(({ key, guard }) => key === one.key && guard === one.guard)
  if (!wishes.consents.some((one) => one.opened !== true && isUsed(one))) return wishes
  return { ...wishes, consents: wishes.consents.map((one) => (isUsed(one) ? { ...one, opened: true } : one)) }
}

/** Returns the wishes with more consents; a later one for the same resource and guard takes the place of an earlier one. */
export function consenting({ consents, ...rest }: ActiveWishes, more: readonly Consent[]): ActiveWishes {
  const isNew = new Set(more.map(({ key, guard }) => `${guard} ${key}`))
  const others = consents.filter(({ key, guard }) => !isNew.has(`${guard} ${key}`))
  return { ...rest, consents: [...others, ...more] }
}

/** The estate as Git declares it and as people have asked for it to be treated meanwhile. Pure. */
export function withWishes(estate: Estate, wishes: ActiveWishes, nowMs: number): Estate {
  const consents = wishes.consents.filter((one) => !hasExpired(one, nowMs))
  if (wishes.suspended.length + consents.length === 0) return estate
  const suspended = new Set(wishes.suspended)
  const treat = (resource: Resource): Resource =>
    suspended.has(resource.key) ? { ...resource, policy: { ...resource.policy, paused: true } } : resource
  return changedEstate(estate, (whole) => ({ ...whole, resources: whole.resources.map(treat), consents }))
}

export function refused(reason: Exclude<Granted, { ok: true }>['reason'], message: string): Granted {
  return { ok: false, reason, message }
}
