import { z } from 'zod'
import { list, ms, shownKey } from './schema-parts.ts'

const hold = z.object({
  tier: z.string().optional(),
  guard: z.string(),
  reason: z.string(),
  allow: z.string(),
  sinceMs: ms.optional(),
  untilMs: ms.optional(),
})
const energyOfDay = z.object({ dayMs: ms, estimatedWh: z.number(), measuredWh: z.number().optional() })

const tier = z.object({
  tier: z.string(),
  state: z.enum(['done', 'doing', 'todo']),
  progress: z.string(),
  awaits: z.string(),
})
const state = z.enum(['on', 'off'])
const seen = z.enum(['on', 'off', 'unknown'])

/** A cluster or site that is switched off and on: its tiers in order, with what each waits for. */
export const power = z.object({
  key: shownKey,
  name: z.string(),
  cluster: z.string().optional(),
  phase: z.enum(['On', 'PoweringOff', 'Off', 'PoweringOn', 'Held', 'Unknown']),
  wanted: z.object({ state, sinceMs: ms, why: z.string() }),
  tiers: list(tier),
  doing: list(z.string()),
  waits: list(
    z.object({ tier: z.string(), what: z.string(), awaits: z.string(), waitedMs: ms, leftMs: ms.optional() }),
  ),
  holds: list(hold),
  refusals: list(hold),
  warnings: list(z.string()),
  asleep: list(z.string()),
  watts: z.object({ estimated: z.number(), measured: z.number().optional() }),
  energy: energyOfDay.extend({ yesterday: energyOfDay.optional() }).optional(),
  next: z.object({ state, atMs: ms }).optional(),
  schedule: z
    .object({
      timeZone: z.string(),
      off: list(z.string()),
      on: list(z.string()),
      except: list(z.string()),
    })
    .optional(),
  held: list(z.object({ by: z.string(), why: z.string(), sinceMs: ms, untilMs: ms })),
  hosts: list(
    z.object({
      name: z.string(),
      power: seen,
      level: z.number(),
      wokenBy: z.enum(['Wake-on-LAN', 'management controller']).optional(),
      own: z.boolean(),
      watts: z.number().optional(),
      strangers: list(z.string()),
    }),
  ),
  onDemand: list(z.object({ node: z.string(), power: seen, wanting: list(z.string()) })),
  idleMs: ms,
  ups: z
    .object({
      name: z.string(),
      state: z.enum(['mains', 'battery', 'unknown']),
      charge: z.number().optional(),
      low: z.boolean().optional(),
      watts: z.number().optional(),
      levels: list(z.object({ below: z.number(), level: z.number() })),
    })
    .optional(),
})

/** The plan for switching now. */
export const powerPlan = z.object({
  state,
  tiers: list(tier),
  holds: list(hold),
  refusals: list(hold),
  warnings: list(z.string()),
  first: list(z.string()),
})
