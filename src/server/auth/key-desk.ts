import { isIP } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { shellQuoted } from '../../lib/shell-quoted.ts'
import { Declined } from '../api/route.ts'
import { UnusableCredentials } from './credential-file.ts'
import type { KeyDesk } from './key-port.ts'
import { createKeyQuestions } from './key-questions.ts'
import type { Rate } from './rate.ts'
import { changeHolder, type Holder, holderOf, isInvited, isTaken, type KeyOwner } from './security-keys.ts'
import type { Sessions, SignedIn } from './sessions.ts'
import { fingerprintOf } from './unguessable.ts'
import { findUser, type UsersFile } from './users.ts'
import { ALGORITHMS, judgeAnswer, judgeNewKey } from './webauthn.ts'

export interface KeyDeskParts {
  readonly clock: Clock
  readonly users: UsersFile | undefined
  readonly sessions: Sessions
  readonly needsFactor: boolean
  /** Tries of one person, in all sessions. */
  readonly rate: Rate
}

export function personOf({ source, user, who }: SignedIn): KeyOwner {
  return source === 'oidc' && who !== undefined ? { ...who, name: user } : { user }
}

export function createKeyDesk({ clock, users, sessions, needsFactor, rate }: KeyDeskParts): KeyDesk {
  const questions = createKeyQuestions(sessions, clock)

  function ownerOf(cookie: string): {
    readonly file: UsersFile
    readonly session: SignedIn
    readonly person: KeyOwner
  } {
    const session = sessions.find(cookie, clock.monotonicMs())
    if (session === undefined) throw new Declined(401, 'unauthorized', 'Sign in to do this.')
    if (users === undefined) throw new Declined(422, 'refused', 'This croft has no users file to keep a key in.')
    return { file: users, session, person: personOf(session) }
  }

  /** An intruder in an open session must not add a key to it. */
  async function checkMayAdd(cookie: string, invite: string | undefined): Promise<void> {
    const { file, person, session } = ownerOf(cookie)
    if (sessions.hasFactor(cookie, clock.monotonicMs())) return
    const holder = await holderOf(file, person)
    if (invite !== undefined) {
      if (!rate.take(nameOf(person), clock.monotonicMs())) throw new Declined(429, 'too-many', WAIT)
      if (isInvited(holder, invite, clock.now())) return
      sessions.showFactor(cookie, false, clock.monotonicMs())
      throw new Declined(403, 'invite', NOT_INVITED)
    }
    if (holder.keys.length > 0 || (await hasApp(file, person)))
      throw new Declined(403, 'second-factor', 'Show your second factor first: a code, or a key that you have.')
    if (needsFactor) throw new Declined(403, 'invite', `Adding the first key needs an invitation. ${wayTo(session)}`)
  }

  return {
    list: async (cookie) => {
      const { file, person } = ownerOf(cookie)
      return (await holderOf(file, person)).keys
    },
    async beginAdding(place, invite) {
      const { file, person, session } = ownerOf(place.cookie)
      if (isAddress(place.origin)) throw new Declined(422, 'refused', ADDRESS)
      await checkMayAdd(place.cookie, invite)
      const { keys } = await holderOf(file, person)
      if (keys.length >= LIMITS.securityKeys) throw new Declined(422, 'refused', TOO_MANY)
      const { challenge, rpId } = questions.ask('add', place, invite)
      const id = fingerprintOf(`croft ${nameOf(person)}`)
      return {
        challenge,
        rpId,
        user: { id, name: session.user },
        algorithms: ALGORITHMS,
        ids: keys.map((one) => one.id),
      }
    },
    async add(place, name, given) {
      const { file, person } = ownerOf(place.cookie)
      const pending = questions.take('add', place)
      const { invite: word, rpId } = pending
      await checkMayAdd(place.cookie, word)
      const judged = await judgeNewKey(given, pending)
      if ('refused' in judged) throw new Declined(403, 'refused', `This key is not taken. ${judged.refused}`)
      const addedMs = clock.now()
      await changeKeys(file, person, (holder, all) => {
        // Judge again under the lock: an invitation is good for one key.
        if (word !== undefined && !isInvited(holder, word, addedMs)) throw new Declined(403, 'invite', NOT_INVITED)
        if (isTaken(all, given.id)) throw new Declined(409, 'conflict', 'This key has been added already.')
        if (holder.keys.length >= LIMITS.securityKeys) throw new Declined(422, 'refused', TOO_MANY)
        const keys = [...holder.keys, { id: given.id, name, rpId, addedMs, ...judged }]
        return word === undefined ? { ...holder, keys } : { keys }
      })
      // Adding the key has just proved that its owner is present.
      sessions.showFactor(place.cookie, true, clock.monotonicMs())
    },
    async remove(cookie, id) {
      const { file, person } = ownerOf(cookie)
      await changeKeys(file, person, (holder) => {
        if (!holder.keys.some((one) => one.id === id)) throw new Declined(404, 'not-found', 'You have no such key.')
        return { ...holder, keys: holder.keys.filter((one) => one.id !== id) }
      })
    },
    async beginShowing(place) {
      const { file, person } = ownerOf(place.cookie)
      const { keys } = await holderOf(file, person)
      const code = await hasApp(file, person)
      const here = keys.filter(({ rpId }) => rpId === new URL(place.origin).hostname)
      const elsewhere = [...new Set(keys.filter((one) => !here.includes(one)).map(({ rpId }) => rpId))]
      if (here.length === 0) return { code, elsewhere }
      const { challenge, rpId } = questions.ask('show', place)
      return { code, elsewhere, key: { challenge, rpId, ids: here.map(({ id }) => id) } }
    },
    async show(place, given) {
      const { file, person } = ownerOf(place.cookie)
      const pending = questions.take('show', place)
      if (!rate.take(nameOf(person), clock.monotonicMs())) throw new Declined(429, 'too-many', WAIT)
      const fail = (why: string): Declined => {
        sessions.showFactor(place.cookie, false, clock.monotonicMs())
        return new Declined(403, 'second-factor', `This key is not taken. ${why}`)
      }
      const keyIn = ({ keys }: Holder) => keys.find(({ id, rpId }) => id === given.id && rpId === pending.rpId)
      const asked = keyIn(await holderOf(file, person))
      if (asked === undefined) throw fail('It is not one of yours here.')
      const judged = await judgeAnswer(given, asked, pending)
      if ('refused' in judged) throw fail(judged.refused)
      const next = { ...asked, signCount: judged.signCount, usedMs: clock.now() }
      await changeKeys(file, person, (holder) => {
        // Another answer of this key may have counted since, so check its counter again.
        const key = keyIn(holder)
        if (key?.signCount !== asked.signCount || key.publicKey !== asked.publicKey) throw fail('Show it again.')
        return { ...holder, keys: holder.keys.map((one) => (one === key ? next : one)) }
      })
      sessions.showFactor(place.cookie, true, clock.monotonicMs())
    },
  }
}

