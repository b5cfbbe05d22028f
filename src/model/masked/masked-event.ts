import type { CroftEvent, NewEvent } from '../record.ts'
import { maskMessage } from './secret-text.ts'

/** Returns an event without secrets in quoted foreign messages. Pure. */
export function maskEvent<Told extends CroftEvent | NewEvent>(event: Told): Told {
  const message = maskMessage(event.message)
  const call = event.cause?.call === undefined ? undefined : maskMessage(event.cause.call)
  if (message === event.message && call === event.cause?.call) return event
  return { ...event, message, ...(call === undefined ? {} : { cause: { ...event.cause, call } }) }
}
