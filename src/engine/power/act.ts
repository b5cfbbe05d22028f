import type { PowerDriver } from '../../drivers/power-port.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Outcome, PowerVerb, Step } from '../../model/step.ts'
import type { ClusterSessions } from '../clusters/sessions.ts'
import type { FactsByConnection } from '../connection-facts.ts'
import type { ExistingClusters } from '../existing-clusters.ts'
import { dueSteps, performSteps, refusalIn, type StepAttempt, type StepDeps, stepName } from '../steps.ts'
import type { PowerMemory } from './memory.ts'
import { type PowerNotes, writePowerDone, writePowerNotes } from './notes.ts'
import type { ReachedPower } from './observe.ts'

export interface PowerActDeps extends StepDeps {
  readonly sessions: ClusterSessions
  readonly existing: ExistingClusters
  readonly power: (() => Promise<PowerDriver>) | undefined
  readonly powerMemory: PowerMemory
}

/** Pauses before a repetition, for steps whose effect shows late. All others are due in every pass. */
const PAUSES: Readonly<Partial<Record<PowerVerb, number>>> = {
  'wake-host': LIMITS.powerRepeatMs,
  'stop-host': LIMITS.powerRepeatMs,
  'start-k3s': LIMITS.powerRepeatMs,
  'drain-node': LIMITS.powerRepeatMs,
  'arm-ha': LIMITS.powerRepeatMs,
  'disarm-ha': LIMITS.powerRepeatMs,
  // The repetition also triggers a new look at the node.
  'stop-k3s': LIMITS.powerLook.longestMs,
}

/** Performs the due steps of one Power in parallel, each with its intention. Each is idempotent. */
export async function actOnPower(
  looked: ReachedPower,
  factsByConnection: FactsByConnection,
  deps: PowerActDeps,
  signal: AbortSignal,
): Promise<readonly StepAttempt<'power'>[]> {
  const { declaration, decision } = looked.look
  const { clock, store, epoch, powerMemory: memory } = deps
  if (decision.ended !== undefined) {
    const { sinceMs, state } = decision.wanted
    await writePowerDone(store, epoch, declaration.name, { sinceMs, state, ...decision.ended })
  }
  const now = clock.monotonicMs()
  const due = dueSteps(declaration.key, decision.steps, deps, now).filter((step) => {
    const begun = memory.begun.get(stepName(declaration.key, step))
    return begun === undefined || now - begun >= (PAUSES[step.verb] ?? 0)
  })
  if (due.length === 0 || deps.power === undefined) return []
  const driver = await deps.power()
  const notes = await noted(looked, due, deps)
  const client = await clientOf(looked, deps, signal)
  for (const step of due) memory.begun.set(stepName(declaration.key, step), now)
  const attempts = await performSteps(declaration.key, due, deps, (step) =>
    perform(step, looked, factsByConnection, driver, client, deps, signal),
  )
  await noteHooks(declaration.name, attempts, notes, deps)
  return attempts
}

async function clientOf({ cluster, existing }: ReachedPower, deps: PowerActDeps, signal: AbortSignal) {
  if (existing !== undefined) {
    const client = await deps.existing.client(existing, signal)
    return 'problem' in client ? undefined : client
  }
  return cluster === undefined ? undefined : (await deps.sessions.of(cluster.look.declaration)).kubernetes()
}

/** Records that a host is told to go down before it is: afterwards there may be no system left to ask. */
async function noted(looked: ReachedPower, due: readonly Step<'power'>[], deps: PowerActDeps): Promise<PowerNotes> {
  const { declaration, decision } = looked.look
  const { sinceMs, state } = decision.wanted
  const same = looked.notes?.sinceMs === sinceMs && looked.notes.state === state
  const before: PowerNotes =
    same && looked.notes !== undefined ? looked.notes : { sinceMs, state, stopped: {}, hooks: {} }
  const stopped = { ...before.stopped }
  for (const { verb, host } of due) if (verb === 'stop-host' && host !== undefined) stopped[host] = deps.epoch
  const notes = { ...before, stopped }
  await writePowerNotes(deps.store, deps.epoch, declaration.name, notes)
  return notes
}

async function noteHooks(
  power: string,
  attempts: readonly StepAttempt<'power'>[],
  notes: PowerNotes,
  deps: PowerActDeps,
): Promise<void> {
  const ran = attempts.flatMap(({ step, outcome }) => {
    if (step.verb !== 'run-hook' || step.hook === undefined) return []
    return [[step.hook, { ok: outcome.result === 'done', output: refusalIn(outcome)?.message ?? '' }] as const]
  })
  if (ran.length === 0) return
  await writePowerNotes(deps.store, deps.epoch, power, {
    ...notes,
    hooks: { ...notes.hooks, ...Object.fromEntries(ran) },
  })
}

async function perform(
  step: Step<'power'>,
  looked: ReachedPower,
  factsByConnection: FactsByConnection,
  driver: PowerDriver,
  client: Awaited<ReturnType<typeof clientOf>>,
  deps: PowerActDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { spec } = looked.look.declaration
  switch (step.verb) {
    case 'stop-k3s':
    case 'start-k3s': {
      const { cluster } = looked
      if (cluster === undefined) return { result: 'not-sent', message: 'there is no cluster' }
      const session = await deps.sessions.of(cluster.look.declaration)
      return session.perform(clusterStep(step, deps.clock.now()), cluster.surroundings, signal)
    }
    case 'arm-ha':
    case 'disarm-ha': {
      const site = factsByConnection.get(step.connection ?? '')?.session.site
      if (site === undefined) return { result: 'not-sent', message: `${step.connection ?? '?'} cannot be reached` }
      return site.switchHighAvailability(step.verb === 'arm-ha', signal)
    }
    case 'stop-host': {
      const host = spec.hosts.find(({ name }) => name === step.host)
      const site = factsByConnection.get(host?.connection ?? '')?.session.site
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

function clusterStep({ verb, node, lane, summary, awaits }: Step<'power'>, nowMs: number): Step<'cluster'> {
  return {
    about: 'cluster',
    verb: verb === 'stop-k3s' ? 'stop-k3s' : 'restart-k3s',
    ...(node === undefined ? {} : { node }),
    lane,
    summary,
    reason: 'power',
    awaits,
    sinceMs: nowMs,
  }
}
