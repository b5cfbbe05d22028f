import { driftsOf } from '../../controller/view/drifts.ts'
import { quorumMargin } from '../../controller/view/view.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { Action, Plan } from '../../model/plan.ts'
import type { Condition, CroftEvent, ResourceRecord } from '../../model/record.ts'
import type { Trouble } from '../../model/trouble.ts'
import { clusterDiffers } from '../../plan/clusters/forecast.ts'
import { causeOf, namesOf } from './cause.ts'
import { showAge } from './duration.ts'
import { foldEvents } from './events.ts'
import { clean, type Style } from './text.ts'

/** One problem: the object, since when, why, and what to do about it. */
export interface HealthProblem {
  readonly key: string
  readonly what: string
  readonly sinceMs?: number
  readonly why: readonly string[]
  readonly next: string
  /** The problem that it only waits for: `host pve1`. */
  readonly awaits?: string
}

export interface HealthInput {
  readonly plan: Plan
  readonly records: readonly ResourceRecord[]
  /** The newest events of what is in trouble. */
  readonly events: readonly CroftEvent[]
}

/**
 * Returns all troubles of the one judgement: a resource or a cluster with its explanation, others as judged. Pending
 * changes count as well, because no controller is working on them.
 */
export function withJudged(
  judged: readonly Trouble[],
  explained: readonly HealthProblem[],
  shown: ReadonlySet<Trouble['sort']>,
): readonly HealthProblem[] {
  const known = new Set(explained.map(({ key }) => key))
  const others = judged.filter(
    ({ sort, about }) => !shown.has(sort) && !known.has(about) && !known.has(`Cluster/${about}`),
  )
  return [
    ...others.map(({ about, title, text, allow, sinceMs, sort }) => ({
      key: `${sort} ${about}`,
      what: title,
      ...(sinceMs === undefined ? {} : { sinceMs }),
      why: text === '' ? [] : [text],
      next: allow ?? NEXT[sort] ?? 'croft why',
    })),
    ...explained,
  ]
}

const NEXT: Readonly<Partial<Record<Trouble['sort'], string>>> = {
  manifest: 'croft validate',
  power: 'croft power',
}

/** Returns the problems of resources and clusters, from this look and from the last passes. Pure. */
export function troublesOf({ plan, records, events }: HealthInput): readonly HealthProblem[] {
  const recordOf = new Map(records.map((record) => [record.key, record]))
  const clusters = (plan.clusters ?? []).flatMap((look) =>
    clusterTrouble(look, recordOf.get(look.declaration.key), events),
  )
  const drifts = Map.groupBy(driftsOf({ plan, records }), ({ key }) => key)
  const entries = plan.entries.flatMap(({ key, action, drift, host }): readonly HealthProblem[] => {
    const record = recordOf.get(key)
    const judged = judge(key, action, drift === true)
    if (judged === undefined && !isDown(record)) return []
    const drifted = drifts.get(key) ?? []
    const sinceMs = drifted.length > 0 ? record?.driftSinceMs : sinceOf(record)
    return [
      {
        key,
        what: judged?.what ?? record?.status ?? 'unknown',
        ...(sinceMs === undefined ? {} : { sinceMs }),
        why: [
          ...(judged?.why ?? []),
          ...drifted.map(driftLine),
          // Its record tells the wait once more, as its reason for not being ready.
          ...reasons(record, events).filter((line) => judged?.why.some((one) => line.endsWith(one)) !== true),
          ...doer(record, drifted.length > 0),
        ],
        next: judged?.next ?? `croft why ${key}`,
        ...(action.do === 'wait' && action.reason === 'HostOffline' && host !== undefined
          ? { awaits: `host ${host}` }
          : {}),
      },
    ]
  })
  const known = new Set([
    ...plan.entries.map(({ key }) => key),
    ...(plan.clusters ?? []).map((one) => one.declaration.key),
  ])
  const others = records
    .filter((record) => !known.has(record.key) && isDown(record))
    .map((record) => ({
      key: record.key,
      what: record.status,
      ...sinceIn(record),
      why: reasons(record, events),
      next: `croft why ${record.key}`,
    }))
  return [...clusters, ...entries, ...others]
}

