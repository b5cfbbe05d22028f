import { LookFailed } from '../../drivers/port.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Estate } from '../../model/estate.ts'
import type { ResourceKey } from '../../model/key.ts'
import type { PowerDeclaration } from '../../model/power.ts'
import type { Rules } from '../../model/rules.ts'
import { sightings } from '../../plan/things/sights.ts'
import type { Ledger } from '../../plan/things/world.ts'
import { lookClosely } from '../look.ts'
import type { PowerSurroundings } from './deps.ts'
import type { PowerMemory } from './memory.ts'

/**
 * A survey's power is up to ten seconds old. Machines that are on their way down, or up, by an order are asked
 * themselves: their tier must not wait for a cache.
 */
export async function askMachines(
  estate: Estate,
  powers: readonly PowerDeclaration[],
  seen: PowerSurroundings,
  ledger: Ledger,
  rules: ReadonlyMap<string, Rules>,
  memory: PowerMemory,
  signal: AbortSignal,
): Promise<void> {
  const moving = new Set<ResourceKey>()
  const off = new Set<ResourceKey>()
  for (const { key } of powers) {
    const look = memory.looks.get(key)
    const last = look?.decision
    if (last?.wanted.state === 'on' && last.phase !== 'On') {
      // What a survey says of a host that has just come up is what was before it went down.
      for (const machine of look?.observed.machines ?? []) if (machine.power !== 'on') moving.add(machine.key)
    }
    for (const step of last?.steps ?? []) if (step.machine !== undefined) moving.add(step.machine)
    for (const machine of Object.keys(last?.machines ?? {})) off.add(machine as ResourceKey)
  }
  if (moving.size + off.size === 0) return
  const found = sightings({ estate, worlds: seen.worlds, ledger, rules })
  for (const [name, looking] of seen.lookings) {
    const ids = estate.resources.flatMap((resource) => {
      if (resource.connection !== name || !(moving.has(resource.key) || off.has(resource.key))) return []
      const identity = found.get(resource.key)?.identity
      if (identity?.is !== 'ours') return []
      const { externalId, power } = identity.sighting
      return moving.has(resource.key) || power !== 'stopped' ? [externalId] : []
    })
    await inParallel(ids, looking.connection.limits.reads, async (externalId) => {
      try {
        await lookClosely(looking, externalId, { power: true }, signal)
      } catch (error) {
        if (!(error instanceof LookFailed)) throw error
      }
    })
  }
}
