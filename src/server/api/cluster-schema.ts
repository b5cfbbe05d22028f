import { z } from 'zod'
import { answer, check, list, ms, shownKey } from './schema-parts.ts'

const hold = z.object({ node: z.string().optional(), guard: z.string(), reason: z.string(), allow: z.string() })

export const cluster = z.object({
  key: shownKey,
  name: z.string(),
  version: z.string(),
  endpoint: z.string(),
  quorumMargin: z.union([z.number(), z.literal('unknown')]),
  unseenSinceMs: ms.optional(),
  operation: z.object({ name: z.string(), step: z.string(), sinceMs: ms, stopped: z.boolean() }).optional(),
  phase: z.string(),
  api: answer,
  faultTolerance: z.string(),
  hops: list(z.string()),
  warnings: list(z.string()),
  rolloutPaused: z.boolean(),
  steps: list(
    z.object({
      do: z.string(),
      node: z.string().optional(),
      summary: z.string(),
      reason: z.string(),
      awaits: z.string(),
      lane: z.string(),
      sinceMs: ms,
    }),
  ),
  waits: list(z.object({ node: z.string().optional(), awaits: z.string(), sinceMs: ms, untilMs: ms.optional() })),
  holds: list(hold),
  refusals: list(hold),
  nodes: list(
    z.object({
      name: z.string(),
      role: z.enum(['server', 'agent']),
      phase: z.string(),
      message: z.string(),
      power: z.enum(['on', 'off', 'unknown']),
      ready: answer,
      readySinceMs: ms.optional(),
      version: z.string().optional(),
      unschedulable: z.boolean(),
      work: z.object({ purpose: z.string(), target: z.string(), sinceMs: ms }).optional(),
      podsToMove: z.number().optional(),
      drainBlockedBy: z.string().optional(),
      addresses: list(z.string()),
    }),
  ),
  members: z.union([
    z.literal('unknown'),
    list(
      z.object({
        id: z.string(),
        name: z.string(),
        node: z.string(),
        learner: z.boolean(),
        up: answer,
        leader: z.boolean(),
        etcd: z.string().optional(),
      }),
    ),
  ]),
  snapshots: z.union([
    z.literal('unknown'),
    list(z.object({ name: z.string(), atMs: ms, usable: answer, bytes: z.number().optional() })),
  ]),
  checks: list(check),
})
