import { Declined } from '../api/route.ts'
import { type KeyDeskParts, personOf } from './key-desk.ts'
import { holderOf } from './security-keys.ts'
import { totpStep } from './totp.ts'
import { findUser } from './users.ts'

export interface SecondFactors {
  /** Reports which second factor the session still owes before a grave action. A program with a token owes none. */
  owesFactor(cookie: string | undefined): Promise<'none' | 'factor' | 'device'>
  /** Takes a code for this session. */
  showFactor(cookie: string, code: string): Promise<void>
}

export function createSecondFactors({ clock, users, sessions, needsFactor, rate }: KeyDeskParts): SecondFactors {
  /** The newest step of time whose code a user has shown: no code counts twice. */
  const shown = new Map<string, number>()

  return {
    async owesFactor(cookie) {
      if (cookie === undefined) return 'none'
      const session = sessions.find(cookie, clock.monotonicMs())
      if (session === undefined) return 'none'
      if (sessions.hasFactor(cookie, clock.monotonicMs())) return 'none'
      const user = users === undefined ? undefined : await findUser(users, session.user)
      const keys = users === undefined ? [] : (await holderOf(users, personOf(session))).keys
      // A key for another name of this page is owed too: the caller chooses the name they come by.
      if (user?.totp !== undefined || keys.length > 0) return 'factor'
      return needsFactor ? 'device' : 'none'
    },
    async showFactor(cookie, code) {
      const session = sessions.find(cookie, clock.monotonicMs())
      const user = session === undefined || users === undefined ? undefined : await findUser(users, session.user)
      if (user?.totp === undefined) throw new Declined(422, 'refused', 'You have no authenticator app here.')
      if (!rate.take(user.name, clock.monotonicMs()))
        throw new Declined(429, 'too-many', 'Too many attempts. Wait a minute.')
      const step = totpStep(user.totp, code, clock.now(), shown.get(user.name) ?? 0)
      if (step !== undefined) shown.set(user.name, step)
      sessions.showFactor(cookie, step !== undefined, clock.monotonicMs())
      if (step === undefined)
        throw new Declined(403, 'second-factor', 'This is not the code of your authenticator app now, or it was used.')
    },
  }
}
