import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { type Route, route } from './route.ts'
import { me } from './schemas.ts'

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
]
