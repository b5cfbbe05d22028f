import { ifObserved } from '../drivers/port.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Estate, KeptChoices } from '../model/estate.ts'
import { type Resource, readsDeclaredSeed } from '../model/resource.ts'
import { fixedAddresses } from '../plan/things/addresses.ts'
import { type FactsByConnection, readDetails } from './connection-facts.ts'
import { isItsTurn } from './readiness.ts'

/**
 * Asks the agents of machines whose seed had an address that no record holds, as after a loss of the store: no
 * configuration shows it, and a plan with another address would renumber them. Reports whether it asked any.
 */
export async function askForKept(
  { resources }: Estate,
  factsByConnection: FactsByConnection,
  kept: KeptChoices,
  nowMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const unknown = new Map(resources.filter((one) => isUnknown(one, kept)).map((one) => [one.uid, one]))
  if (unknown.size === 0) return false
  let asked = false
  for (const facts of factsByConnection.values()) {
    const silent = facts.survey.resources.filter(({ externalId, mark, power, template, lock }) => {
      const resource = unknown.get(mark?.uid ?? '')
      if (resource === undefined || power === 'stopped' || template === true || lock !== undefined) return false
      // Just created: it has its declared addresses.
      if (facts.memory.made.has(externalId)) return false
      const known = facts.close.get(externalId)
      if (known?.close !== undefined && readsDeclaredSeed(resource, known)) return false
      return isItsTurn(facts.memory, externalId, nowMs)
    })
    await inParallel(silent.slice(0, LIMITS.addressLooks), facts.connection.limits.reads, async ({ externalId }) => {
      // A machine that cannot be asked must not stop the plan. Its survey may be too old to show that it runs.
      await ifObserved(() => readDetails(facts, externalId, { power: true, agent: true }, signal))
    })
    asked ||= silent.length > 0
  }
  return asked
}

function isUnknown({ key, desired }: Resource, kept: KeptChoices): boolean {
  if (desired.type !== 'vm' || desired.vm.seed === undefined || desired.vm.agent?.enabled !== true) return false
  return fixedAddresses(desired).length > 0 && (kept.get(key)?.addresses.length ?? 0) === 0
}
