import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import type { KeyDesk, PageSession } from '../auth/key-port.ts'
import type { SecurityKey } from '../auth/users.ts'
import type { ConsoleDesk, ConsolePlace } from '../consoles/console-port.ts'
import type { HealthStrips } from '../health-strips.ts'
import type { Actor, Controller } from '../port.ts'
import type { Stream } from '../stream.ts'
import type { FurtherRight, NeededRight } from './rights.ts'
import type { Me, SessionOnPage } from './schemas.ts'

/** One operation of the API. The server, the API document and the tests are generated from these. */
export interface Route<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> extends NeededRight {
  readonly method: 'GET' | 'POST'
  readonly path: `/api/${string}`
  readonly summary: string
  /** Written into the audit log. Reading is not; neither is the input of what holds a password. */
  readonly audit?: 'input' | 'name'
  /** The query of a GET, the JSON body of a POST. */
  readonly input: I
  readonly output: O
  /** Additional rights that some inputs need. */
  readonly raises?: readonly FurtherRight<z.output<I>>[]
  handle(context: Context, input: z.output<I>): Promise<z.input<O>> | z.input<O>
}

export interface Context {
  readonly controller: Controller
  readonly clock: Clock
  readonly stream: Stream
  readonly strips: HealthStrips
  readonly version: string
  readonly actor: Actor
  /** Reports whether the reader signed in or showed a token. */
  readonly known: boolean
  me(): Promise<Me>
  /** Opens a session in this browser, by name and password. */
  signIn(name: string, password: string): Promise<Me>
  signOut(): Promise<Me>
  /** Declines where this session owes a code of an authenticator app or a security key. */
  secondFactor(): Promise<void>
  showFactor(code: string): Promise<void>
  /** The caller's security keys. Declines without a session. */
  keys(): { readonly desk: KeyDesk; readonly place: PageSession }
  /** The caller's consoles. Declines without a session: a token opens none. */
  consoles(): { readonly desk: ConsoleDesk; readonly place: ConsolePlace }
  ownKeys(): Promise<readonly SecurityKey[]>
  /** Sessions that the asker may see: his own, and for who may do everything all. */
  sessions(): readonly SessionOnPage[]
  endSession(id: string): void
}

/** An answer other than 200. Its message is for the person who asked. */
export class Declined extends Error {
  override readonly name = 'Declined'
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Keeps the types of input and output together; afterwards all routes are of one type. */
export function route<I extends z.ZodObject, O extends z.ZodType>(one: Route<I, O>): Route {
  return one as unknown as Route
}

const NOTHING = z.object({})
type Particular<I extends z.ZodObject, O extends z.ZodType> = Pick<
  Route<I, O>,
  'audit' | 'signedIn' | 'session' | 'output' | 'handle'
> & {
  /** Absent: no input. */
  readonly input?: I
}

/** Makes a route that all readers may read. */
export function get<O extends z.ZodType, I extends z.ZodObject = typeof NOTHING>(
  path: Route['path'],
  summary: string,
  one: Particular<I, O>,
): Route {
  return route({ method: 'GET', path, summary, scope: 'read', input: NOTHING, ...one } as Route<I, O>)
}

/** Makes a route to which all readers may post: it affects only themselves. */
export function post<O extends z.ZodType, I extends z.ZodObject = typeof NOTHING>(
  path: Route['path'],
  summary: string,
  one: Particular<I, O>,
): Route {
  return route({ method: 'POST', path, summary, scope: 'read', input: z.strictObject({}), ...one } as Route<I, O>)
}
