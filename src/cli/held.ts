import type { Plan } from '../model/plan.ts'

/** Something that is not as declared and stays so until a person, or time, lets it pass. */
export interface HeldChange {
  /** The resource, or the cluster. */
  readonly what: string
  readonly reason: string
  readonly allow: string
}

/** As many as a person reads after an apply; the plan has them all. */
const SHOWN = 5

/** Everything that a guard keeps from being done: with one of these, Git and the world differ. */
export function heldIn(plan: Plan): readonly HeldChange[] {
  const resources = plan.entries.flatMap(({ key, action }) =>
    action.do === 'hold' ? [{ what: key, reason: action.reason, allow: action.allow }] : [],
  )
  const clusters = (plan.clusters ?? []).flatMap(({ declaration, decision }) =>
    decision.holds.map(({ reason, allow }) => ({ what: declaration.key, reason, allow })),
  )
  return [...resources, ...clusters]
}

/** What is held, why, and what would let it pass. */
export function renderHeld(held: readonly HeldChange[]): string {
  const lines = held
    .slice(0, SHOWN)
    .flatMap(({ what, reason, allow }) => [`  held: ${what}: ${reason}`, `      to allow: ${allow}`])
  const more = held.length - SHOWN
  if (more > 0) lines.push(`  and ${more} more: croft plan shows ${more === 1 ? 'it' : 'them'}`)
  return lines.map((line) => `${line}\n`).join('')
}
