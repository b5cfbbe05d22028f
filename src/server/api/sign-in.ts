import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { Declined, type Route, route } from './route.ts'
import { granted, list, me, session } from './schemas.ts'

export const SIGN_IN: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/sign-in',
    summary: 'Open a session with a name and a password',
    scope: 'read',
    audit: 'name',
    input: z.strictObject({ name: z.string().min(1).max(64), password: z.string().min(1).max(LIMITS.passwordLength) }),
    output: me,
    handle: ({ signIn }, { name, password }) => signIn(name, password),
  }),
  route({
    method: 'POST',
    path: '/api/sign-out',
    summary: 'End the session',
    scope: 'read',
    input: z.strictObject({}),
    output: me,
    handle: ({ signOut }) => signOut(),
  }),
  route({
    method: 'POST',
    path: '/api/second-factor',
    summary: 'Show a code of the authenticator app, before something grave',
    scope: 'read',
    audit: 'name',
    input: z.strictObject({ code: z.string().regex(/^\d{6}$/, { error: 'six digits' }) }),
    output: granted,
    async handle({ showFactor }, { code }) {
      await showFactor(code)
      return { ok: true as const, message: 'The code is right.' }
    },
  }),
  route({
    method: 'GET',
    path: '/api/sessions',
    summary: 'Open sessions: your own, and for an admin all',
    scope: 'read',
    input: z.strictObject({}),
    output: z.object({ sessions: list(session) }),
    handle: ({ sessions }) => ({ sessions: [...sessions()] }),
  }),
  route({
    method: 'POST',
    path: '/api/sessions/end',
    summary: 'End a session',
    scope: 'read',
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
