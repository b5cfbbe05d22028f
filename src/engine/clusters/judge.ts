import { resourceUid } from '../../model/declaration.ts'
import type { Expressions } from '../../model/expressions.ts'
import type { ClusterHold, ClusterPlan } from '../../model/observed-cluster.ts'
import type { Condition, NewEvent, ResourceRecord } from '../../model/record.ts'
import type { Step } from '../../model/step.ts'
import { conditionOf, isTrue, withCondition } from '../conditions.ts'
import { clusterSelf, notYet } from '../ready-when.ts'
import { eventsOfAttempts, objectionSentence, pascal, refusalIn, type StepAttempt } from '../steps.ts'
import { BOXES, boxesIn, MEMBERS, SERVERS } from './departed.ts'

/**
 * Turns the observation of a cluster and this pass's steps into its record and events. Pure. A step that continues from
 * an earlier pass is not reported again.
 */
export function judgeCluster(
  look: ClusterPlan,
  attempts: readonly StepAttempt<'cluster'>[],
  before: ResourceRecord | undefined,
  goesOn: (step: Step<'cluster'>) => boolean,
  nowMs: number,
  record: ResourceRecord = clusterRecord(look, attempts, before, nowMs),
): { readonly record: ResourceRecord; readonly events: readonly NewEvent[] } {
  return { record, events: eventsOf(look, attempts, before, record, goesOn, nowMs) }
}

/** Returns the record of a cluster without its `readyWhen`. Pure. */
export function clusterRecord(
  look: ClusterPlan,
  attempts: readonly StepAttempt<'cluster'>[],
  before: ResourceRecord | undefined,
  nowMs: number,
  backedUp?: Omit<Condition, 'sinceMs'>,
): ResourceRecord {
  const { declaration, decision, observed } = look
  const usual = conditionsOf(look, attempts, before?.conditions ?? [], nowMs)
  const conditions =
    backedUp !== undefined
      ? withCondition(usual, backedUp, nowMs)
      : declaration.spec.backup === undefined
        ? usual.filter(({ type }) => type !== 'BackedUp')
        : usual
  const ready = decision.nodes.filter(({ phase }) => phase === 'Ready' || phase === 'Soaking').length
  return {
    key: declaration.key,
    uid: resourceUid(declaration.estate, declaration.key),
    connection: '',
    type: 'cluster',
    generation: declaration.generation,
    policy: declaration.policy,
    conditions,
    createdMs: before?.createdMs ?? nowMs,
    status: decision.phase,
    details: {
      version: declaration.spec.version,
      nodes: `${ready}/${declaration.spec.servers.length + declaration.spec.agents.length}`,
      ...serversOf(declaration),
      [MEMBERS]: membersOf(look, before).join(' '),
      ...boxesOf(look, before),
      ...(observed.identity === undefined ? {} : { caHash: observed.identity.caHash.slice(0, 12) }),
    },
  }
}

/** Ready only if its declaration's `readyWhen` holds too. */
export async function withOwnReadyWhen(
  record: ResourceRecord,
  { name, policy: { readyWhen }, origin }: ClusterPlan['declaration'],
  expressions: Expressions | undefined,
  nowMs: number,
): Promise<ResourceRecord> {
  if (readyWhen === undefined || !isTrue(record.conditions, 'Ready')) return record
  const [why] = await notYet([{ readyWhen, self: clusterSelf(name, record), origin }], expressions)
  if (why === undefined) return record
  const waits = { type: 'Ready', status: 'False', reason: 'ReadyWhen', message: why } as const
  return { ...record, conditions: withCondition(record.conditions, waits, nowMs) }
}

/** Returns declared nodes and those that are still leaving, as later proof that they may leave. */
function membersOf({ declaration, observed }: ClusterPlan, before: ResourceRecord | undefined): readonly string[] {
  const declared = [...declaration.spec.servers, ...declaration.spec.agents].map(({ name }) => name)
  const there = new Set(observed.nodes.filter(({ unclaimed }) => unclaimed !== true).map(({ name }) => name))
  const former = (before?.details?.[MEMBERS] ?? '').split(' ').filter((name) => there.has(name))
  return [...new Set([...declared, ...former])].sort()
}

