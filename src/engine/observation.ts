import { ifObserved } from '../drivers/port.ts'
import type { Turns } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Estate } from '../model/estate.ts'
import { isDoing, type MissingFact, type Plan, type PlanEntry } from '../model/plan.ts'
import { type AddressUse, guestIn, type ObservedResource, type Resource } from '../model/resource.ts'
import type { Rules } from '../model/rules.ts'
import { withoutShared } from '../model/system-id.ts'
import { validApprovals } from '../plan/approvals.ts'
import { objectsAsShown } from '../plan/clusters/as-shown.ts'
import { holdForPower } from '../plan/clusters/power-hold.ts'
import { planWhole, revise, withRefusedNodes } from '../plan/plan.ts'
import type { PlanInput } from '../plan/planner.ts'
import { fixedAddresses, newWithAddress, refuseTakenAddresses } from '../plan/things/addresses.ts'
import { isKnownToLeave } from '../plan/things/known-removals.ts'
import { unseenWorld, type World } from '../plan/things/world.ts'
import {
  type ConnectionFacts,
  type FactsByConnection,
  LOOK_ROUNDS,
  missingFacts,
  readDetails,
  readMissing,
  surveyConnection,
  worldOf,
} from './connection-facts.ts'
import type { Connections, ConnectionTrouble } from './connections.ts'
import { isGoodFor } from './detail-cache.ts'
import { withHistory } from './history.ts'
import { learnAlike } from './made-alike.ts'
import { leavingIn, type MissingFacts, NOTHING, putOff } from './put-off.ts'
import { CANNOT_BE_READ } from './settled.ts'

/** The observation of one pass, and its plan. */
export interface Observation {
  readonly plan: Plan
  readonly worlds: ReadonlyMap<string, World>
  readonly factsByConnection: FactsByConnection
  /** With the power that Powers allow, and with the history of things that are no longer declared. */
  readonly estate: Estate
  /** New machines to read while others are created, by connection: the next pass decides about them. */
  readonly later: MissingFacts
}

/** The connections of an estate: facts of each, and those that could not be surveyed. */
export interface Surveyed {
  readonly factsByConnection: FactsByConnection
  readonly unseen: ReadonlyMap<string, ConnectionTrouble>
}

/** Surveys every connection of the estate in parallel, except those whose trouble demands a pause. */
export async function surveyAll(
  estate: Estate,
  connections: Connections,
  rules: ReadonlyMap<string, Rules>,
  signal: AbortSignal,
): Promise<Surveyed> {
  const factsByConnection = new Map<string, ConnectionFacts>()
  const unseen = new Map<string, ConnectionTrouble>()
  await Promise.all(
    estate.connections.map(async (connection) => {
      const before = connections.trouble(connection.name)
      if (before !== undefined && before.pauseMs > 0) {
        unseen.set(connection.name, before)
        return
      }
      const { session, ...known } = await connections.open(connection)
      // The plan refuses types that the driver does not support, so they are not read.
      const wanted = estate.resources.filter(
        (resource) => resource.connection === connection.name && rules.get(resource.driver)?.keeps(resource) === true,
      )
      const looked = await surveyConnection(connection, session, known, signal, wanted)
      if ('survey' in looked) {
        connections.healed(connection.name)
        factsByConnection.set(connection.name, looked)
      } else unseen.set(connection.name, connections.troubled(connection.name, looked))
    }),
  )
  for (const survey of withoutShared([...factsByConnection.values()].map((facts) => facts.survey))) {
    const facts = factsByConnection.get(survey.connection)
    if (facts !== undefined && facts.survey !== survey) factsByConnection.set(survey.connection, { ...facts, survey })
  }
  return { factsByConnection, unseen }
}

/**
 * Plans, reads the facts that the plan lacks, and plans again until reading cannot help. What starts now is decided on
 * sufficiently fresh looks; what must wait for its turn is not read meanwhile.
 */
