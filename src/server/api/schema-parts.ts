import { z } from 'zod'

export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly()
/** A key in an answer. Without a limit: an unexpectedly long one would fail the whole answer. */
export const shownKey = z.string()
/** A key that comes in. `Addon/name@Kind.group/namespace/name` has 895 characters at most. */
export const keySchema = z.string().min(1).max(1_024)
export const answer = z.enum(['yes', 'no', 'unknown'])
/** Milliseconds: of the epoch where the name ends in `atMs` or `sinceMs`, else how long. */
export const ms = z.number()
export const check = z.object({ name: z.string(), passed: answer, output: z.string(), atMs: ms })
