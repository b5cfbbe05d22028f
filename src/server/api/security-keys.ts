import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { ON_THE_PAGE } from './rights.ts'
import { get, post, type Route } from './route.ts'
import { factorsToShow, granted, keyToMake, list, securityKey } from './schemas.ts'

/** Bytes in base64url. */
const bytes = z
  .string()
  .regex(/^[\w-]+$/, { error: 'base64url' })
  .max(LIMITS.securityKeyTextLength)

/** The caller's security keys: only a session on the page has any. */
export const SECURITY_KEYS: readonly Route[] = [
  post('/api/second-factor/begin', 'Which second factors you can show, and what to ask a security key', {
    session: ON_THE_PAGE,
    output: factorsToShow,
    handle({ keys }) {
      const { desk, place } = keys()
      return desk.beginShowing(place)
    },
  }),
  post('/api/second-factor/key', 'Show the answer of a security key, before something grave', {
    session: ON_THE_PAGE,
    audit: 'name',
    input: z.strictObject({ id: bytes, clientData: bytes, authenticatorData: bytes, signature: bytes }),
    output: granted,
    async handle({ keys }, given) {
      const { desk, place } = keys()
      await desk.show(place, given)
      return { ok: true as const, message: 'The key is right.' }
    },
  }),
  get('/api/keys', 'Your security keys', {
    input: z.strictObject({}),
    output: z.object({ keys: list(securityKey) }),
    handle: async ({ ownKeys }) => ({ keys: await ownKeys() }),
  }),
  post('/api/keys/begin', 'What to give to a browser to make a security key', {
    session: ON_THE_PAGE,
    audit: 'name',
    input: z.strictObject({ invite: z.string().min(1).max(64).optional() }),
    output: keyToMake,
    handle({ keys }, { invite }) {
      const { desk, place } = keys()
      return desk.beginAdding(place, invite)
    },
  }),
  post('/api/keys/add', 'Add a security key that a browser has made', {
    session: ON_THE_PAGE,
    audit: 'name',
    input: z.strictObject({
      name: z
        .string()
        .trim()
        .regex(/^[^\p{C}]{1,64}$/u, { error: 'one line of at most 64 characters' }),
      id: bytes,
      clientData: bytes,
      attestation: bytes,
    }),
    output: granted,
    async handle({ keys }, { name, ...given }) {
      const { desk, place } = keys()
      await desk.add(place, name, given)
      return { ok: true as const, message: `The key "${name}" is yours.` }
    },
  }),
  post('/api/keys/remove', 'Remove one of your security keys', {
    session: ON_THE_PAGE,
    audit: 'input',
    input: z.strictObject({ id: bytes }),
    output: granted,
    async handle({ keys, secondFactor }, { id }) {
      const { desk, place } = keys()
      await secondFactor()
      await desk.remove(place.cookie, id)
      return { ok: true as const, message: 'The key is removed.' }
    },
  }),
]
