import { maskChange } from '../../model/masked/masked-change.ts'
import type { Action, Plan, PlanDisruption } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { clusterDiffers } from '../../plan/clusters/forecast.ts'
import { disruptionOf } from '../../plan/disruption.ts'
import { EXIT, type ExitCode } from '../verb.ts'
import { hasErrors } from './problems.ts'
import { clean, cleanValue } from './text.ts'

/** A plan in numbers. */
export interface PlanSummary {
  readonly add: number
  readonly change: number
  readonly destroy: number
  readonly adopt: number
  readonly forget: number
  readonly wait: number
  readonly held: number
  readonly refused: number
  readonly unchanged: number
  /** The worst that is done to anything that runs. */
  readonly disruption: PlanDisruption['worst']
  /** The disruptions of single things. */
  readonly disruptions: PlanDisruption['items']
}

/**
 * Counts a plan. A replacement is one destroyed and one added, as in similar tools. An action that waits for another
 * one of the same plan counts, because `apply` does it too.
 */
export function summarise(plan: Plan): PlanSummary {
  const meant = plan.entries.map(({ action }) => (action.do === 'wait' ? (action.next ?? action) : action))
  const count = (wanted: Action['do']) => meant.filter((action) => action.do === wanted).length
  const replaced = count('replace')
  const clusters = plan.clusters ?? []
  const disruption = disruptionOf(plan)
  return {
    add: count('create') + replaced,
    change: count('update'),
    // A node that is wiped or rebuilt counts as destroyed, even if its machine stays.
    destroy: count('delete') + replaced + disruption.destroyed,
    adopt: count('adopt'),
    forget: count('forget'),
    wait: count('wait') + waitingKeys(plan).size,
    held: count('hold') + clusters.reduce((sum, { decision }) => sum + decision.holds.length, 0),
    refused: count('refuse') + clusters.reduce((sum, { decision }) => sum + decision.refusals.length, 0),
    unchanged: count('nothing'),
    disruption: disruption.worst,
    disruptions: disruption.items,
  }
}

/** Returns the keys that wait for values, without duplicates; an unnamed one counts by its instance. */
export function waitingKeys({ waiting = [] }: Plan): ReadonlySet<string> {
  return new Set(waiting.map(({ key, instance }) => key ?? `${instance} (name not known yet)`))
}

/** Reports whether Git and the world differ, even if a guard holds every change. */
export function hasSomethingToDo(plan: Plan): boolean {
  return (
    plan.entries.some((entry) => entry.action.do !== 'nothing') ||
    (plan.clusters ?? []).some(clusterDiffers) ||
    (plan.waiting ?? []).length > 0
  )
}

const AUTHORITY: ReadonlySet<string> = new Set([
  'Unauthorized',
  'PermissionDenied',
  'WrongCertificate',
  'HostKeyMismatch',
])

/** 0 nothing to do, 2 there is something, 4 not authorized, 1 something could not be seen or is not valid. */
export function planExit(plan: Plan): ExitCode {
  const blind = blindExit(plan)
  if (blind !== undefined) return blind
  if (hasErrors(plan.problems)) return EXIT.failed
  return hasSomethingToDo(plan) ? EXIT.differs : EXIT.ok
}

/** Returns the exit code if a connection refused us or could not be reached: the plan is incomplete then. */
export function blindExit(plan: Plan): ExitCode | undefined {
  if (plan.notes.some((one) => one.code === 'refused' && AUTHORITY.has(one.reason ?? 'Unauthorized'))) {
    return EXIT.unauthorized
  }
  return plan.notes.some((one) => one.code !== 'incomplete') ? EXIT.failed : undefined
}

export const SENSITIVE = '(sensitive value)'

export interface PlanView {
  /** Show the exact call behind every step. */
  readonly calls?: boolean
  /** The directory as it was typed: commands that the plan suggests name it, so that they work as printed. */
  readonly directory?: string
}

/** `spec.replicas: 1 → 2` */
export function changeLine(change: Change): string {
  const shown = change.path === 'mark' ? { ...change, ...markWords(change.from, change.to) } : maskChange(change)
  return `${clean(change.path)}: ${shownValue(shown, 'from')} → ${shownValue(shown, 'to')}`
}

/** Shortens a changed mark, a line of a dozen words, to the words that differ. */
function markWords(from: unknown, to: unknown): Pick<Change, 'from' | 'to'> {
  if (typeof from !== 'string' || typeof to !== 'string') return { from, to }
  const [before, after] = [from.split(' '), to.split(' ')]
  const only = (some: readonly string[], others: readonly string[]) => {
    const words = some.filter((word) => !others.includes(word))
    return words.length === 0 ? undefined : words.join(' ')
  }
  return { from: only(before, after), to: only(after, before) }
}

function shownValue(change: Change, side: 'from' | 'to'): string {
  if (change.secret !== true) return cleanValue(change[side])
  return change[side] === undefined || change[side] === null ? '(none)' : SENSITIVE
}
