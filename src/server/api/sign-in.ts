import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { ON_THE_PAGE } from './rights.ts'
import { Declined, get, post, type Route } from './route.ts'
import { granted, list, me, session } from './schemas.ts'

export const SIGN_IN: readonly Route[] = [
  post('/api/sign-in', 'Open a session with a name and a password', {
    audit: 'name',
    input: z.strictObject({ name: z.string().min(1).max(64), password: z.string().min(1).max(LIMITS.passwordLength) }),
    output: me,
    handle: ({ signIn }, { name, password }) => signIn(name, password),
  }),
  post('/api/sign-out', 'End the session', {
    output: me,
    handle: ({ signOut }) => signOut(),
  }),
  post('/api/second-factor', 'Show a code of the authenticator app, before something grave', {
    session: ON_THE_PAGE,
    audit: 'name',
    input: z.strictObject({ code: z.string().regex(/^\d{6}$/, { error: 'six digits' }) }),
    output: granted,
    async handle({ showFactor }, { code }) {
      await showFactor(code)
      return { ok: true as const, message: 'The code is right.' }
    },
  }),
  get('/api/sessions', 'Open sessions: your own, and for an admin all', {
    input: z.strictObject({}),
    output: z.object({ sessions: list(session) }),
    handle: ({ sessions }) => ({ sessions: [...sessions()] }),
  }),
  post('/api/sessions/end', 'End a session', {
    audit: 'input',
    input: z.strictObject({ id: z.string().min(1).max(64) }),
    output: granted,
    handle({ sessions, endSession }, { id }) {
      if (!sessions().some((one) => one.id === id)) throw new Declined(404, 'not-found', 'There is no such session.')
      endSession(id)
      return { ok: true as const, message: 'The session has ended.' }
    },
  }),
]