/** Returns the boxes of nodes; those of former nodes as long as K3s may still be on them. */
function boxesOf(
  { declaration: { spec, otherHosts }, cleared = [] }: ClusterPlan,
  before: ResourceRecord | undefined,
): Readonly<Record<string, string>> {
  const declared = [...spec.servers, ...spec.agents]
  const names = new Set(declared.map(({ name }) => name))
  const former = [...boxesIn(before)].filter(
    ([name, box]) => !names.has(name) && otherHosts?.has(box) === true && !cleared.includes(name),
  )
  const now = declared.flatMap(({ name, machine }) => ('host' in machine ? [[name, machine.host] as const] : []))
  const pairs = [...now, ...former].map(([name, box]) => `${name}=${box}`).sort()
  return pairs.length === 0 ? {} : { [BOXES]: pairs.join(' ') }
}

/** Boxes that existed before the cluster outlive it, so their absence cannot be proven. */
function serversOf({ spec }: ClusterPlan['declaration']): Readonly<Record<string, string>> {
  const keys = spec.servers.flatMap(({ machine }) => ('key' in machine ? [machine.key] : []))
  return keys.length === spec.servers.length ? { [SERVERS]: keys.join(' ') } : {}
}

/**
 * Reports whether the cluster is at rest: nothing to do or under way, and healthy or waiting for a person. Nodes that
 * wait for their network are at rest only if neither K3s nor an add-on will provide it.
 */
export function isClusterSettled({ decision, declaration, observed }: ClusterPlan, hasAddons: boolean): boolean {
  if (decision.steps.length > 0 || decision.waits.length > 0) return false
  const forGood = declaration.spec.network.flannelBackend === 'none' && !hasAddons
  // A server whose start was not seen yet comes up by itself: no person has to act.
  const waitsForPerson = objections(decision).some(({ guard }) => guard !== 'servers')
  return (
    (decision.phase === 'Ready' && observed.silentEndpoint === undefined) ||
    decision.phase === 'Off' ||
    (decision.phase === 'AwaitingCNI' && forGood) ||
    waitsForPerson
  )
}

function conditionsOf(
  look: ClusterPlan,
  attempts: readonly StepAttempt<'cluster'>[],
  before: readonly Condition[],
  nowMs: number,
): readonly Condition[] {
  const { decision, observed } = look
  const failure = attempts.map(({ outcome }) => refusalIn(outcome)).find((refusal) => refusal !== undefined)
  const [refused] = decision.refusals
  const [held] = decision.holds
  const [step] = decision.steps
  const [wait] = decision.waits
  const blocked = refused ?? held
  const hold = observed.requests.hold
  const synced: Omit<Condition, 'sinceMs'> =
    blocked !== undefined
      ? { type: 'Synced', status: 'False', reason: pascal(blocked.guard), message: objectionSentence(blocked) }
      : failure !== undefined
        ? { type: 'Synced', status: 'False', reason: failure.reason, message: failure.message }
        : step !== undefined
          ? { type: 'Synced', status: 'False', reason: pascal(step.verb), message: step.summary }
          : wait !== undefined
            ? { type: 'Synced', status: 'False', reason: 'Waiting', message: `waits for ${wait.awaits}` }
            : { type: 'Synced', status: 'True', reason: 'AsDeclared', message: '' }
  const ready: Omit<Condition, 'sinceMs'> =
    hold?.power === 'off'
      ? { type: 'Ready', status: 'True', reason: 'Off', message: hold.reason }
      : observed.silentEndpoint !== undefined && isWell(look)
        ? { type: 'Ready', status: 'False', reason: 'EndpointSilent', message: silence(observed.silentEndpoint) }
        : observed.slowEndpoint !== undefined && isWell(look)
          ? { type: 'Ready', status: 'False', reason: 'EndpointSlow', message: slowness(observed.slowEndpoint) }
          : observed.api === 'yes' && isWell(look)
            ? { type: 'Ready', status: 'True', reason: 'NodesReady', message: decision.faultTolerance }
            : decision.phase === 'Unknown'
              ? { type: 'Ready', status: 'Unknown', reason: 'NotSeen', message: 'its API does not answer' }
              : {
                  type: 'Ready',
                  status: 'False',
                  reason: decision.phase,
                  message: wait === undefined ? unready(look) : `waits for ${wait.awaits}`,
                }
  const stalled: Omit<Condition, 'sinceMs'> =
    refused === undefined
      ? { type: 'Stalled', status: 'False', reason: 'Progressing', message: '' }
      : { type: 'Stalled', status: 'True', reason: pascal(refused.guard), message: objectionSentence(refused) }
  return [synced, ready, stalled].reduce((all, next) => withCondition(all, next, nowMs), before)
}

