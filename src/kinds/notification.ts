import { z } from 'zod'
import { type NotificationSpec, TROUBLE_SORTS } from '../model/notification.ts'
import { CHANNELS } from './channels/registry.ts'
import { croftKind } from './fields/croft-kind.ts'
import { duration, milliseconds } from './fields/duration.ts'
import { line } from './fields/text.ts'
import { exactlyOne } from './fields/validations.ts'

const NAMES = CHANNELS.map(({ name }) => name)

const schema = exactlyOne(
  {
    description: line.optional(),
    about: z.array(z.enum(TROUBLE_SORTS)).max(TROUBLE_SORTS.length).default([]),
    after: duration.default('30s'),
    ...Object.fromEntries(CHANNELS.map(({ name, schema: fields }) => [name, fields.optional()])),
  },
  NAMES,
)

type WrittenNotification = z.output<typeof schema>

function chosen(spec: Readonly<Record<string, unknown>>) {
  return CHANNELS.filter(({ name }) => spec[name] !== undefined)
}

/** Receivers of notices about troubles and their end. */
export const notification = croftKind<WrittenNotification>({
  kind: 'Notification',
  plural: 'notifications',
  shortNames: [],
  summary: 'Whom to tell when something is wrong, and when it is over again.',
  schema,
  expand: () => ({ role: 'fact' }),
})

/** Converts a declaration for the controller. */
export function notificationSpec(written: unknown): NotificationSpec {
  const spec = written as WrittenNotification & Readonly<Record<string, unknown>>
  const [channel] = chosen(spec)
  return { about: spec.about, afterMs: milliseconds(spec.after), to: channel?.receiver(spec[channel.name]) ?? {} }
}
