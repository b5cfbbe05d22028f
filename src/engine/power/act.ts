import type { PowerDriver } from '../../drivers/power-port.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Random } from '../../lib/random.ts'
import type { ClusterStep } from '../../model/cluster-decision.ts'
import type { CoordinatedIntention } from '../../model/intention.ts'
import type { PowerStep, PowerVerb } from '../../model/power-decision.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import type { Store } from '../../store/port.ts'
import { journalled } from '../act.ts'
import type { ClusterSessions } from '../clusters/sessions.ts'
import { countFailure } from '../failures.ts'
import type { Looking } from '../look.ts'
import type { PowerLooked } from './look.ts'
import type { PowerMemory } from './memory.ts'
import { type PowerNotes, writePowerDone, writePowerNotes } from './notes.ts'

export interface PowerAttempt {
  readonly step: PowerStep
  readonly outcome: Outcome
}

export interface PowerActDeps {
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly epoch: number
  readonly sessions: ClusterSessions
  readonly power: (() => Promise<PowerDriver>) | undefined
  readonly powerMemory: PowerMemory
  /** Steps that were begun earlier and may still arrive. */
  readonly unsure: readonly CoordinatedIntention[]
  nextIntentionId(): string
}

/** What the plan for machines does. */
const MACHINES: ReadonlySet<PowerVerb> = new Set(['stop-machine', 'start-machine'])

/** What is asked for again only after a while: its effect takes its time to be seen. The rest is due in every pass. */
const PAUSES: Readonly<Partial<Record<PowerVerb, number>>> = {
  'wake-host': LIMITS.powerRepeatMs,
  'stop-host': LIMITS.powerRepeatMs,
  'start-k3s': LIMITS.powerRepeatMs,
  'drain-node': LIMITS.powerRepeatMs,
  'arm-ha': LIMITS.powerRepeatMs,
  'disarm-ha': LIMITS.powerRepeatMs,
  // Asking again is also what has the node looked at again.
  'stop-k3s': LIMITS.powerLook.longestMs,
}

/** Performs the due steps of one Power side by side, each with its intention. Each of them may be repeated. */
export async function actOnPower(
  looked: PowerLooked,
  lookings: ReadonlyMap<string, Looking>,
  deps: PowerActDeps,
  signal: AbortSignal,
): Promise<readonly PowerAttempt[]> {
  const { declaration, decision } = looked.look
  const { clock, store, epoch, powerMemory: memory } = deps
  if (decision.ended !== undefined) {
    const { sinceMs, state } = decision.wanted
    await writePowerDone(store, epoch, declaration.name, { sinceMs, state, ...decision.ended })
  }
  const now = clock.monotonicMs()
  const awaited = deps.unsure.flatMap((one) =>
    one.about === 'power' && one.key === declaration.key ? [one.step.host] : [],
  )
  const due = decision.steps.filter((step) => {
    if (MACHINES.has(step.do)) return false
    // A host to which an earlier order may still come is not given another one.
    if (step.host !== undefined && awaited.includes(step.host)) return false
    const name = powerStepName(declaration.key, step)
    const failure = memory.failures.get(name)
    if (failure !== undefined && failure.nextAttemptMs > now) return false
    const begun = memory.begun.get(name)
    return begun === undefined || now - begun >= (PAUSES[step.do] ?? 0)
  })
  if (due.length === 0 || deps.power === undefined) return []
  const driver = await deps.power()
  const notes = await noted(looked, due, deps)
  const client = await clientOf(looked, deps)
  const attempts = await Promise.all(
    due.map(async (step): Promise<PowerAttempt> => {
      const name = powerStepName(declaration.key, step)
      memory.begun.set(name, now)
      const begun = { id: deps.nextIntentionId(), epoch, key: declaration.key, atMs: clock.now() }
      const outcome = await journalled({ ...begun, state: 'intended', about: 'power', step }, deps, () =>
        perform(step, looked, lookings, driver, client, deps, signal),
      )
      const refusal = refusalOf(outcome)
      if (refusal === undefined) memory.failures.delete(name)
      else memory.failures.set(name, countFailure(memory.failures.get(name), refusal, now, deps.random))
      return { step, outcome }
    }),
  )
  await noteHooks(declaration.name, attempts, notes, deps)
  return attempts
}

