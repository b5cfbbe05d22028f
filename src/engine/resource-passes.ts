import { defined } from '../lib/defined.ts'
import { eachInSteps, type Steps } from '../lib/in-turns.ts'
import { DEFAULT_POLICY, type Policy, type ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Expressions } from '../model/expressions.ts'
import { mayBeCalled } from '../model/grant.ts'
import type { PlanEntry } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import { guestIn, isBeingMade, type ObservedResource, type Resource, readsDeclaredSeed } from '../model/resource.ts'
import type { Rules } from '../model/rules.ts'
import { fixedAddresses } from '../plan/things/addresses.ts'
import { isHeldAt, isSameGuest } from '../plan/things/births.ts'
import { wasDeclared } from '../plan/things/proof.ts'
import type { Ledger, World } from '../plan/things/world.ts'
import type { Connections } from './connections.ts'
import type { Observation } from './observation.ts'
import { notYet, selfOf } from './ready-when.ts'
import type { Happening, ResourcePass } from './resource-pass.ts'
import { stillReady } from './still-ready.ts'

/** Collects the inputs of every entry's verdict. Pure. */
export function casesOf(
  estate: Estate,
  observation: Observation,
  ledger: Ledger,
  rules: ReadonlyMap<string, Rules>,
  happenings: ReadonlyMap<ResourceKey, readonly Happening[]>,
  connections: Pick<Connections, 'trouble'>,
  nowMs: number,
): Steps<readonly (ResourcePass | FailedPass)[]> {
  const clusterOf = new Map(
    (estate.clusters ?? []).flatMap(({ key, spec }) =>
      [...spec.servers, ...spec.agents].flatMap(({ machine }) =>
        'key' in machine ? [[machine.key, key] as const] : [],
      ),
    ),
  )
  const resources = new Map(estate.resources.map((resource) => [resource.key, resource]))
  const { notes } = observation.plan
  const doubted = new Set(notes.filter(({ code }) => code === 'suspect').map(({ connection }) => connection))
  const caseOf = (entry: PlanEntry): ResourcePass => {
    const resource = resources.get(entry.key)
    const before = ledger.records.get(entry.key)
    const world = observation.worlds.get(entry.connection)
    const ruled = resource === undefined ? undefined : rules.get(resource.driver)
    const list =
      resource === undefined ? before?.list : ruled?.keeps(resource) === true ? ruled.listOf(resource) : undefined
    const observed =
      world === undefined ? undefined : observedFrom(entry, list, world, (resource ?? before)?.policy, before)
    const trouble = connections.trouble(entry.connection)
    const addresses = observed?.close?.addresses
    const cluster = clusterOf.get(entry.key)
    const guest = resource === undefined ? undefined : guestIn(resource.desired)
    const details = {
      ...(addresses === undefined || addresses.length === 0 ? {} : { addresses: addresses.join(',') }),
      ...(cluster === undefined ? {} : { cluster }),
      ...observed?.close?.facts,
      // An unmarked guest is recognised by its id and this name, since its id may be given to another guest.
      ...(resource?.policy.unmarked === true && entry.action.do === 'nothing' && observed?.name !== undefined
        ? { guest: observed.name }
        : {}),
    }
    return {
      entry,
      policy: resource?.policy ?? policyOfUndeclared(entry.key, before, observed, estate),
      generation: resource?.generation ?? before?.generation ?? '',
      before,
      ...readinessOf(resource, entry.action, observed, rules, before, nowMs),
      present: observed !== undefined,
      ...defined({ birth: observed?.close?.birth }),
      ...(doubted.has(entry.connection) || world?.survey?.system?.is !== 'seen'
        ? {}
        : { system: world.survey.system.id }),
      ...(observed === undefined || isBeingMade(observed) ? {} : { whole: true as const }),
      seen: world?.survey !== undefined,
      unseenMs: trouble?.ageMs ?? 0,
      happenings: happenings.get(entry.key) ?? [],
      ...declaredBy(resource, before),
      ...(resource === undefined && isAllRead(entry.key, estate) ? { absent: true as const } : {}),
      ...(list === undefined ? {} : { list }),
      ...(list !== undefined && world?.lists.has(list) === false ? { unread: true as const } : {}),
      ...(Object.keys(details).length === 0 ? {} : { details }),
      ...(guest === undefined || guest.moveHere?.once === true ? {} : { declaredHost: guest.host }),
      ...(resource === undefined || guest === undefined ? {} : { addresses: fixedAddresses(resource.desired) }),
      ...(resource === undefined || observed === undefined || readsDeclaredSeed(resource, observed)
        ? {}
        : { readsOther: true as const }),
      ...(resource?.origin.commit === undefined ? {} : { commit: resource.origin.commit }),
    }
  }
  return eachInSteps(observation.plan.entries, (entry) => {
    try {
      return caseOf(entry)
    } catch (failed) {
      return { entry, failed }
    }
  })
}