async function hasApp(file: UsersFile, person: KeyOwner): Promise<boolean> {
  return 'user' in person && (await findUser(file, person.user))?.totp !== undefined
}

/** Changes the keys of a person. Answers 503 if the users file cannot be written. */
async function changeKeys(file: UsersFile, person: KeyOwner, edit: Parameters<typeof changeHolder>[2]): Promise<void> {
  try {
    await changeHolder(file, person, edit)
  } catch (error) {
    if (error instanceof Declined) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!(error instanceof UnusableCredentials) && !/^E[A-Z]+$/.test(code)) throw error
    const why = code === '' ? 'another program changes it' : code
    throw new Declined(503, 'unwritable', `croft cannot write its users file (${why}). Whoever runs it can mend that.`)
  }
}

const WAIT = 'Too many attempts. Wait a minute.'
const NOT_INVITED = 'This invitation is not known, was used, or has expired.'
const TOO_MANY = `A person has at most ${LIMITS.securityKeys} keys. Remove one first.`
const ADDRESS =
  'Security keys are for a name and not for an address. Open this page under its name, or as http://localhost on the computer that croft runs on.'

function isAddress(origin: string): boolean {
  return isIP(new URL(origin).hostname.replaceAll(/[[\]]/g, '')) !== 0
}

function nameOf(person: KeyOwner): string {
  return JSON.stringify('user' in person ? [person.user] : [person.issuer, person.subject])
}

function wayTo(session: SignedIn): string {
  const person = personOf(session)
  const command =
    'user' in person
      ? `croft user invite ${person.user}`
      : `croft user invite --oidc-issuer ${shellQuoted(person.issuer)} --oidc-subject ${shellQuoted(person.subject)}`
  return `Whoever runs croft makes one: ${command}`
}
