import { z } from 'zod'

export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly()
export const keySchema = z.string().min(1).max(512)
export const answer = z.enum(['yes', 'no', 'unknown'])
/** Milliseconds: of the epoch where the name ends in `atMs` or `sinceMs`, else how long. */
export const ms = z.number()
export const check = z.object({ name: z.string(), passed: answer, output: z.string(), atMs: ms })
