import type { ClusterDecision } from '../../model/cluster-decision.ts'
import type { Estate } from '../../model/estate.ts'
import type { ResourceKey } from '../../model/key.ts'
import type { ClusterStandstill } from '../../model/observed-cluster.ts'
import type { PowerLook } from '../../model/power-look.ts'
import type { Desired, Resource } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import type { LookedAt } from '../clusters/look.ts'

/**
 * The estate as power wants it now: a machine that is to be off is declared so, and one whose turn has not come is left
 * as it is. Its generation says so as well: to follow an order is no drift.
 */
export function withPower(estate: Estate, looks: readonly PowerLook[]): Estate {
  const orders = new Map<string, Order>(looks.flatMap(ordersOf))
  if (orders.size === 0) return estate
  return {
    ...estate,
    resources: estate.resources.map((resource) => {
      const order = orders.get(resource.key)
      return order === undefined ? resource : ordered(resource, order)
    }),
  }
}

/** Machines that are to be off by order. */
export function goingOff(looks: readonly PowerLook[]): ReadonlySet<ResourceKey> {
  return new Set(
    looks.flatMap(({ decision }) =>
      Object.entries(decision.machines).flatMap(([key, order]) => (order === 'off' ? [key as ResourceKey] : [])),
    ),
  )
}

/** `off-for-good`: not started either by its host when that boots, for there is something that must come before it. */
type Order = 'on' | 'off' | 'off-for-good' | 'leave'

function ordersOf({ declaration, decision, observed }: PowerLook): readonly (readonly [string, Order])[] {
  const { hosts, infrastructure } = declaration.spec
  return Object.entries(decision.machines).map(([key, order]) => {
    const machine = observed.machines.find((one) => one.key === key)
    const waits = infrastructure.length > 0 && machine?.role !== 'infrastructure'
    const booted = machine?.host !== undefined && hosts.some(({ name }) => name === machine.host)
    return [key, order === 'off' && waits && booted ? 'off-for-good' : order] as const
  })
}

function ordered(resource: Resource, order: Order): Resource {
  const desired = switched(resource.desired, order)
  return desired === undefined ? resource : { ...resource, desired, generation: `${resource.generation}+${order}` }
}

function switched(desired: Desired, order: Order): Desired | undefined {
  const how = {
    ...(order === 'leave' ? {} : { power: order === 'on' ? ('running' as const) : ('stopped' as const) }),
    ...(order === 'off-for-good' ? { onBoot: false } : {}),
  }
  if (desired.type === 'vm') {
    const { power: _, ...rest } = desired.vm
    return { type: 'vm', vm: { ...rest, ...how } }
  }
  if (desired.type === 'container') {
    const { power: _, ...rest } = desired.container
    return { type: 'container', container: { ...rest, ...how } }
  }
  return undefined
}

/**
 * Clusters as power lets them be: while one goes off or on, its coordinator stands still, and machines that are to go
 * down are its own order, so that nobody takes them for nodes that must not be touched.
 */
export function heldByPower(
  clusters: readonly LookedAt[],
  looks: readonly PowerLook[],
  nowMs: number,
): readonly LookedAt[] {
  return clusters.map((looked) => {
    const { declaration, observed } = looked.look
    const power = looks.find(({ declaration: one }) => one.spec.cluster === declaration.name)
    if (power === undefined) return looked
    const { decision } = power
    const stops = decision.steps.flatMap((step): readonly Step<'cluster'>[] => {
      if (step.do !== 'stop-machine' || step.node === undefined) return []
      const { node, lane, summary, awaits } = step
      const stop = { about: 'cluster', do: 'stop-machine', node, lane, summary, awaits } as const
      return [{ ...stop, reason: decision.wanted.why, sinceMs: nowMs }]
    })
    if (!decision.holdsCluster && stops.length === 0) return looked
    if (!decision.holdsCluster)
      return { ...looked, look: { ...looked.look, decision: withSteps(looked.look.decision, stops) } }
    // Kept with what was seen: whoever forecasts from it must know as well.
    const still = { ...observed, orders: { ...observed.orders, hold: standstillOf(power) } }
    const decided = withSteps(coordinate(declaration.spec, still, nowMs), stops)
    return { ...looked, look: { ...looked.look, observed: still, decision: decided } }
  })
}

function withSteps(decision: ClusterDecision, steps: readonly Step<'cluster'>[]): ClusterDecision {
  return { ...decision, steps: [...decision.steps, ...steps] }
}

function standstillOf({ declaration: { key, name }, decision: { phase, wanted } }: PowerLook): ClusterStandstill {
  const how = phase === 'Off' ? 'off' : phase === 'GoingOn' ? 'going on' : 'going off'
  return {
    reason: `${key} is ${how} (${wanted.why})`,
    allow: phase === 'Off' ? `croft power on ${name}` : 'nothing: it goes on by itself',
    power: phase === 'Off' ? 'off' : 'changing',
  }
}
