import type { Change } from './change.ts'
import type { Proof } from './proof.ts'
import type { Step } from './step.ts'

/** Does something to the outside world. */
export type Doing =
  | { readonly do: 'create'; readonly externalId: string; readonly host: string; readonly steps: readonly Step[] }
  | {
      readonly do: 'update'
      readonly externalId: string
      readonly changes: readonly Change[]
      readonly steps: readonly Step[]
    }
  | {
      readonly do: 'adopt'
      readonly externalId: string
      readonly changes: readonly Change[]
      readonly steps: readonly Step[]
    }
  | {
      readonly do: 'replace'
      readonly externalId: string
      readonly changes: readonly Change[]
      readonly steps: readonly Step[]
    }
  | {
      readonly do: 'delete'
      readonly externalId: string
      readonly host: string
      readonly steps: readonly Step[]
      /** Why it may go. Without one a guard stands in the way. */
      readonly proof?: Proof
    }

/** What must be looked at before the next action can be decided. */
export type MissingFact =
  | { readonly look: 'config' | 'power'; readonly externalId: string }
  /**
   * vanished: it was there, or we began to make it: a survey without it proves nothing. anew: what was asked a moment ago
   * is not good enough, for it is made now.
   */
  | { readonly look: 'id'; readonly externalId: string; readonly vanished?: true; readonly anew?: true }
  /** remainsOf: it is read for what an earlier creation of this id has left behind. */
  | { readonly look: 'list'; readonly list: string; readonly remainsOf?: string }

/** What to do next for one resource. Every action but `nothing` says why. */
export type Action =
  | { readonly do: 'nothing' }
  | {
      readonly do: 'wait'
      readonly reason: string
      readonly message: string
      readonly lookAgainMs: number
      readonly missing?: MissingFact
      /** What will be done when the wait is over: part of what a person agrees to. */
      readonly next?: Doing
    }
  | (Doing & { readonly reason: string })
  /** Take it off the books; the thing itself stays as it is. */
  | { readonly do: 'forget'; readonly reason: string; readonly externalId: string }
  /** A guard stands in the way for now: `allow` says what would let it pass. */
  | {
      readonly do: 'hold'
      readonly guard: string
      readonly held: Doing
      readonly reason: string
      readonly allow: string
    }
  /** Will not be done as declared; a person must change something. */
  | { readonly do: 'refuse'; readonly guard: string; readonly reason: string; readonly allow: string }

/** Does it do something to the outside world? */
export function isDoing(action: Action): action is Action & Doing {
  switch (action.do) {
    case 'create':
    case 'update':
    case 'adopt':
    case 'replace':
    case 'delete':
      return true
    default:
      return false
  }
}