export async function observeAndPlan(
  input: Omit<PlanInput, 'worlds'>,
  { factsByConnection, unseen }: Surveyed,
  turns: Turns,
  signal: AbortSignal,
  begins?: (plan: Plan) => readonly PlanEntry[],
): Promise<Observation> {
  const { ledger, nowMs, unforeseen = new Map() } = input
  let worlds = worldsOf(input.estate, factsByConnection, unseen)
  let estate = await withHistory(input.estate, worlds, ledger, nowMs, signal)
  let later: MissingFacts = NOTHING
  let tried: ReadonlySet<string> = new Set()
  let current = await turns.perform(planWhole({ ...input, estate, worlds }))
  for (let round = 0; round < LOOK_ROUNDS && !signal.aborted; round++) {
    // If declarations use observed values, read everything.
    const taught = begins === undefined || estate.later !== undefined ? [] : learnAlike(current.plan, factsByConnection)
    if (taught.length > 0) {
      worlds = new Map([...worlds, ...worldsAnew(taught, factsByConnection)])
      current = await turns.perform(revise(current, { ...input, estate, worlds }))
    }
    const missing = missingFacts(current.plan)
    const beginning = begins === undefined ? current.plan.entries : begins(current.plan)
    const split =
      begins === undefined
        ? { now: missing, later: NOTHING, tried }
        : putOff({ missing, beginning, leaving: leavingIn(current.plan, estate), tried, factsByConnection })
    later = split.later
    tried = split.tried
    const wanted = [...split.now.values()].every((one) => one.length === 0)
      ? oldLooks(beginning, factsByConnection, nowMs)
      : split.now
    const read: string[] = []
    for (const [name, these] of wanted) {
      const facts = factsByConnection.get(name)
      if (facts !== undefined && (await readMissing(facts, these, signal)) > 0) read.push(name)
    }
    if (read.length === 0) break
    worlds = new Map([...worlds, ...worldsAnew(read, factsByConnection)])
    estate = await withHistory(estate, worlds, ledger, nowMs, signal)
    current = await turns.perform(revise(current, { ...input, estate, worlds }))
  }
  let { plan } = current
  await turns.pause()
  if (newWithAddress(plan, estate).length > 0) {
    await askForAddresses(estate, factsByConnection, signal)
    worlds = worldsOf(estate, factsByConnection, unseen)
    const near = await askHosts(newWithAddress(plan, estate), factsByConnection, signal)
    plan = withRefusedNodes(refuseTakenAddresses(plan, estate, worlds.values(), near))
  }
  plan = objectsAsShown(sayWhyUnread(plan, factsByConnection), unforeseen)
  return { plan: holdForPower(plan), worlds, factsByConnection, estate: current.estate, later }
}

/**
 * Reads what was put off. New machines are off, so this read and the next survey agree. The power of leaving guests is
 * read in one list per host, so that the next pass has all it needs. If time runs out, the rest is read in the next
 * pass.
 */
export async function readLater(
  { later, factsByConnection, estate }: Observation,
  hasTime: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const declared = later.size === 0 ? new Set() : new Set(estate.resources.map(({ uid }) => uid))
  for (const [connection, missing] of later) {
    const facts = factsByConnection.get(connection)
    if (facts === undefined) continue
    const isNew = (fact: MissingFact) => 'externalId' in fact && facts.memory.born.has(fact.externalId)
    await readMissing(facts, missing, signal, (fact) => isNew(fact) || hasTime())
    const unknown = missing.flatMap((fact): MissingFact[] => {
      const read = 'externalId' in fact ? facts.close.get(fact.externalId) : undefined
      if (read?.type !== 'vm' || (read.power !== 'unknown' && declared.has(read.mark?.uid))) return []
      return [{ look: 'power', externalId: read.externalId }]
    })
    await readMissing(facts, unknown, signal)
  }
}

/** Returns the worlds of these connections, including later reads. */
function worldsAnew(names: readonly string[], factsByConnection: FactsByConnection): readonly [string, World][] {
  return names.flatMap((name): [string, World][] => {
    const facts = factsByConnection.get(name)
    return facts === undefined ? [] : [[name, worldOf(facts)]]
  })
}

/**
 * Reads every unread guest, ours or not, and asks those that run for their addresses, before a machine with a fixed
 * address is created. The results are remembered, so this costs something once.
 */
async function askForAddresses(
  { resources }: Estate,
  factsByConnection: FactsByConnection,
  signal: AbortSignal,
): Promise<void> {
  const declared = new Set(resources.map(({ uid }) => uid))
  for (const facts of factsByConnection.values()) {
    const unasked = facts.survey.resources.filter(({ externalId, list, type, power, template, lock, mark }) => {
      if (list !== undefined || (type !== 'vm' && type !== 'container') || template === true || lock !== undefined)
        return false
      // Just created: it has its declared addresses.
      if (facts.memory.made.has(externalId) && declared.has(mark?.uid ?? '')) return false
      const known = facts.close.get(externalId)?.close
      return known === undefined || (power === 'running' && type === 'vm' && known.agent === undefined)
    })
    await inParallel(unasked.slice(0, LIMITS.addressLooks), facts.connection.limits.reads, async (observed) => {
      // A guest that cannot be asked must not stop the creation of others.
      await ifObserved(() => readDetails(facts, observed.externalId, { agent: observed.power === 'running' }, signal))
    })
  }
}

/** Asks hosts which fixed addresses of planned machines are in use there. */
async function askHosts(
  making: readonly Resource[],
  factsByConnection: FactsByConnection,
  signal: AbortSignal,
): Promise<readonly AddressUse[]> {
  const wanted = new Map<
    string,
    { readonly facts: ConnectionFacts; readonly host: string; readonly addresses: string[] }
  >()
  for (const { connection, desired } of making.slice(0, LIMITS.addressLooks)) {
    const facts = factsByConnection.get(connection)
    const host = guestIn(desired)?.host
    if (facts === undefined || host === undefined) continue
    const name = JSON.stringify([connection, host])
    const place = wanted.get(name) ?? { facts, host, addresses: [] }
    place.addresses.push(...fixedAddresses(desired))
    wanted.set(name, place)
  }
  const found: AddressUse[] = []
  await inParallel([...wanted.values()], LIMITS.nodesAskedAtOnce, async ({ facts, host, addresses }) => {
    found.push(...((await ifObserved(async () => facts.session.addresses?.inUse(host, addresses, signal))) ?? []))
  })
  return found
}

