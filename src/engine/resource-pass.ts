import type { Composed, Policy } from '../model/declaration.ts'
import type { PlanEntry } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Readiness } from '../model/rules.ts'
import type { Refusal, Step } from '../model/step.ts'
import type { SystemId } from '../model/system-id.ts'
import type { ReadyQuestion } from './ready-when.ts'

/** A resource's event in this pass: an effect that succeeded, failed, or neither. */
export type Happening =
  /** `warned`: the warning of a success. */
  | { readonly what: 'succeeded'; readonly step: Step; readonly warned?: string }
  | { readonly what: 'started'; readonly step: Step }
  | { readonly what: 'failed'; readonly step: Step; readonly refusal: Refusal }
  | { readonly what: 'unclear'; readonly step: Step; readonly message: string }

export interface ResourcePass {
  readonly entry: PlanEntry
  readonly policy: Policy
  readonly generation: string
  /** Its current or last source. */
  readonly declaredBy?: string
  /** Its current or last source, if that has a grant. */
  readonly source?: string
  readonly composedBy?: Composed
  readonly before: ResourceRecord | undefined
  /** Undefined if absent or not read closely. */
  readonly readiness: Readiness | undefined
  /** Its `readyWhen` expressions. */
  readonly question?: ReadyQuestion
  readonly present: boolean
  /** Its birth, if a close look showed it. */
  readonly birth?: string
  /** The system that its connection leads to, if that is the one on record or none is. */
  readonly system?: SystemId
  /** It has our mark and no creation's lock. */
  readonly whole?: true
  /** Its list was not read in this pass: its absence proves nothing. */
  readonly unread?: true
  /** The list that contains it, for things outside the survey. */
  readonly list?: string
  /** False if the connection was unreachable in this pass. */
  readonly seen: boolean
  /** How long the connection has been unreachable. */
  readonly unseenMs: number
  readonly happenings: readonly Happening[]
  readonly details?: Readonly<Record<string, string>>
  readonly commit?: string
  /** For a guest: its declared host, wherever it is. */
  readonly declaredHost?: string
  /** For a guest: its declared fixed addresses. */
  readonly addresses?: readonly string[]
  /** It has not read the declared document: it does not have that document's addresses. */
  readonly readsOther?: true
  /** Nothing declares it, and all that could was read. */
  readonly absent?: true
  /** Who changed it, if its drift is new. */
  readonly driftBy?: ResourceRecord['driftBy']
}
