import { ROLES, type Role, type Scope, scopesOf } from '../auth/roles.ts'

/** The caller's rights. */
interface RightsHolder {
  readonly scopes: readonly Scope[]
  /** Absent: not signed in, and no token was sent. */
  readonly name?: string
  /** Absent: no session of the page. */
  readonly csrf?: string
}

/** The rights that a request needs. */
export interface NeededRight {
  readonly scope: Scope
  /** Needs a session or a token, even if reading is open. */
  readonly signedIn?: true
  /** Needs a session of the page, which tokens do not have. Its text is the refusal for callers without one. */
  readonly session?: string
}

export const ON_THE_PAGE = 'Sign in on the page to do this.'

/** A further scope that a request needs for a part of what may be asked in it. */
export interface FurtherRight<I = never> {
  /** That part, for people: `ignoreHolds`. */
  readonly when: string
  readonly scope: Scope
  applies(input: I): boolean
}

interface RightRefusal {
  readonly status: 401 | 403
  readonly code: 'unauthorized' | 'forbidden'
  readonly message: string
}

/** Returns why the asker may not. Undefined: he may. Pure. */
export function refusalFor(
  { scopes, name, csrf }: RightsHolder,
  { scope, signedIn, session }: NeededRight,
): RightRefusal | undefined {
  if (name === undefined && (signedIn === true || !scopes.includes(scope)))
    return { status: 401, code: 'unauthorized', message: 'Sign in to do this.' }
  if (scopes.includes(scope) && session !== undefined && csrf === undefined)
    return { status: 401, code: 'unauthorized', message: session }
  if (scopes.includes(scope)) return undefined
  return { status: 403, code: 'forbidden', message: `This needs the right "${scope}", which ${name} does not have.` }
}

/** A row of the table of rights. */
interface RightsRow {
  readonly what: string
  readonly nobody: boolean
  readonly roles: Readonly<Record<Role, boolean>>
  /** The scopes that a token needs. Absent: no token may. */
  readonly token?: readonly Scope[]
}

type Ruled = NeededRight & {
  readonly method: string
  readonly path: string
  readonly raises?: readonly Pick<FurtherRight, 'when' | 'scope'>[]
}

/** Returns which rights each route needs, and each part of it that needs more. Pure. */
export function rightsTable(routes: readonly Ruled[]): readonly RightsRow[] {
  return routes.flatMap(({ method, path, raises = [], ...right }) => {
    const may = (needed: NeededRight): Omit<RightsRow, 'what'> => ({
      nobody: refusalFor({ scopes: ['read'] }, needed) === undefined,
      roles: Object.fromEntries(
        ROLES.map((role) => [role, refusalFor({ scopes: scopesOf(role), name: role, csrf: '' }, needed) === undefined]),
      ) as RightsRow['roles'],
      ...(needed.session === undefined ? { token: [...new Set([right.scope, needed.scope])] } : {}),
    })
    const what = `${method} ${path}`
    return [
      { what, ...may(right) },
      ...raises.map(({ when, scope }) => ({ what: `${what} with ${when}`, ...may({ scope }) })),
    ]
  })
}
