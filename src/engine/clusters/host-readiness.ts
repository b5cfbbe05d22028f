import { ifObserved } from '../../drivers/port.ts'
import { defined } from '../../lib/defined.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { itemId } from '../../model/host-item.ts'
import type { ObservedMachine } from '../../model/observed-cluster.ts'
import type { Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Identified, IdentifyInput } from '../../plan/things/identify-all.ts'
import type { Ledger } from '../../plan/things/world.ts'
import { type FactsByConnection, readMissing } from '../connection-facts.ts'

/** The effect of a box's configuration on its node. */
export type HostReadiness = Pick<ObservedMachine, 'wantsRestart' | 'unprepared'>

/**
 * Returns what each box lacks of its HostConfig. Before it becomes a node, all of croft's own work on it must be done;
 * a node that needs a restart gets it from the coordinator in its turn.
 */
export function hostReadiness(
  { estate, worlds, rules, ledger }: IdentifyInput,
  identities: ReadonlyMap<ResourceKey, Identified>,
): ReadonlyMap<string, HostReadiness> {
  const missing = new Map<string, string[]>()
  const restarts = new Map<string, string[]>()
  const hosts = new Set<string>()
  const unseen = new Set<string>()
  for (const resource of estate.resources) {
    if (resource.desired.type !== 'item') continue
    const { host, item } = resource.desired.item
    hosts.add(host)
    if (worlds.get(resource.connection)?.survey === undefined) {
      unseen.add(host)
      continue
    }
    const found = judged(resource, identities.get(resource.key), rules.get(resource.driver), ledger)
    if (found?.incomplete === true) missing.set(host, [...(missing.get(host) ?? []), itemId(item)])
    if (found?.restart === true) restarts.set(host, [...(restarts.get(host) ?? []), itemId(item)])
  }
  return new Map(
    [...hosts].map((host) => {
      const unprepared = unseen.has(host) ? 'to see what it has of its HostConfig' : awaited(missing.get(host) ?? [])
      const wants = restarts.get(host)?.join(', ')
      return [host, defined({ unprepared, wantsRestart: wants })] as const
    }),
  )
}

function awaited([first, ...others]: readonly string[]): string | undefined {
  if (first === undefined) return undefined
  return `${first}${others.length === 0 ? '' : ` and ${others.length} more`} of its HostConfig in place`
}

/** Reads the lists of declared items on boxes that the survey reached. */
export async function readHostItems(
  { estate, rules }: Pick<IdentifyInput, 'estate' | 'rules'>,
  factsByConnection: FactsByConnection,
  signal: AbortSignal,
): Promise<void> {
  for (const resource of estate.resources) {
    if (resource.desired.type !== 'item') continue
    const facts = factsByConnection.get(resource.connection)
    const list = rules.get(resource.driver)?.listOf?.(resource)
    if (facts === undefined || list === undefined || facts.lists.has(list)) continue
    // If that fails, the state of the box stays unknown.
    await ifObserved(() => readMissing(facts, [{ look: 'list', list }], signal))
  }
}

function judged(
  resource: Resource,
  identified: Identified | undefined,
  rules: Rules | undefined,
  ledger: Ledger,
): { readonly incomplete: boolean; readonly restart: boolean } | undefined {
  if (rules === undefined || identified?.identity.is !== 'ours') return { incomplete: true, restart: false }
  const { observed } = identified.identity
  const changes = rules.diff(resource, observed, ledger.records.get(resource.key)?.details)
  if (changes.length === 0) return undefined
  // A change that waits for a person (erase a disk) does not delay readiness; an unpermitted restart does.
  const incomplete = changes.some(({ blocked, effect }) => blocked === undefined || effect === 'restart')
  if (changes.some(({ blocked }) => blocked !== undefined)) return { incomplete, restart: false }
  const [first] = rules.updateSteps(resource, observed, changes)
  return { incomplete, restart: first?.disruption === 'restart' }
}
