import type { z } from 'zod'
import type { Receiver } from '../../model/notification.ts'
import { matching } from '../fields/text.ts'

/** One channel for notices: its fields in a Notification, and the request it sends. Pure. */
export interface Channel {
  /** The field of a Notification: `ntfy`. */
  readonly name: string
  readonly schema: z.ZodType
  readonly texts: ChannelTexts
  readonly receiver: (written: unknown) => Receiver
}

/** Short plain sentences for `croft explain` and the schema. */
interface ChannelTexts {
  /** The request it sends. */
  readonly sends: string
  readonly fields?: Readonly<Record<string, string>>
  /** Fields that refer to a secret. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** A channel whose receiver is made of exactly what its schema accepts. */
export function channel<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  texts: ChannelTexts,
  receiver: (written: z.output<Schema>) => Receiver,
): Channel {
  return { name, schema, texts, receiver: (written) => receiver(written as z.output<Schema>) }
}

export const url = matching(
  /^https?:\/\/[^\s@]+$/,
  'an address that begins with https:// (or http://), without user or password',
  1000,
)