/**
 * Removes a cluster's stored failure if this look finds it well with nothing to do: the record is from its last pass,
 * and so outdated.
 */
export function asSeenNow(
  records: readonly ResourceRecord[],
  looks: readonly ClusterPlan[],
): readonly ResourceRecord[] {
  const well = new Set<string>(
    looks.flatMap((look) => {
      const margin = quorumMargin(look.observed)
      const short = margin !== 'unknown' && margin < 0
      return look.decision.phase === 'Ready' && !clusterDiffers(look) && !short ? [look.declaration.key] : []
    }),
  )
  return records.map((record) => {
    if (!well.has(record.key) || !isDown(record)) return record
    const { failure: _, ...rest } = record
    const conditions = record.conditions
      .filter(({ type }) => type !== 'Stalled')
      .map((one) => (one.type === 'Ready' ? { ...one, status: 'True' as const, message: '' } : one))
    return { ...rest, status: 'Ready', conditions }
  })
}

/**
 * Problems of one cause as one, and what waits for a host that is a problem itself at that host: each cause is said once,
 * with what it touches. The time is of the one that began first. Pure.
 */
export function groupedByCause(problems: readonly HealthProblem[]): readonly GroupedProblem[] {
  const hosts = new Set(problems.flatMap(({ key }) => (key.startsWith('host ') ? [key] : [])))
  const waitsFor = ({ awaits }: HealthProblem) => (awaits !== undefined && hosts.has(awaits) ? awaits : undefined)
  const groups = Map.groupBy(
    problems.filter((one) => waitsFor(one) === undefined),
    ({ key, what, why, next }) => causeOf({ what: key, reason: [what, ...why].join('\0'), allow: next }),
  )
  return [...groups.values()].flatMap((own): readonly GroupedProblem[] => {
    const [first] = own
    if (first === undefined) return []
    const since = own.flatMap(({ sinceMs }) => sinceMs ?? [])
    const waiting = problems.filter((one) => waitsFor(one) === first.key).map(({ key }) => key)
    const why =
      waiting.length === 0 ? first.why : [...first.why, `${waiting.length} things wait for it: ${namesOf(waiting)}`]
    return [
      {
        ...first,
        why,
        keys: own.map(({ key }) => key),
        ...(since.length === 0 ? {} : { sinceMs: Math.min(...since) }),
      },
    ]
  })
}

interface GroupedProblem extends HealthProblem {
  readonly keys: readonly string[]
}

export function renderTrouble({ keys, what, sinceMs, why, next }: GroupedProblem, nowMs: number, style: Style): string {
  const since = sinceMs === undefined ? '' : `, since ${showAge(nowMs - sinceMs)}`
  const lines = [
    `${style.paint('red', 'bad ')} ${namesOf(keys)}: ${clean(what)}${since}`,
    ...why.map((line) => `       ${clean(line, 400)}`),
    `       → ${clean(next)}`,
  ]
  return `${lines.join('\n')}\n`
}

/** Says how many more servers a cluster can lose: a person decides by it whether to get up at night. */
export function votesOf({ observed }: Pick<ClusterPlan, 'observed'>): string {
  const margin = quorumMargin(observed)
  if (margin === 'unknown' || observed.members === 'unknown') return 'its votes cannot be seen'
  const voters = observed.members.filter(({ learner }) => !learner)
  const up = voters.filter((member) => member.up === 'yes').length
  const votes = `${up} of ${voters.length} votes`
  if (margin < 0) return `${votes}: the majority is lost and the API stands still`
  return margin === 0 ? `${votes}: if one more is lost the API stops` : `${votes}, ${margin} may still be lost`
}