async function clientOf({ cluster }: PowerLooked, { sessions }: PowerActDeps) {
  return cluster === undefined ? undefined : (await sessions.of(cluster.look.declaration)).kubernetes?.()
}

/** Before a host is told to go down it is written down that it was: afterwards nobody may be left to ask. */
async function noted(looked: PowerLooked, due: readonly PowerStep[], deps: PowerActDeps): Promise<PowerNotes> {
  const { declaration, decision } = looked.look
  const { sinceMs, state } = decision.wanted
  const same = looked.notes?.sinceMs === sinceMs && looked.notes.state === state
  const before: PowerNotes =
    same && looked.notes !== undefined ? looked.notes : { sinceMs, state, stopped: {}, hooks: {} }
  const stopped = { ...before.stopped }
  for (const { do: verb, host } of due) if (verb === 'stop-host' && host !== undefined) stopped[host] = deps.epoch
  const notes = { ...before, stopped }
  await writePowerNotes(deps.store, deps.epoch, declaration.name, notes)
  return notes
}

async function noteHooks(
  power: string,
  attempts: readonly PowerAttempt[],
  notes: PowerNotes,
  deps: PowerActDeps,
): Promise<void> {
  const ran = attempts.flatMap(({ step, outcome }) => {
    if (step.do !== 'run-hook' || step.hook === undefined) return []
    return [[step.hook, { ok: outcome.result === 'done', output: refusalOf(outcome)?.message ?? '' }] as const]
  })
  if (ran.length === 0) return
  await writePowerNotes(deps.store, deps.epoch, power, {
    ...notes,
    hooks: { ...notes.hooks, ...Object.fromEntries(ran) },
  })
}

async function perform(
  step: PowerStep,
  looked: PowerLooked,
  lookings: ReadonlyMap<string, Looking>,
  driver: PowerDriver,
  client: Awaited<ReturnType<typeof clientOf>>,
  deps: PowerActDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { spec } = looked.look.declaration
  switch (step.do) {
    case 'stop-k3s':
    case 'start-k3s': {
      const { cluster } = looked
      if (cluster === undefined) return { result: 'not-sent', message: 'there is no cluster' }
      const session = await deps.sessions.of(cluster.look.declaration)
      return session.perform(clusterStep(step, deps.clock.now()), cluster.surroundings, signal)
    }
    case 'arm-ha':
    case 'disarm-ha': {
      const site = lookings.get(step.connection ?? '')?.session.site
      if (site === undefined) return { result: 'not-sent', message: `${step.connection ?? '?'} cannot be reached` }
      return site.switchHighAvailability(step.do === 'arm-ha', signal)
    }
    case 'stop-host': {
      const host = spec.hosts.find(({ name }) => name === step.host)
      const site = lookings.get(host?.connection ?? '')?.session.site
      const asks = host?.node !== undefined && !host.own && step.force !== true
      if (asks && site !== undefined) return site.shutDownHost(host.node, signal)
      break
    }
    default:
      break
  }
  const reach = { spec, shells: looked.shells, ...(client === undefined ? {} : { client }) }
  return driver.perform(step, reach, signal)
}

function clusterStep({ do: verb, node, lane, summary, awaits }: PowerStep, nowMs: number): ClusterStep {
  return {
    do: verb === 'stop-k3s' ? 'stop-k3s' : 'restart-k3s',
    ...(node === undefined ? {} : { node }),
    lane,
    summary,
    reason: 'power',
    awaits,
    sinceMs: nowMs,
  }
}

export function refusalOf(outcome: Outcome): Refusal | undefined {
  if (outcome.result === 'refused') return outcome.refusal
  if (outcome.result !== 'not-sent') return undefined
  return { reason: 'NotReached', meaning: 'backoff', message: outcome.message }
}

export function powerStepName(key: string, step: PowerStep): string {
  const { workload } = step
  const what = workload === undefined ? '' : `${workload.kind} ${workload.namespace}/${workload.name}`
  const words = [
    step.do,
    what,
    step.node,
    step.host,
    step.machine,
    step.connection,
    step.hook,
    step.force ? 'force' : '',
  ]
  return `${key} ${words.filter((word) => word !== undefined && word !== '').join(' ')}`
}
