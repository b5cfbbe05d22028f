import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import type { Desired, Resource } from '../../model/resource.ts'

/**
 * Returns the estate with the machines' power as wanted now: a machine that must be off is declared off, and one whose
 * turn has not come keeps its state. The generation includes this, so that following a power request is no drift.
 */
export function withPower(estate: Estate, looks: readonly PowerPlan[]): Estate {
  const commands = new Map<string, PowerCommand>(looks.flatMap(commandsOf))
  if (commands.size === 0) return estate
  return {
    ...estate,
    resources: estate.resources.map((resource) => {
      const command = commands.get(resource.key)
      return command === undefined ? resource : commanded(resource, command)
    }),
  }
}

/** Returns machines that must be off on request. */
export function goingOff(looks: readonly PowerPlan[]): ReadonlySet<ResourceKey> {
  return new Set(
    looks.flatMap(({ decision }) =>
      Object.entries(decision.machines).flatMap(([key, command]) => (command === 'off' ? [key as ResourceKey] : [])),
    ),
  )
}

/** `off-for-good`: its host must not start it at boot either, since other things must start before it. */
type PowerCommand = 'on' | 'off' | 'off-for-good' | 'leave'

function commandsOf({ declaration, decision, observed }: PowerPlan): readonly (readonly [string, PowerCommand])[] {
  const { hosts, infrastructure } = declaration.spec
  return Object.entries(decision.machines).map(([key, command]) => {
    const machine = observed.machines.find((one) => one.key === key)
    const waits = infrastructure.length > 0 && machine?.role !== 'infrastructure'
    const booted = machine?.host !== undefined && hosts.some(({ name }) => name === machine.host)
    return [key, command === 'off' && waits && booted ? 'off-for-good' : command] as const
  })
}

function commanded(resource: Resource, command: PowerCommand): Resource {
  const desired = switched(resource.desired, command)
  return desired === undefined ? resource : { ...resource, desired, generation: `${resource.generation}+${command}` }
}

function switched(desired: Desired, command: PowerCommand): Desired | undefined {
  const how = {
    ...(command === 'leave' ? {} : { power: command === 'on' ? ('running' as const) : ('stopped' as const) }),
    ...(command === 'off-for-good' ? { onBoot: false } : {}),
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
