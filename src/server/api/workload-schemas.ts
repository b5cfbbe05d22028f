import { z } from 'zod'
import { list, ms } from './schema-parts.ts'

const container = z.object({
  name: z.string(),
  image: z.string(),
  state: z.string(),
  ready: z.boolean(),
  restarts: z.number(),
  previous: z.boolean(),
})

const happened = z.object({
  type: z.enum(['Normal', 'Warning']),
  reason: z.string(),
  message: z.string(),
  count: z.number(),
  atMs: ms,
})

const node = z.object({
  id: z.string(),
  parent: z.string().optional(),
  key: z.string().optional(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  state: z.enum(['ok', 'busy', 'bad', 'quiet']),
  status: z.string(),
  createdMs: ms.optional(),
  node: z.string().optional(),
  restarts: z.number().optional(),
  containers: list(container).optional(),
  events: list(happened),
})

/** An add-on with its declarations and the objects that controllers made of them. */
export const addonTree = z.object({
  cluster: z.string(),
  addon: z.string(),
  nodes: list(node),
  notes: list(z.string()),
})

export type AddonTree = z.output<typeof addonTree>
export type TreeNode = z.output<typeof node>