function clusterTrouble(
  look: ClusterPlan,
  record: ResourceRecord | undefined,
  events: readonly CroftEvent[],
): readonly HealthProblem[] {
  const { declaration, decision } = look
  const margin = quorumMargin(look.observed)
  const short = margin !== 'unknown' && margin < 0
  if (decision.phase === 'Off') return []
  if (decision.phase === 'Ready' && !clusterDiffers(look) && !isDown(record) && !short) return []
  const nodes = decision.nodes
    .filter(({ phase }) => phase !== 'Ready')
    .map(({ name, phase, message }) => `${name} is ${phase}${message === '' ? '' : `: ${message}`}`)
  const objections = [...decision.holds, ...decision.refusals]
  return [
    {
      key: declaration.key,
      what: `${decision.phase}; ${votesOf(look)}`,
      ...sinceIn(record),
      why: [
        ...nodes,
        ...objections.map(({ guard, reason }) => `held [${guard}]: ${reason}`),
        ...decision.waits.map(({ awaits }) => `waits for ${awaits}`),
        ...decision.warnings,
        ...reasons(record, events),
      ],
      next:
        objections[0]?.allow ??
        (decision.steps[0] === undefined
          ? `croft why ${declaration.key}`
          : `croft apply: ${decision.steps[0].summary}`),
    },
  ]
}

interface HealthLines {
  readonly what: string
  readonly why: readonly string[]
  readonly next: string
}

const WORDS = {
  create: 'is not there',
  update: 'is not as declared',
  replace: 'must be replaced',
  delete: 'is no longer declared',
  adopt: 'is not taken over yet',
  forget: 'is no longer declared',
} as const

function judge(key: string, action: Action, drift: boolean): HealthLines | undefined {
  switch (action.do) {
    case 'nothing':
      return undefined
    case 'hold':
      return { what: `held [${action.guard}]`, why: [action.reason], next: action.allow }
    case 'refuse':
      return { what: `refused [${action.guard}]`, why: [action.reason], next: action.allow }
    case 'wait':
      return {
        what: action.next === undefined ? 'waits' : 'is not there yet',
        why: [action.message],
        next: action.reason === 'HostOffline' ? 'bring its host back' : `croft why ${key}`,
      }
    default: {
      const words = action.do in WORDS ? WORDS[action.do as keyof typeof WORDS] : action.do
      const by = drift ? ', though Git has not changed' : ''
      return { what: `${words}${by}`, why: [], next: `croft plan shows what would be done, croft apply does it` }
    }
  }
}

function driftLine({ field, declared, observed }: ReturnType<typeof driftsOf>[number]): string {
  return field === 'existence' ? 'somebody removed it' : `${field} is ${observed}, Git says ${declared}`
}

function doer(record: ResourceRecord | undefined, drifted: boolean): readonly string[] {
  const by = record?.driftBy
  return !drifted || by === undefined ? [] : [`${by.user} did it by ${by.task}`]
}

/** Returns the conditions in a bad state. */
function badConditions(record: ResourceRecord | undefined): readonly Condition[] {
  return (record?.conditions ?? []).filter(
    ({ type, status }) => (type === 'Ready' && status === 'False') || (type === 'Stalled' && status === 'True'),
  )
}

function isDown(record: ResourceRecord | undefined): boolean {
  return badConditions(record).length > 0
}

function sinceOf(record: ResourceRecord | undefined): number | undefined {
  const since = badConditions(record).map(({ sinceMs }) => sinceMs)
  return since.length === 0 ? undefined : Math.min(...since)
}

function sinceIn(record: ResourceRecord | undefined): { readonly sinceMs?: number } {
  const sinceMs = sinceOf(record)
  return sinceMs === undefined ? {} : { sinceMs }
}

/** Returns the reasons of the last attempts: the run of failures, or else the newest reported trouble. */
function reasons(record: ResourceRecord | undefined, events: readonly CroftEvent[]): readonly string[] {
  if (record === undefined) return []
  const { failure } = record
  if (failure !== undefined)
    return [`${failure.reason}: ${failure.message}${failure.count === 1 ? '' : ` (${failure.count} times)`}`]
  if (!isDown(record)) return []
  const sinceMs = sinceOf(record) ?? 0
  const last = foldEvents(
    events.filter(({ key, type, atMs }) => key === record.key && type === 'Warning' && atMs >= sinceMs),
  ).at(-1)
  if (last !== undefined)
    return [`${last.event.reason}: ${last.event.message}${last.count === 1 ? '' : ` (${last.count} times)`}`]
  return record.conditions.flatMap(({ type, status, message }) =>
    type === 'Ready' && status === 'False' && message !== '' ? [message] : [],
  )
}
