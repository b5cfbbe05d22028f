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
  /** As power lets it be. */
  readonly estate: Estate
  readonly powers: readonly PowerPlan[]
  readonly clusters: readonly ClusterPlan[]
  readonly things: Things
}

/**
 * plan(declared, observed, remembered, now) → actions. Pure: what `croft plan` prints is what the engine does, because
 * both are this function's answer.
 */
export function plan(input: PlanInput): Plan {
  return atOnce(planWhole(input)).plan
}

/** The same with what it takes to revise it, one resource at a step: a controller answers others in between. */
export function planWhole(input: PlanInput): Steps<Planned> {
  return compute(input, undefined)
}

/**
 * The same plan after more was read of some things. `input` differs from the one before in worlds, and in what the
 * history of Git says of removals; the answer is that of `plan(input)`, without deciding again what nothing new is known of.
 */
export function revise(before: Planned, input: PlanInput): Steps<Planned> {
  return compute(input, before)
}

/** The three planners one after another, and the guards after each: what one decides is what the next goes by. */
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
  // Without any server no CA and no token are made: they would be those of a cluster that never comes to be.
  const steps = servers.every(({ name }) => isStuck(name)) ? [] : decision.steps
  const isHeld = waits.length < decision.waits.length || steps.length < decision.steps.length
  return {
    ...look,
    refused: new Set(machines.keys()),
    decision: { ...decision, steps, waits, holds: isHeld ? [...decision.holds, hold] : decision.holds },
  }
}

/** The estate as Powers let it be; the same object for the same estate, so that what was decided on it still holds. */
function switched(declared: Estate, powers: readonly PowerPlan[], before: Planned | undefined): Estate {
  if (before?.declared === declared) return before.estate
  if (before === undefined || before.declared.resources !== declared.resources) return withPower(declared, powers)
  return before.estate === before.declared ? declared : { ...declared, resources: before.estate.resources }
}

/** Asks the guards one after another; the first objection stands, also to what would be done after a wait. */
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

/** A cluster whose steps a guard objects to keeps what was seen of it, and takes none. */
function guardCluster(look: ClusterPlan): ClusterPlan {
  const { declaration, decision } = look
  const objection = decision.steps.length === 0 ? undefined : objectionTo(declaration)
  if (objection === undefined) return look
  return { ...look, decision: { ...decision, steps: [], holds: [...decision.holds, objection] } }
}

/** The same for a Power; machines that it would switch stay as they are. */
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
