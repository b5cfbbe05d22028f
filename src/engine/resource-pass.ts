import type { Composed, Policy } from '../model/declaration.ts'
import type { PlanEntry } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Readiness } from '../model/rules.ts'
import type { Refusal, Step } from '../model/step.ts'
import type { SystemId } from '../model/system-id.ts'
import type { ReadyQuestion } from './ready-when.ts'

/** What happened to one resource in this pass: an effect that ended well, one that failed, or neither. */
export type Happening =
  /** `warned`: what the system had to say although it ended well. */
  | { readonly what: 'succeeded'; readonly step: Step; readonly warned?: string }
  | { readonly what: 'started'; readonly step: Step }
  | { readonly what: 'failed'; readonly step: Step; readonly refusal: Refusal }
  | { readonly what: 'unclear'; readonly step: Step; readonly message: string }

export interface ResourcePass {
  readonly entry: PlanEntry
  readonly policy: Policy
  readonly generation: string
  /** Who declares it, or who did last. */
  readonly declaredBy?: string
  /** The source that declares it, or did last, if that has a grant. */
  readonly source?: string
  readonly composedBy?: Composed
  readonly before: ResourceRecord | undefined
  /** Undefined: not there, or not looked at closely. */
  readonly readiness: Readiness | undefined
  /** What its own declaration asks before it counts as Ready. */
  readonly question?: ReadyQuestion
  readonly present: boolean
  /** The birth of the thing, where a close look showed it. */
  readonly birth?: string
  /** The system that its connection leads to, if that is the one on record or none is. */
  readonly system?: SystemId
  /** It carries our mark and no lock of a creation. */
  readonly whole?: true
  /** The list that would show it was not read in this pass: that it is not present says nothing. */
  readonly unread?: true
  /** The list that shows it, for what a survey does not show. */
  readonly list?: string
  /** False: the connection could not be seen in this pass. */
  readonly seen: boolean
  /** How long the connection has not been seen. */
  readonly unseenMs: number
  readonly happenings: readonly Happening[]
  readonly details?: Readonly<Record<string, string>>
  readonly commit?: string
  /** Of a guest: the host that is declared, wherever it is. */
  readonly declaredHost?: string
  /** Of a guest: the fixed addresses that are declared. */
  readonly addresses?: readonly string[]
  /** It has not read the document that is declared now: addresses in that are not those that it has. */
  readonly readsOther?: true
  /** Nothing declares it, and all that could was read. */
  readonly absent?: true
  /** Who moved it, where it has just been seen to have drifted. */
  readonly driftBy?: ResourceRecord['driftBy']
}
