import { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type CredentialFile, credentialFile } from './credential-file.ts'
import { hashPassword } from './passwords.ts'
import { lookOf } from './provider-name.ts'
import { ROLES, type Role } from './roles.ts'
import { unguessable } from './unguessable.ts'
import { ALGORITHMS } from './webauthn.ts'

/** A security key or passkey (WebAuthn). Nothing in it is secret. */
const securityKey = z.strictObject({
  id: z
    .string()
    .regex(/^[\w-]+$/)
    .max(LIMITS.securityKeyTextLength),
  /** The owner's name for it. */
  name: z.string().min(1).max(64),
  /** The page name it was made for: it does not answer others. */
  rpId: z.string().min(1).max(253),
  publicKey: z.string().max(LIMITS.securityKeyTextLength),
  algorithm: z.literal(ALGORITHMS),
  signCount: z.number().int().nonnegative(),
  addedMs: z.number().int(),
  usedMs: z.number().int().optional(),
})
const keys = z.array(securityKey).max(LIMITS.securityKeys).readonly()
const invite = z.strictObject({ hash: z.string().max(64), untilMs: z.number().int() })

const user = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/),
  role: z.enum(ROLES),
  /** Absent: signs in with OpenID Connect only. */
  password: z.string().startsWith('scrypt$').optional(),
  /** The identity at an OpenID Connect provider. The provider assigns names freely; only this links the two. */
  oidc: z.strictObject({ issuer: z.string().min(1).max(500), subject: z.string().min(1).max(255) }).optional(),
  /** Secret of an authenticator app: its codes are required for grave actions. */
  totp: z
    .string()
    .regex(/^[A-Z2-7]{32}$/)
    .optional(),
  /** Security keys, asked for like a code. */
  keys: keys.optional(),
  /** The hash of the word with which a key may be added, and until when. */
  invite: invite.optional(),
  /** A disabled user cannot sign in, even through a linked provider. */
  disabled: z.boolean().optional(),
  /** Changes with each password, and when a user is removed and created again: old sessions end with it. */
  generation: z.string().default(''),
})
/** A provider's user without an entry here, with the keys that they added. */
const person = z.strictObject({
  issuer: z.string().min(1).max(500),
  subject: z.string().min(1).max(255),
  name: z.string().max(200),
  keys,
  invite: invite.optional(),
  generation: z.string().default(''),
})
const file = z.strictObject({
  users: z.array(user).max(LIMITS.users).readonly(),
  people: z.array(person).max(LIMITS.users).readonly().default([]),
})

export type User = z.output<typeof user>
export type SecurityKey = z.output<typeof securityKey>
export type UsersFile = CredentialFile<z.output<typeof file>>

export function usersFile(path: string): UsersFile {
  return credentialFile(path, file as z.ZodType<z.output<typeof file>>, { users: [], people: [] })
}

export async function findUser(users: UsersFile, name: string): Promise<User | undefined> {
  return (await users.read()).users.find((one) => one.name === name)
}

/** Returns the user with a confusingly similar name, to check a provider's name. */
export async function findAlike(users: UsersFile, name: string): Promise<User | undefined> {
  const look = lookOf(name)
  return (await users.read()).users.find((one) => lookOf(one.name) === look)
}

/** Returns the user that is linked with a provider's identity. */
export async function findLinked(users: UsersFile, who: NonNullable<User['oidc']>): Promise<User | undefined> {
  return (await users.read()).users.find(({ oidc }) => oidc?.issuer === who.issuer && oidc.subject === who.subject)
}

/** Creates a user, or changes the role, password or link of an existing one. A disabled user stays disabled. */
export async function setUser(
  users: UsersFile,
  name: string,
  role: Role,
  password: string | undefined,
  link?: NonNullable<User['oidc']>,
): Promise<void> {
  const hash = password === undefined ? undefined : await hashPassword(password)
  await users.change(({ users: before, people }) => {
    const old = before.find((one) => one.name === name)
    const linked = people.find((one) => one.issuer === link?.issuer && one.subject === link.subject)
    // The provider identity's keys also become the user's, so that both sign-ins ask for them.
    const own = [...(old?.keys ?? []), ...(linked?.keys ?? [])].slice(0, LIMITS.securityKeys)
    const next: User = {
      ...old,
      name,
      role,
      ...defined({ password: hash ?? old?.password, oidc: link ?? old?.oidc }),
      ...(own.length === 0 ? {} : { keys: own }),
      generation: old !== undefined && hash === undefined ? old.generation : unguessable(9),
    }
    return {
      users: [...before.filter((one) => one.name !== name), next],
      people: people.filter((one) => one !== linked),
    }
  })
}

/** Gives a user a secret for an authenticator app, or takes it away. Open sessions end. False: there is no such user. */
export async function setTotp(users: UsersFile, name: string, secret: string | undefined): Promise<boolean> {
  return changeUser(users, name, ({ totp: _, ...rest }) => ({
    ...rest,
    ...defined({ totp: secret }),
  }))
}

/** Ends every session of a user. False: there is no such user. */
export async function endSessions(users: UsersFile, name: string): Promise<boolean> {
  return changeUser(users, name, (user) => user)
}

async function changeUser(users: UsersFile, name: string, change: (user: User) => User): Promise<boolean> {
  if ((await findUser(users, name)) === undefined) return false
  await users.change(({ users: before, people }) => ({
    people,
    users: before.map((one) => (one.name === name ? { ...change(one), generation: unguessable(9) } : one)),
  }))
  return true
}

/** False: there was none. */
export async function removeUser(users: UsersFile, name: string): Promise<boolean> {
  if ((await findUser(users, name)) === undefined) return false
  await users.change(({ users: before, people }) => ({ people, users: before.filter((one) => one.name !== name) }))
  return true
}