function silence(endpoint: string): string {
  return `all nodes are Ready, but ${endpoint}, the declared endpoint, does not answer; only the servers' own addresses do`
}

function slowness({ endpoint, ms }: NonNullable<ClusterPlan['observed']['slowEndpoint']>): string {
  return `all nodes are Ready, but ${endpoint}, the declared endpoint, answers only after ${(ms / 1000).toFixed(1)} s; the servers' own addresses answer sooner`
}

/** Reports whether every declared node is Ready, or off as intended. */
function isWell({ declaration, decision }: ClusterPlan): boolean {
  const rows = new Map(decision.nodes.map((row) => [row.name, row.phase]))
  const { servers, agents } = declaration.spec
  return [...servers, ...agents].every(({ name }) =>
    ['Ready', 'Soaking', 'PoweredOff'].includes(rows.get(name) ?? 'Unknown'),
  )
}

function unready({ decision }: ClusterPlan): string {
  const rows = decision.nodes.filter(({ phase }) => !['Ready', 'Soaking', 'PoweredOff'].includes(phase))
  return rows
    .slice(0, 5)
    .map(({ name, phase, message }) => `${name}: ${message === '' ? phase : message}`)
    .join('; ')
}

function eventsOf(
  look: ClusterPlan,
  attempts: readonly StepAttempt<'cluster'>[],
  before: ResourceRecord | undefined,
  after: ResourceRecord,
  goesOn: (step: Step<'cluster'>) => boolean,
  nowMs: number,
): readonly NewEvent[] {
  const { commit } = look.declaration.origin
  const tell = (type: NewEvent['type'], reason: string, message: string): NewEvent => ({
    atMs: nowMs,
    key: look.declaration.key,
    type,
    reason,
    message,
    ...(commit === undefined ? {} : { commit }),
  })
  const known = before === undefined ? undefined : conditionOf(before.conditions, 'Synced')?.message
  // A repeated failure is counted, but not reported again.
  const events = [
    ...eventsOfAttempts(attempts, tell, ({ step, outcome }, refusal) =>
      refusal === undefined ? goesOn(step) && outcome.result !== 'unclear' : known === refusal.message,
    ),
  ]
  if (before?.status !== after.status) events.push(tell('Normal', after.status, phaseSentence(look, after)))
  const backup = conditionOf(after.conditions, 'BackedUp')
  const backupBefore = before === undefined ? undefined : conditionOf(before.conditions, 'BackedUp')
  if (backup?.status === 'False' && backup.message !== backupBefore?.message)
    events.push(tell('Warning', backup.reason, backup.message))
  const [objection] = objections(look.decision)
  // The Power reports its own orders, so they are no warning here.
  const ordered = look.observed.requests.hold?.power !== undefined
  if (objection !== undefined && known !== objectionSentence(objection))
    events.push(tell(ordered ? 'Normal' : 'Warning', pascal(objection.guard), objectionSentence(objection)))
  return events
}

function phaseSentence(look: ClusterPlan, after: ResourceRecord): string {
  const { hold } = look.observed.requests
  if (hold !== undefined) return hold.reason
  if (isTrue(after.conditions, 'Ready')) return look.decision.faultTolerance
  return conditionOf(after.conditions, 'Ready')?.message ?? ''
}

function objections({
  holds,
  refusals,
}: {
  readonly holds: readonly ClusterHold[]
  readonly refusals: readonly ClusterHold[]
}): readonly ClusterHold[] {
  return [...refusals, ...holds]
}
