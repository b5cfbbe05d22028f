import { atOnce, eachInSteps, type Steps } from '../lib/in-turns.ts'
import type { Consent } from '../model/consent.ts'
import type { Estate } from '../model/estate.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { PowerPlan } from '../model/observed-power.ts'
import { isDoing, type Plan, type PlanEntry } from '../model/plan.ts'
import { notBefore } from './clusters/not-before.ts'
import { planClusters } from './clusters/plan.ts'
import { consentTo, shownList } from './guards/consent.ts'
import type { GuardContext, Guarded } from './guards/guard.ts'
import { objectionTo } from './guards/objection.ts'
import { GUARDS } from './guards/registry.ts'
import type { PlanInput } from './planner.ts'
import { withPower } from './power/machines.ts'
import { planPowers } from './power/plan.ts'
import { planThings, type Things } from './things/plan.ts'

/** A plan with its parts, so that it can be revised. */
export interface Planned {
  readonly plan: Plan
  readonly declared: Estate
  /** With the power that Powers want. */
  readonly estate: Estate
  readonly powers: readonly PowerPlan[]
  readonly clusters: readonly ClusterPlan[]
  readonly things: Things
}

/**
 * plan(declared, observed, remembered, now) → actions. Pure: `croft plan` prints this result and the engine performs
 * it.
 */
export function plan(input: PlanInput): Plan {
  return atOnce(planWhole(input)).plan
}

/** The same with its intermediate results, in steps of one resource: a controller answers requests in between. */
export function planWhole(input: PlanInput): Steps<Planned> {
  return compute(input, undefined)
}

/**
 * Revises a plan after some things were read. `input` may differ from the previous one in worlds and in the history of
 * Git; the result equals `plan(input)`, without repeating decisions on unchanged facts.
 */
export function revise(before: Planned, input: PlanInput): Steps<Planned> {
  return compute(input, before)
}

/** Runs the three planners in order, and the guards after each: each planner uses the previous one's decisions. */
function* compute(input: PlanInput, before: Planned | undefined): Steps<Planned> {
  const powers = before?.powers ?? (yield* planPowers(input, {})).map(guardPower)
  const clusters =
    before?.clusters ?? (yield* planClusters(input, { powers })).map((look) => guardCluster(notBefore(look, input)))
  const declared = input.estate
  const estate = switched(declared, powers, before)
  const things = yield* planThings({ ...input, estate }, { clusters, things: before?.things })
  const entries = yield* eachInSteps(things.guarded, (one) => guard(one, things.context))
  const plan: Plan = {
    entries,
    notes: things.notes,
    problems: estate.problems,
    ...(clusters.length === 0 ? {} : { clusters }),
    ...(powers.length === 0 ? {} : { powers }),
  }
  return { plan: withRefusedNodes(plan), declared, estate, powers, clusters, things }
}

/** Returns the plan whose clusters know the refused machines. Call it again after refusing more entries. */
export function withRefusedNodes(plan: Plan): Plan {
  const { clusters, entries } = plan
  return clusters === undefined ? plan : { ...plan, clusters: clusters.map((look) => withRefused(look, entries)) }
}

/** Returns the cluster with its refused machines marked, so that the plan promises no join and awaits none of them. */
function withRefused(look: ClusterPlan, entries: readonly PlanEntry[]): ClusterPlan {
  const keys = new Set(entries.flatMap(({ key, action }) => (action.do === 'refuse' ? [key] : [])))
  const { servers, agents } = look.declaration.spec
  const machines = new Map<string, string>(
    [...servers, ...agents].flatMap(({ name, machine }) =>
      'key' in machine && keys.has(machine.key) ? [[name, machine.key]] : [],
    ),
  )
  if (machines.size === 0) return look
  const { decision, observed } = look
  const unseen = new Set(observed.nodes.filter(({ machine }) => machine.exists !== 'yes').map(({ name }) => name))
  const isStuck = (node: string | undefined) => node !== undefined && unseen.has(node) && machines.has(node)
  const stuck = [...machines].filter(([node]) => unseen.has(node))
  const waits = decision.waits.filter(({ node }) => !isStuck(node))
  const hold = {
    guard: 'machine',
    reason: `croft neither looks into ${stuck.map(([node]) => node).join(', ')} nor changes anything there: ${stuck.map(([, key]) => key).join(', ')} is refused`,
    allow: 'what the plan says at that machine',
  }
  // Without any possible server croft creates no CA and token: the cluster would never exist.
  const steps = servers.every(({ name }) => isStuck(name)) ? [] : decision.steps
  const isHeld = waits.length < decision.waits.length || steps.length < decision.steps.length
  return {
    ...look,
    refused: new Set(machines.keys()),
    decision: { ...decision, steps, waits, holds: isHeld ? [...decision.holds, hold] : decision.holds },
  }
}

/** Returns the estate with the power that Powers want: the same object each time, so that decisions stay valid. */
function switched(declared: Estate, powers: readonly PowerPlan[], before: Planned | undefined): Estate {
  if (before?.declared === declared) return before.estate
  if (before === undefined || before.declared.resources !== declared.resources) return withPower(declared, powers)
  return before.estate === before.declared ? declared : { ...declared, resources: before.estate.resources }
}

/** Asks the guards in order; the first objection counts, also to an action after a wait. */
function guard(guarded: Guarded, context: GuardContext): PlanEntry {
  const { action } = guarded.entry
  if (action.do === 'wait' && action.next !== undefined) {
    const after = { ...guarded.entry, action: { ...action.next, reason: action.message } }
    const judged = guard({ ...guarded, entry: after }, context)
    return isDoing(judged.action) ? guarded.entry : judged
  }
  if (!isDoing(action)) return guarded.entry
  const consents: Consent[] = []
  for (const one of GUARDS) {
    const judged = one.judge(action, guarded, context)
    if (judged === action) continue
    if (judged.do !== 'hold' || one.approvable !== true) return { ...guarded.entry, action: judged }
    const shows = shownList(guarded.entry, action, guarded.births)
    const consent = consentTo(context.estate.consents, guarded.entry.key, one.name, action, shows)
    if (consent === undefined) return { ...guarded.entry, action: { ...judged, shows } }
    consents.push(consent)
  }
  return consents.length === 0 ? guarded.entry : { ...guarded.entry, consents }
}

/** If a guard stops a cluster, it keeps its observation and loses its steps. */
function guardCluster(look: ClusterPlan): ClusterPlan {
  const { declaration, decision } = look
  const objection = decision.steps.length === 0 ? undefined : objectionTo(declaration)
  if (objection === undefined) return look
  return { ...look, decision: { ...decision, steps: [], holds: [...decision.holds, objection] } }
}

/** The same for a Power; its machines stay as they are. */
function guardPower(look: PowerPlan): PowerPlan {
  const { declaration, decision } = look
  const objection = decision.steps.length === 0 ? undefined : objectionTo(declaration)
  if (objection === undefined) return look
  const machines = Object.fromEntries(Object.keys(decision.machines).map((key) => [key, 'leave' as const]))
  return {
    ...look,
    decision: { ...decision, phase: 'Held', steps: [], holds: [...decision.holds, objection], machines },
  }
}