function isAllRead(key: ResourceKey, { incomplete, partlyRead }: Estate): boolean {
  return !incomplete && partlyRead?.some((source) => mayBeCalled(key, source)) !== true
}

/** A resource on which croft failed: its record stays as it is. */
interface FailedPass {
  readonly entry: PlanEntry
  readonly failed: unknown
}

/** Returns the last declared policy: from the record, the commit that removed it, or the thing's mark. */
function policyOfUndeclared(
  key: ResourceKey,
  before: ResourceRecord | undefined,
  observed: ObservedResource | undefined,
  { removed }: Estate,
): Policy {
  if (before !== undefined && wasDeclared(before)) return before.policy
  return removed?.get(key)?.policy ?? { ...DEFAULT_POLICY, deletion: observed?.mark?.deletion ?? 'Orphan' }
}

function declaredBy(
  resource: Resource | undefined,
  before: ResourceRecord | undefined,
): Pick<ResourcePass, 'declaredBy' | 'source' | 'composedBy'> {
  const { declaredBy: by, composedBy } = resource ?? before ?? {}
  const source = resource === undefined ? before?.source : resource.bounds?.source
  return { ...defined({ declaredBy: by, source, composedBy }) }
}

export function observedFrom(
  entry: PlanEntry,
  list: string | undefined,
  world: World,
  policy: Policy | undefined,
  before: ResourceRecord | undefined,
): ObservedResource | undefined {
  if (entry.externalId === undefined) return undefined
  if (list !== undefined) return world.lists.get(list)?.get(entry.externalId)
  const observed = world.guests.get(entry.externalId)
  if (observed !== undefined && observed.mark === undefined && policy?.unmarked === true)
    return isHeldAt(before, observed) && !isSameGuest(before, observed, policy) ? undefined : observed
  return observed?.mark?.uid === entry.uid ? observed : undefined
}

/** Returns the readiness. A Ready machine that has not changed stays Ready: its agent is not asked again. */
function readinessOf(
  resource: Resource | undefined,
  action: PlanEntry['action'],
  observed: ObservedResource | undefined,
  rules: ReadonlyMap<string, Rules>,
  before: ResourceRecord | undefined,
  nowMs: number,
): Pick<ResourcePass, 'readiness' | 'question'> {
  if (resource === undefined || observed === undefined) return { readiness: undefined }
  const close = observed.close
  if (close === undefined) {
    // It was never started: a survey that does not know its power yet proves nothing else.
    const asMade = observed.asMade !== undefined && action.do === 'nothing'
    return {
      readiness: asMade
        ? rules.get(resource.driver)?.readiness(resource, { ...observed, power: 'stopped' })
        : undefined,
    }
  }
  const remembered: ObservedResource =
    close !== undefined && close.agent === undefined && stillReady(before?.conditions ?? [], observed, nowMs)
      ? { ...observed, close: { ...close, agent: 'up' } }
      : observed
  const readiness = rules.get(resource.driver)?.readiness(resource, remembered)
  const { readyWhen } = resource.policy
  if (readiness?.ready !== true || readyWhen === undefined) return { readiness }
  return {
    readiness,
    question: { readyWhen, self: selfOf(resource, remembered, readiness, before), origin: resource.origin },
  }
}

/** Adds the results of `readyWhen`. */
export async function withReadyWhen(
  cases: readonly (ResourcePass | FailedPass)[],
  expressions: Expressions | undefined,
): Promise<readonly (ResourcePass | FailedPass)[]> {
  const asking = cases.flatMap((one) =>
    'failed' in one || one.question === undefined ? [] : [{ one, question: one.question }],
  )
  const answers = await notYet(
    asking.map(({ question }) => question),
    expressions,
  )
  const whys = new Map(asking.map(({ one }, index) => [one as ResourcePass | FailedPass, answers[index]]))
  return cases.map((one) => {
    const why = whys.get(one)
    if (why === undefined || 'failed' in one || one.readiness === undefined) return one
    return { ...one, readiness: { ...one.readiness, ready: false, reason: 'ReadyWhen', message: why } }
  })
}
