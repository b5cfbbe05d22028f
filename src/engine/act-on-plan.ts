import { LIMITS } from '../lib/limits.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import { isDoing, type Plan, type PlanEntry } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import { type Admitted, admit, type Traffic } from '../plan/admit.ts'
import { type Attempt, act } from './act.ts'
import { isTrue } from './conditions.ts'
import { noteDestroyed } from './destroyed.ts'
import { isGoodFor } from './detail-cache.ts'
import type { PassOptions } from './engine.ts'
import type { Observation } from './observation.ts'
import type { PassDeps } from './pass-deps.ts'
import type { Happening } from './resource-pass.ts'

/** Returns the limits on new effects in this pass. */
export function trafficOf(
  estate: Estate,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: Pick<PassDeps, 'clock' | 'windows'>,
  more: Pick<Traffic, 'intentions' | 'together'>,
  ended: ReadonlyMap<ResourceKey, Happening>,
): Traffic {
  return {
    ...more,
    connections: new Map(estate.connections.map((connection) => [connection.name, connection])),
    unready: restarting(estate, records, ended, deps.clock.now()),
    windows: deps.windows.current,
  }
}

/** Performs the plan's admitted effects in parallel, and notes which connections were in trouble. */
export async function actOn(
  estate: Estate,
  observation: Observation,
  chosen: Plan,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: PassDeps,
  traffic: Traffic,
  passStartedMs: number,
  signal: AbortSignal,
  opens: PassOptions['opens'],
): Promise<readonly Attempt[]> {
  const generations = new Map(estate.resources.map((resource) => [resource.key, resource.generation]))
  const wellSeen = ({ connection, externalId, action }: PlanEntry) => {
    const known =
      externalId === undefined ? undefined : observation.factsByConnection.get(connection)?.close.get(externalId)
    const step = isDoing(action) ? action.steps[0] : undefined
    return step === undefined || isGoodFor(step, known, passStartedMs)
  }
  const drivers = new Map(estate.resources.map(({ key, driver }) => [key, driver]))
  const wordsOf = ({ entry, doing }: Admitted) => deps.rules.get(drivers.get(entry.key) ?? '')?.likeness?.(doing.steps)
  const admitted = admit(chosen.entries.filter(wellSeen), traffic, deps.windows.full)
  const consents = admitted.flatMap(({ entry }) => entry.consents ?? [])
  if (consents.length > 0) await opens?.(consents)
  await noteDestroyed(deps.store, deps.epoch, estate, records, admitted)
  const attempts = await Promise.all(
    admitted.map((one) =>
      act(
        one,
        {
          clock: deps.clock,
          store: deps.store,
          epoch: deps.epoch,
          nextIntentionId: deps.nextIntentionId,
          generationOf: (key) => generations.get(key) ?? records.get(key)?.generation ?? '',
          sessionOf: (name) => {
            const facts = observation.factsByConnection.get(name)
            if (facts === undefined) throw new Error(`an effect was admitted on ${name}, which was not surveyed`)
            return facts.session
          },
        },
        signal,
      ),
    ),
  )
  for (const { admitted: one, outcome } of attempts) {
    const facts = observation.factsByConnection.get(one.entry.connection)
    // A thing under deletion needs no further look until that has ended.
    if (one.step.verb !== 'delete') facts?.looks.delete(one.doing.externalId)
    facts?.memory.born.delete(one.doing.externalId)
    facts?.memory.made.delete(one.doing.externalId)
    if (one.step.verb === 'create') facts?.memory.begun.set(one.doing.externalId, wordsOf(one))
    else facts?.memory.begun.delete(one.doing.externalId)
    facts?.memory.free.delete(one.doing.externalId)
    facts?.memory.bare.delete(one.doing.externalId)
    if (outcome.result === 'refused' && outcome.refusal.connectionWide === true) {
      deps.connections.troubled(one.entry.connection, outcome.refusal)
    }
    if (outcome.result === 'not-sent') {
      const refusal = {
        reason: 'Unreachable',
        meaning: 'backoff',
        message: outcome.message,
        connectionWide: true,
      } as const
      deps.connections.troubled(one.entry.connection, refusal)
    }
  }
  return attempts
}

/** While its seed is inserted a machine is down: everything between its shutdown and its start counts as a restart. */
const RESTARTING: ReadonlySet<string> = new Set(['reboot', 'shutdown', 'insert'])

/**
 * Counts machines that croft restarted and that are not back. One whose step ended in this pass counts too, since its
 * record does not show that yet. One that is no longer declared does not: it need not come back.
 */
function restarting(
  { resources }: Estate,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  ended: ReadonlyMap<ResourceKey, Happening>,
  nowMs: number,
): number {
  let count = 0
  for (const { key } of resources) {
    if (isAway(records.get(key), nowMs) || RESTARTING.has(ended.get(key)?.step.verb ?? '')) count++
  }
  return count
}

function isAway(record: ResourceRecord | undefined, nowMs: number): boolean {
  const effect = record?.lastEffect
  if (record === undefined || effect === undefined || !RESTARTING.has(effect.verb)) return false
  return !isTrue(record.conditions, 'Ready') && nowMs - effect.atMs < LIMITS.restartGraceMs
}

/** Returns what ended and what started in this pass, by resource, in this order. */
export function gather(
  ended: ReadonlyMap<ResourceKey, Happening>,
  attempts: readonly Attempt[],
): ReadonlyMap<ResourceKey, readonly Happening[]> {
  const all = new Map<ResourceKey, Happening[]>([...ended].map(([key, happening]) => [key, [happening]]))
  for (const { admitted, outcome } of attempts) {
    const step = admitted.step
    const list = all.get(admitted.entry.key) ?? []
    switch (outcome.result) {
      case 'done':
        list.push({ what: 'succeeded', step })
        break
      case 'started':
        list.push({ what: 'started', step })
        break
      case 'unclear':
        list.push({ what: 'unclear', step, message: outcome.message })
        break
      case 'refused':
        if (outcome.refusal.connectionWide !== true) list.push({ what: 'failed', step, refusal: outcome.refusal })
        break
      case 'not-sent':
        break
    }
    all.set(admitted.entry.key, list)
  }
  return all
}
