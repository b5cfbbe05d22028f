import type { Scope } from '../auth/roles.ts'

/** Who asks, as far as rights go. */
interface RightsHolder {
  readonly scopes: readonly Scope[]
  /** Absent: nobody signed in, and no token was shown. */
  readonly name?: string
}

/** What a request needs. */
export interface NeededRight {
  readonly scope: Scope
  /** Also where anybody may read: a session or a token. */
  readonly signedIn?: true
}

interface RightRefusal {
  readonly status: 401 | 403
  readonly code: 'unauthorized' | 'forbidden'
  readonly message: string
}

/** Returns why the asker may not. Undefined: he may. Pure. */
export function refusalFor({ scopes, name }: RightsHolder, { scope, signedIn }: NeededRight): RightRefusal | undefined {
  if (name === undefined && (signedIn === true || !scopes.includes(scope)))
    return { status: 401, code: 'unauthorized', message: 'Sign in to do this.' }
  if (scopes.includes(scope)) return undefined
  return { status: 403, code: 'forbidden', message: `This needs the right "${scope}", which ${name} does not have.` }
}
