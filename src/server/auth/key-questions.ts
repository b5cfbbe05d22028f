import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { Declined } from '../api/route.ts'
import type { PageSession } from './key-port.ts'
import type { PendingKey, Sessions } from './sessions.ts'
import { unguessable } from './unguessable.ts'

/** The challenges that a page session has open for a security key. */
interface KeyQuestions {
  ask(purpose: PendingKey['purpose'], place: PageSession, invite?: string): PendingKey
  take(purpose: PendingKey['purpose'], place: PageSession): PendingKey
}

export function createKeyQuestions(sessions: Sessions, clock: Clock): KeyQuestions {
  function ask(purpose: PendingKey['purpose'], { cookie, origin }: PageSession, invite?: string): PendingKey {
    const untilMs = clock.monotonicMs() + LIMITS.securityKeyMs
    const rpId = new URL(origin).hostname
    const pending = { purpose, challenge: unguessable(), origin, rpId, untilMs, ...defined({ invite }) }
    sessions.askKey(cookie, pending)
    return pending
  }

  /** Takes the challenge synchronously, so that of two answers at once only one counts. */
  function take(purpose: PendingKey['purpose'], { cookie, origin }: PageSession): PendingKey {
    const pending = sessions.takeKey(cookie, purpose, clock.monotonicMs())
    if (pending === undefined || pending.origin !== origin)
      throw new Declined(403, 'second-factor', 'Nobody asked this key, or it took too long. Try again.')
    return pending
  }

  return { ask, take }
}
