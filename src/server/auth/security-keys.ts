import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { fingerprintOf, sameSecret, unguessable } from './unguessable.ts'
import type { SecurityKey, User, UsersFile } from './users.ts'

/* Security keys of people: of a user in the file, and of a user of an OpenID Connect provider. */

/** The owner of keys. The name identifies only users of the file. */
export type KeyOwner =
  | { readonly user: string }
  | { readonly issuer: string; readonly subject: string; readonly name: string }

/** The stored keys of a person. */
export interface Holder {
  readonly keys: readonly SecurityKey[]
  readonly invite?: NonNullable<User['invite']>
}

type Users = Awaited<ReturnType<UsersFile['read']>>

export async function holderOf(users: UsersFile, person: KeyOwner): Promise<Holder> {
  return holderIn(await users.read(), person)
}

/** Returns the generation of this person's valid OpenID Connect sessions. */
export async function generationOf(users: UsersFile, person: KeyOwner): Promise<string> {
  return 'user' in person ? '' : (personIn(await users.read(), person)?.generation ?? '')
}

/** Changes the keys of a person. An edit that throws changes nothing. */
export async function changeHolder(
  users: UsersFile,
  person: KeyOwner,
  edit: (holder: Holder, all: Users) => Holder,
  endSessions = false,
): Promise<void> {
  await users.change((all) => {
    const { keys, invite } = edit(holderIn(all, person), all)
    const held = { ...(keys.length === 0 ? {} : { keys }), ...defined({ invite }) }
    const generation = endSessions ? { generation: unguessable(9) } : {}
    if ('user' in person) {
      const without = ({ keys: _keys, invite: _invite, ...rest }: User): User => rest
      const next = all.users.map((one) =>
        one.name === person.user ? { ...without(one), ...held, ...generation } : one,
      )
      return { ...all, users: next }
    }
    const { issuer, subject, name } = person
    const old = personIn(all, person)
    const one = { issuer, subject, name, keys: [], generation: old?.generation ?? '', ...held, ...generation }
    const others = all.people.filter((other) => other !== old)
    const isEmpty = one.keys.length === 0 && invite === undefined && one.generation === ''
    return { ...all, people: isEmpty ? others : [...others, one] }
  })
}

/** A word with which a person may add a key, once, within a day. */
export async function inviteToKeys(users: UsersFile, person: KeyOwner, nowMs: number): Promise<string> {
  const word = unguessable(15)
  const invite = { hash: fingerprintOf(word), untilMs: nowMs + LIMITS.keyInviteMs }
  await changeHolder(users, person, (holder) => ({ ...holder, invite }))
  return word
}

export function isInvited({ invite }: Holder, word: string, nowMs: number): boolean {
  return invite !== undefined && invite.untilMs > nowMs && sameSecret(fingerprintOf(word), invite.hash)
}

/** Reports whether a key with this id exists. */
export function isTaken({ users, people }: Users, id: string): boolean {
  return [...users, ...people].some(({ keys }) => keys?.some((one) => one.id === id) === true)
}

function holderIn(all: Users, person: KeyOwner): Holder {
  const found = 'user' in person ? all.users.find(({ name }) => name === person.user) : personIn(all, person)
  return { keys: found?.keys ?? [], ...defined({ invite: found?.invite }) }
}

function personIn({ people }: Users, { issuer, subject }: { readonly issuer: string; readonly subject: string }) {
  return people.find((one) => one.issuer === issuer && one.subject === subject)
}
