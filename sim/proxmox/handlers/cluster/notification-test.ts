import { failed } from '../../api-error.ts'
import type { Call } from '../../call.ts'
import { listOf, type Thing, textOf } from '../shelf.ts'

/** At its own addresses nothing answers on a host here; whatever is elsewhere takes what it is sent. */
const OWN = /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)(?::\d+)?(?:\/|$)/

/** Sends a message to a target, whether it is disabled or not. Answers nothing, or says why that failed. */
export function sendTest(call: Call, kind: string, id: string, thing: Thing): null {
  const why = complaintOfSending(call, kind, thing)
  if (why === undefined) return null
  // What a webhook says may hold a secret: only the plain text of it is kept, without the name before it.
  throw failed(`Could not test target: ${kind === 'webhook' ? '' : `could not notify via endpoint(s): ${id}: `}${why}`)
}

function complaintOfSending(call: Call, kind: string, thing: Thing): string | undefined {
  if (kind === 'sendmail')
    return recipients(call, thing).length === 0 ? 'no recipients provided for the mail, cannot send it.' : undefined
  if (kind === 'smtp') {
    if (thing.username !== undefined && thing.password === undefined)
      return 'username is set but no password was provided'
    return OWN.test(textOf(thing.server)) ? 'Connection error: Connection refused (os error 111)' : undefined
  }
  return OWN.test(textOf(kind === 'webhook' ? thing.url : thing.server)) ? 'io: Connection refused' : undefined
}

/** Addresses, and those of the users that have one. */
function recipients(call: Call, thing: Thing): string[] {
  const users = listOf(thing['mailto-user']).map((user) => textOf(call.world.access.users.get(user)?.details.email))
  return [...listOf(thing.mailto), ...users.filter((address) => address !== '')]
}