/** Returns the surveys, indexed. */
export function worldsOf(
  estate: Estate,
  factsByConnection: FactsByConnection,
  unseen: ReadonlyMap<string, ConnectionTrouble>,
): ReadonlyMap<string, World> {
  const worlds = new Map<string, World>()
  for (const connection of estate.connections) {
    const facts = factsByConnection.get(connection.name)
    const trouble = unseen.get(connection.name)
    if (facts !== undefined) worlds.set(connection.name, worldOf(facts))
    else if (trouble !== undefined) worlds.set(connection.name, unseenWorld(connection, trouble.refusal))
  }
  return worlds
}

/**
 * Reads undeclared things with our mark on every connection, before concluding anything from an absence. For those that
 * leave `inTurn` the records suffice until their turn.
 */
export async function readAllUndeclared(
  estate: Estate,
  factsByConnection: FactsByConnection,
  signal: AbortSignal,
  inTurn?: Pick<PlanInput, 'ledger' | 'nowMs'>,
): Promise<void> {
  const known = inTurn === undefined ? () => false : knownToLeave(estate, inTurn)
  for (const facts of factsByConnection.values()) await readUndeclared(estate, facts, known, signal)
}

function knownToLeave(estate: Estate, { ledger, nowMs }: Pick<PlanInput, 'ledger' | 'nowMs'>) {
  const recordOf = new Map([...ledger.records.values()].map((record) => [record.uid, record]))
  const approvals = validApprovals(estate, nowMs)
  return (seen: ObservedResource) =>
    seen.mark !== undefined && isKnownToLeave(seen, recordOf.get(seen.mark.uid), estate, approvals)
}

/** Reads undeclared guests with a mark once each: only their description names their owner. */
async function readUndeclared(
  estate: Estate,
  facts: ConnectionFacts,
  isKnown: (seen: ObservedResource) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const here = estate.resources.filter(({ connection }) => connection === facts.connection.name)
  const declared = new Set(here.map((resource) => resource.uid))
  const missing = facts.survey.resources
    .filter((s) => s.mark !== undefined && !declared.has(s.mark.uid) && !facts.close.has(s.externalId))
    .filter((s) => !facts.gone.has(s.externalId) && !isKnown(s))
    .map((s) => ({ look: 'config' as const, externalId: s.externalId }))
  await readMissing(facts, missing, signal)
}

/** Returns planned effects, by connection, whose last look is not good enough. */
function oldLooks(
  entries: readonly PlanEntry[],
  factsByConnection: FactsByConnection,
  passStartedMs: number,
): ReadonlyMap<string, readonly MissingFact[]> {
  const old = new Map<string, MissingFact[]>()
  const add = (connection: string, fact: MissingFact) => {
    const list = old.get(connection)
    if (list === undefined) old.set(connection, [fact])
    else list.push(fact)
  }
  for (const { connection, externalId, action } of entries) {
    const facts = factsByConnection.get(connection)
    if (facts === undefined || !isDoing(action)) continue
    if (action.do === 'create' && facts.believed.has(action.externalId))
      add(connection, { look: 'id', externalId: action.externalId, vanished: true, anew: true })
    if (externalId === undefined) continue
    const known = facts.close.get(externalId)
    const step = action.steps[0]
    if (known === undefined || step === undefined || isGoodFor(step, known, passStartedMs)) continue
    add(connection, { look: known.close?.power === undefined ? 'config' : 'power', externalId })
  }
  return old
}

/** Adds the reason to entries that wait since they could not be read: a missing host, or the read's error. */
export function sayWhyUnread(
  plan: Plan,
  factsByConnection: ReadonlyMap<string, Pick<ConnectionFacts, 'survey' | 'failed'>>,
): Plan {
  return { ...plan, entries: plan.entries.map((entry) => withReason(entry, factsByConnection.get(entry.connection))) }
}

function withReason(entry: PlanEntry, facts: Pick<ConnectionFacts, 'survey' | 'failed'> | undefined): PlanEntry {
  const { action, host } = entry
  if (action.do !== 'wait' || action.missing === undefined || facts === undefined) return entry
  const { hosts } = facts.survey
  const there = hosts.find((one) => one.name === host)
  if (there?.online === false) {
    const message = `host ${host} is offline: nothing on it can be seen or done until it is back`
    return { ...entry, action: { ...action, reason: 'HostOffline', message } }
  }
  // Things outside a single host belong to "cluster".
  if (host !== undefined && host !== 'cluster' && there === undefined && hosts.length > 0) {
    const names = hosts.map(({ name }) => name).join(', ')
    const message = `${entry.connection} has no host ${host}; it has ${names}`
    return { ...entry, action: { ...action, reason: 'NoSuchHost', message } }
  }
  const said = facts.failed.get(JSON.stringify(action.missing))
  return said === undefined ? entry : { ...entry, action: { ...action, reason: CANNOT_BE_READ, message: said } }
}
