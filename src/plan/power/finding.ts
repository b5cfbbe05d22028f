import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { PowerHold, PowerWait } from '../../model/observed-power.ts'
import type { Deadline, Tier } from '../../model/power.ts'
import type { Step } from '../../model/step.ts'
import { type PowerSituation, waited } from './view.ts'

declare const made: unique symbol

/** Prevents later tiers from starting. Only this file creates one, with a deadline and an end on an empty battery. */
interface Blocker {
  readonly [made]: true
}

const BLOCKER = {} as Blocker

/** The result of one judgement; several are merged into a decision. */
export interface PowerFinding {
  readonly steps: readonly Step<'power'>[]
  readonly waits: readonly PowerWait[]
  readonly holds: readonly PowerHold[]
  readonly warnings: readonly string[]
  readonly machines: Readonly<Record<ResourceKey, 'off' | 'leave'>>
  /** A deadline passed, and its choice is to go back. */
  readonly abort?: string
  /** Later tiers do not start while one exists. */
  readonly blockers: readonly Blocker[]
}

export const NOTHING: PowerFinding = { steps: [], waits: [], holds: [], warnings: [], machines: {}, blockers: [] }

export function isUnfinished({ blockers }: PowerFinding): boolean {
  return blockers.length > 0
}

export function merge(findings: readonly PowerFinding[]): PowerFinding {
  const abort = findings.find((one) => one.abort !== undefined)?.abort
  return {
    steps: findings.flatMap(({ steps }) => steps),
    waits: findings.flatMap(({ waits }) => waits),
    holds: findings.flatMap(({ holds }) => holds),
    warnings: findings.flatMap(({ warnings }) => warnings),
    machines: Object.assign({}, ...findings.map(({ machines }) => machines)) as PowerFinding['machines'],
    blockers: findings.flatMap(({ blockers }) => blockers),
    ...(abort === undefined ? {} : { abort }),
  }
}

/** Runs stages in order: the next one only after the previous one has finished. */
export function inTurn(stages: readonly (() => PowerFinding)[]): PowerFinding {
  const all: PowerFinding[] = []
  for (const stage of stages) {
    const finding = stage()
    all.push(finding)
    if (isUnfinished(finding) || finding.abort !== undefined) break
  }
  return merge(all)
}

/** An awaited event with its tier and deadline, and what is observed instead. */
type Awaited = {
  readonly tier: Tier
  readonly what: string
  readonly awaits: string
  readonly seen?: string
} & (
  | { readonly deadline: Exclude<Deadline, 'start'> }
  /** On the way up nothing works without it, so croft waits for it beyond its deadline. */
  | { readonly deadline: 'start'; readonly essential?: true }
)

/** One step, and the wait for its result; `forced` replaces it after the deadline. */
export function stepAndWait(
  view: PowerSituation,
  step: Step<'power'>,
  what: string,
  deadline: Deadline,
  forced?: Step<'power'>,
): PowerFinding {
  const { tier, awaits } = step
  const waiting = awaiting(view, { tier, what, awaits, deadline }, forced)
  return waiting.steps.length > 0 ? waiting : merge([{ ...NOTHING, steps: [step] }, waiting])
}

/**
 * Waits for an event. After the deadline the declared choice applies: `wait` continues to wait, `abort` goes back, and
 * `force` performs the forced step, waits as long again, and then continues without it. On battery every choice is
 * `force`; on an empty one each deadline is at most a few seconds.
 */
export function awaiting(view: PowerSituation, awaited: Awaited, forced?: Step<'power'>): PowerFinding {
  const { tier, what, awaits, deadline, seen } = awaited
  const essential = deadline === 'start' && awaited.essential === true
  const rule = view.spec.deadlines[deadline]
  const waitedMs = waited(view, tier, what, awaits)
  // A start does not drain the battery.
  const urgent = view.wanted.urgent !== 'no' && deadline !== 'start'
  const afterMs =
    urgent && view.wanted.urgent === 'low' ? Math.min(rule.afterMs, LIMITS.lowBatteryWaitMs) : rule.afterMs
  const choice = essential ? 'wait' : urgent ? 'force' : rule.choice
  const leftMs = Math.max(0, afterMs - waitedMs)
  // On the way up there is no way back: continue without what is late.
  const forces = choice === 'force' || (choice === 'abort' && deadline === 'start')
  const afterwards = forces ? 'force' : choice === 'abort' && view.wanted.state === 'off' ? 'abort' : 'wait'
  const wait: PowerWait = {
    tier,
    what,
    awaits,
    ...(seen === undefined || seen === '' ? {} : { seen }),
    waitedMs,
    leftMs,
    afterwards,
  }
  const still: PowerFinding = { ...NOTHING, waits: [wait], blockers: urgent && isTooLate(view) ? [] : [BLOCKER] }
  if (waitedMs < afterMs) return still
  // Without the elapsed time: equal texts are reported once.
  const late = `${what}: ${awaits} was awaited for longer than ${Math.round(afterMs / 1000)} s`
  if (afterwards === 'abort') return { ...still, abort: late }
  if (afterwards === 'wait')
    return { ...still, warnings: [`${late}; it is waited for${essential ? '' : ', as declared'}`] }
  const why = urgent ? 'because the UPS is on battery' : 'as declared'
  // The wait stays in the plan, to count the time over its deadline, but blocks nothing.
  const without = { ...NOTHING, waits: [wait], warnings: [`${late}; continuing without it, ${why}`] }
  if (forced === undefined) return without
  const isGivenUp = waitedMs >= 2 * afterMs
  return isGivenUp
    ? { ...without, steps: [forced] }
    : { ...still, steps: [forced], warnings: [`${late}; forcing it, ${why}`] }
}

const UNTIL_OFF = ['hosts', 'the battery', 'every host to be off'] as const

/** A low battery lasts for minutes, however many tiers are left: when its time is over, they go side by side. */
function isTooLate(view: PowerSituation): boolean {
  return view.wanted.urgent === 'low' && waited(view, ...UNTIL_OFF) >= LIMITS.lowBatteryOrderMs
}

/** Counts for how long the battery has been low while a host that it takes is on. It blocks nothing. */
export function batteryTime(view: PowerSituation): PowerFinding {
  const left = view.observed.hosts.some(({ name, power }) => view.targets.hosts.has(name) && power !== 'off')
  if (view.wanted.urgent !== 'low' || !left) return NOTHING
  const [tier, what, awaits] = UNTIL_OFF
  const waitedMs = waited(view, ...UNTIL_OFF)
  const leftMs = Math.max(0, LIMITS.lowBatteryOrderMs - waitedMs)
  return { ...NOTHING, waits: [{ tier, what, awaits, waitedMs, leftMs, afterwards: 'force' }] }
}

/** A person or a workload holds it up, and only they can release it. On battery the hold is a wait with a deadline. */
export function held(view: PowerSituation, awaited: Awaited, hold: Omit<PowerHold, 'tier'>): PowerFinding {
  if (view.wanted.urgent !== 'no' && awaited.deadline !== 'start') return awaiting(view, awaited)
  return { ...NOTHING, holds: [{ tier: awaited.tier, ...hold }], blockers: [BLOCKER] }
}
