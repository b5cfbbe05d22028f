import type { SecurityKey } from './users.ts'
import type { KeyAssertion, NewKey } from './webauthn.ts'

/** A session, and the origin of the page in it as its browser says: `https://croft.lan`. */
export interface PageSession {
  readonly cookie: string
  readonly origin: string
}

/** Adds, challenges and removes the security keys of a session's user. */
export interface KeyDesk {
  list(cookie: string): Promise<readonly SecurityKey[]>
  /** The page's input for the browser to create a key. */
  beginAdding(place: PageSession, invite: string | undefined): Promise<Creation>
  add(place: PageSession, name: string, given: NewKey): Promise<void>
  remove(cookie: string, id: string): Promise<void>
  /** The second factors of this session, and the page's input for the browser to ask a key. */
  beginShowing(place: PageSession): Promise<Showing>
  show(place: PageSession, given: KeyAssertion): Promise<void>
}

export interface Creation {
  readonly challenge: string
  readonly rpId: string
  readonly user: { readonly id: string; readonly name: string }
  readonly algorithms: readonly number[]
  /** Keys that the person has already. */
  readonly ids: readonly string[]
}

export interface Showing {
  readonly code: boolean
  readonly key?: { readonly challenge: string; readonly rpId: string; readonly ids: readonly string[] }
  /** Names of pages that the other keys of this person were made for. */
  readonly elsewhere: readonly string[]
}
