import type { ResourceKey } from '../../model/declaration.ts'
import type {
  ClusterPower,
  ObservedPower,
  ObservedPowerHost,
  PowerMachine,
  PowerNode,
  PowerWait,
} from '../../model/observed-power.ts'
import type { Deadline, PowerHost, PowerSpec, Tier } from '../../model/power.ts'
import type { Step } from '../../model/step.ts'
import { merge, NOTHING, type PowerFinding } from './finding.ts'
import type { WantedPower } from './wanted.ts'

/** Everything that a judgement may look at. */
export interface PowerSituation {
  readonly spec: PowerSpec
  readonly observed: ObservedPower
  readonly wanted: WantedPower
  readonly targets: Targets
  /** The state that is wanted has not been reached since it was ordered. */
  readonly changing: boolean
  readonly nowMs: number
}

export function waitName(tier: Tier, what: string, awaits: string): string {
  return `${tier} ${what} ${awaits}`
}

export function waited(
  { observed }: Pick<PowerSituation, 'observed'>,
  tier: Tier,
  what: string,
  awaits: string,
): number {
  return observed.waitedMs[waitName(tier, what, awaits)] ?? 0
}

/** What is awaited, by its tier, and by which deadline; and what is seen instead. */
interface Awaited {
  readonly tier: Tier
  readonly what: string
  readonly awaits: string
  readonly deadline: Deadline
  readonly seen?: string
  /** Without it nothing else can be done: however late, it is waited for. */
  readonly essential?: true
}

/** One step, and the wait until it has brought about what it is for. */
export function stepAndWait(
  view: PowerSituation,
  step: Step<'power'>,
  what: string,
  deadline: Awaited['deadline'],
): PowerFinding {
  const { tier, awaits } = step
  return merge([{ ...NOTHING, steps: [step] }, awaiting(view, { tier, what, awaits, deadline })])
}

/**
 * Something is awaited. When its time is over the declared choice counts: `wait` goes on waiting, `abort` goes back,
 * and `force` is answered by what the caller gives for it; without that, whoever comes next goes on without it.
 */
export function awaiting(view: PowerSituation, awaited: Awaited, forced?: () => PowerFinding): PowerFinding {
  const { tier, what, awaits, deadline, seen, essential } = awaited
  const rule = view.spec.deadlines[deadline]
  const waitedMs = waited(view, tier, what, awaits)
  // The battery waits for nobody. What is on the way up is not what empties it.
  const urgent = view.wanted.urgent && deadline !== 'start'
  const choice = essential ? 'wait' : urgent ? 'force' : rule.choice
  const leftMs = Math.max(0, rule.afterMs - waitedMs)
  // On the way up there is nothing to go back to: what does not come is left behind.
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
  const still: PowerFinding = { ...NOTHING, waits: [wait], unfinished: true }
  if (waitedMs < rule.afterMs) return still
  // Without how long it has been by now: what is said twice in the same words is told once.
  const late = `${what}: ${awaits} was awaited for longer than ${Math.round(rule.afterMs / 1000)} s`
  if (afterwards === 'abort') return { ...still, abort: late }
  if (afterwards === 'force') {
    const warning = `${late}; continuing without it, as declared`
    const after = forced?.() ?? NOTHING
    // Still waited for, so that the time over the deadline is known: but in nobody's way.
    return { ...after, waits: [wait, ...after.waits], warnings: [warning, ...after.warnings] }
  }
  return { ...still, warnings: [`${late}; it is waited for${essential ? '' : ', as declared'}`] }
}

export function seenHost({ observed }: Pick<PowerSituation, 'observed'>, name: string): ObservedPowerHost | undefined {
  return observed.hosts.find((host) => host.name === name)
}

export function nodesOf({ observed }: PowerSituation): readonly PowerNode[] {
  return observed.cluster?.nodes ?? []
}

/** What the cluster says, where it can say anything. */
export function spoken({ observed }: PowerSituation): ClusterPower | undefined {
  return observed.cluster?.api === 'yes' ? observed.cluster : undefined
}

/** Does anything on it still run? */
export function isDown(node: PowerNode): boolean {
  if (node.power === 'off') return true
  return node.machine === undefined && (node.k3s === 'stopped' || node.k3s === 'absent')
}

/** Boxes that carry the infrastructure, or croft itself: the last to go. */
export function isLast(host: PowerHost, machines: readonly PowerMachine[]): boolean {
  return host.own || machines.some((one) => one.role === 'infrastructure' && one.host === host.name)
}

/** What is to be off. Everything else is to be on. */
export interface Targets {
  /** The workloads of the cluster, and with them all of its nodes. */
  readonly cluster: boolean
  readonly nodes: ReadonlySet<string>
  readonly machines: ReadonlySet<ResourceKey>
  readonly hosts: ReadonlySet<string>
  /** On-demand nodes among them that sleep because nobody needs them. */
  readonly asleep: ReadonlySet<string>
}
