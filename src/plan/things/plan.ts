import { defined } from '../../lib/defined.ts'
import { DEFAULT_POLICY, ownerOf, type ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import { type Action, type ConnectionNote, isDoing, type PlanEntry } from '../../model/plan.ts'
import { isGuest, type Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Refusal } from '../../model/step.ts'
import { type MachineOrder, machineOrder, memberships } from '../clusters/membership.ts'
import type { GuardContext, Guarded } from '../guards/guard.ts'
import type { PlanInput, Planner } from '../planner.ts'
import { otherBirth } from './births.ts'
import { decide, heedsNeeds } from './decide.ts'
import { claimsIn } from './holdings.ts'
import type { ThingIdentity } from './identify.ts'
import { type Identified, identifyAll } from './identify-all.ts'
import { claimantOf } from './left-key.ts'
import { afterMove, beforeMove, movesIn } from './moves.ts'
import { inOrder } from './order.ts'
import { tightOn } from './placement/room.ts'
import { type DecidedRemoval, dependentsFirst, inOrderOfLeaving } from './removal-order.ts'
import { decideRemoval, objectsLeaving, type Removal, removals } from './removals.ts'
import { renames } from './renames.ts'
import { destroyedBy, sourceShares } from './source-share.ts'
import { type Suspicion, suspect } from './suspicion.ts'
import { doubtOf } from './systems.ts'
import type { World } from './world.ts'

/** The plan's part about things, before the guards, with its inputs. */
export interface Things {
  readonly guarded: readonly Guarded[]
  readonly context: GuardContext
  readonly notes: readonly ConnectionNote[]
  /** Kept so that close looks at a few things need not decide about all again. */
  readonly estate: Estate
  readonly sorted: { readonly sorted: readonly Resource[]; readonly cycle: readonly ResourceKey[] }
  readonly decided: ReadonlyMap<ResourceKey, Decided>
  readonly removals: ReadonlyMap<World, readonly Removal[]>
}

/** Earlier results: clusters, and this same part before some things were read. */
interface Before {
  readonly clusters: readonly ClusterPlan[]
  readonly things: Things | undefined
}

interface Decided {
  readonly identity: ThingIdentity
  readonly survey: World['survey']
  readonly unmet: readonly string[]
  readonly order: MachineOrder | undefined
  readonly guarded: Guarded
}

/** Decides the next action for each declared thing, and for each of ours that is no longer declared. */
export const planThings: Planner<Before, Things> = function* (input, { clusters, things: before }) {
  const { estate, worlds, ledger, nowMs } = input
  const same = before?.estate.resources === estate.resources ? before : undefined
  const listed = before?.estate === estate ? before.removals : undefined
  const { sorted, cycle } = same?.sorted ?? inOrder(estate.resources)
  const circular = new Set(cycle)
  const declared = new Set(estate.resources.map(({ key }) => key))
  yield
  const identities = identifyAll(input)
  yield
  const renamed = renames(estate, worlds, ledger)
  const kept = new Set([...renamed.values()].map(({ uid }) => uid))
  const notes: ConnectionNote[] = []
  const suspicions = new Map<string, Suspicion>()
  const found = new Map<World, readonly Removal[]>()
  const claims = claimsIn(estate.resources, input.rules)
  for (const [name, world] of worlds) {
    yield
    const suspicion =
      doubtOf(world, ledger.records.values()) ??
      suspect(estate.resources, (r) => input.rules.get(r.driver), world, ledger)
    if (suspicion !== undefined) {
      suspicions.set(name, suspicion)
      notes.push({ connection: name, code: 'suspect', message: suspicion.message, allow: suspicion.allow })
    }
    if (world.refusal !== undefined) notes.push(unseen(name, world.refusal, estate))
    found.set(world, listed?.get(world) ?? removals({ ...input, worlds }, world, claims))
  }

  const left = [...found.values()].flat().filter(({ uid }) => !kept.has(uid))
  const moving = movesIn(estate, left)
  const members = memberships(
    clusters,
    left
      .filter(({ key }) => !moving.has(claimantOf(key)))
      .map(({ key, observed }) => ({ key, name: observed.name ?? key.slice(key.lastIndexOf('/') + 1) })),
  )

  const ready = readiness(input, clusters, identities)
  const decided = new Map<ResourceKey, Decided>()
  for (const resource of sorted) {
    yield
    const world = worlds.get(resource.connection)
    const rules = input.rules.get(resource.driver)
    if (world === undefined || rules === undefined) continue
    const { survey } = world
    if (!rules.keeps(resource)) {
      decided.set(resource.key, strange(resource))
      continue
    }
    const identified = identities.get(resource.key) ?? { identity: { is: 'unknown' }, allocatedId: undefined }
    // Once the machine is gone its image is declared again: do not wait for it forever.
    const isThere = identified.identity.is === 'ours'
    const unmet = [
      ...resource.needs.filter((need) => !ready(need, resource) && !(isThere && !declared.has(need))),
      ...(survey === undefined ? [] : rules.awaits(resource, survey)),
    ]
    const member = members.get(resource.key)
    const order = member === undefined ? undefined : machineOrder(member)
    const known = same?.decided.get(resource.key)
    if (known !== undefined && stillHolds(resource, known, { identity: identified.identity, survey, unmet, order })) {
      decided.set(resource.key, known)
      continue
    }
    const planned: Action = circular.has(resource.key)
      ? circle(resource, cycle)
      : (homeless(resource) ??
        decide({
          resource,
          identity: identified.identity,
          world,
          ledger,
          rules,
          unmet,
          allocatedId: identified.allocatedId,
          nowMs,
          ...(order === undefined ? {} : { order }),
        }))
    const answer = afterMove(resource, planned, moving.get(resource.key) ?? [], member !== undefined, input)
    // The coordinator has drained the node, so its replacement needs no permission of the policy.
    const policy = order?.order === 'destroy' ? { ...resource.policy, replace: 'allowed' as const } : resource.policy
    const rename = renamed.get(resource.key)
    const action =
      rename === undefined || answer.do !== 'adopt' ? answer : { ...answer, reason: `renamed from ${rename.from}` }
    const drift =
      isDoing(action) &&
      !onlyPending(action) &&
      !isHousekeeping(action) &&
      ledger.records.get(resource.key)?.syncedGeneration === resource.generation
    const entry = entryOf(resource, rules, action, identified.identity, survey)
    const { awaitsApproval = false } = ledger.records.get(resource.key) ?? {}
    const births =
      identified.identity.is === 'ours'
        ? otherBirth(ledger.records.get(resource.key), identified.identity.observed, policy.birth)
        : undefined
    const guarded = { entry: drift ? { ...entry, drift } : entry, policy, awaitsApproval, ...defined({ births }) }
    decided.set(resource.key, { identity: identified.identity, survey, unmet, order, guarded })
  }

  const guarded = [...decided.values()].map((one) => one.guarded)
  const leaving: Removal[] = []
  const going: (DecidedRemoval & { readonly world: World; readonly rules: Rules })[] = []
  for (const [world, all] of found) {
    const rules = input.rules.get(world.connection.driver)
    if (rules === undefined) continue
    const decidedHere = all
      .filter(({ uid }) => !kept.has(uid))
      .map((removal) => {
        const action = decideRemoval(removal, rules, ledger, nowMs)
        const by = moving.has(claimantOf(removal.key)) ? decided.get(claimantOf(removal.key)) : undefined
        return {
          removal,
          action:
            by === undefined
              ? action
              : beforeMove(removal, action, by.guarded, suspicions.has(by.guarded.entry.connection), ledger),
        }
      })
    going.push(...inOrderOfLeaving(decidedHere).map((one) => ({ ...one, world, rules })))
  }
  for (const { removal, action, world } of dependentsFirst(going)) {
    leaving.push(removal)
    guarded.push({
      entry: removalEntry(removal, world, action),
      policy: {
        ...DEFAULT_POLICY,
        ...(removal.policy ?? removal.record?.policy),
        deletion: removal.deletion,
        protect: removal.protect,
      },
      awaitsApproval: removal.record?.awaitsApproval === true,
      ...defined({ births: otherBirth(removal.record, removal.observed, undefined) }),
    })
  }

  const gone = destroyedBy(estate, ledger.destroyed)
  const sourceOf = sourceShares(estate, ledger.records, gone)
  const there = new Set([...estate.resources, ...leaving].map(({ key }) => key))
  const isNoMore = (key: ResourceKey) => !there.has(key)
  const context: GuardContext = {
    estate,
    suspicions,
    members,
    deleting: deletions(leaving, guarded),
    destroyed: gone.filter(({ type }) => isGuest(type)).map(({ key }) => key),
    machines: countBy(sourceOf, [
      ...estate.resources.filter((r) => isGuest(r.desired.type)),
      ...leaving.filter((r) => isGuest(r.type) && r.proof !== undefined),
      ...gone.filter((one) => isGuest(one.type) && isNoMore(one.key)),
    ]),
    sourceOf,
    objects: objectsLeaving(
      estate,
      leaving,
      gone.filter((one) => one.type === 'object' && isNoMore(one.key)),
      sourceOf,
    ),
    leaving,
    unseen: new Set([...decided].filter(([, { identity }]) => identity.is !== 'ours').map(([key]) => key)),
    nowMs,
  }
  return { guarded, context, notes, estate, sorted: { sorted, cycle }, decided, removals: found }
}

/**
 * Reports whether the last decision still holds. A decision about our thing depends only on its observation, the hosts
 * around it and its needs. If the thing was not found, anything may matter: then decide again.
 */
function stillHolds(resource: Resource, before: Decided, now: Omit<Decided, 'guarded'>): boolean {
  const [was, is] = [before.identity, now.identity]
  if (was.is !== 'ours' || is.is !== 'ours' || was.observed !== is.observed) return false
  return (
    before.survey === now.survey &&
    before.order?.order === now.order?.order &&
    before.order?.reason === now.order?.reason &&
    ((!heedsNeeds(resource) && !isReplaced(before)) || before.unmet.join() === now.unmet.join())
  )
}

/** A pending restart completes an earlier change, mostly croft's own. */
function onlyPending(action: Action): boolean {
  return 'changes' in action && action.changes.length > 0 && action.changes.every(({ path }) => path === 'restart')
}

/**
 * croft's own work on a machine that is as declared: it deletes the image of the first boot. A secret that changed
 * behind its reference was changed by its owner, so it is no drift.
 */
function isHousekeeping(action: Action): boolean {
  return (
    'changes' in action &&
    action.changes.length > 0 &&
    action.changes.every(({ path, resent, own }) => path.startsWith('seed.') || resent === true || own === true)
  )
}

/** Computed once per thing: thousands of objects may share the same hundred needs. */
function readiness(
  input: PlanInput,
  clusters: readonly ClusterPlan[],
  identities: ReadonlyMap<ResourceKey, Identified>,
) {
  const known = new Map<string, boolean>()
  let found: ReadonlyMap<ResourceKey, Resource> | undefined
  const resourceOf = (key: ResourceKey) => {
    found ??= new Map(input.estate.resources.map((one) => [one.key, one]))
    return found.get(key)
  }
  return (need: ResourceKey, by: Resource): boolean => {
    const said = by.policy.after?.includes(ownerOf(need)) === true
    const name = `${by.desired.type === 'setting' ? 'setting ' : ''}${said ? `after ${by.connection} ` : ''}${need}`
    const before = known.get(name)
    if (before !== undefined) return before
    const is = isReady(need, by, input, clusters, identities, resourceOf, said)
    known.set(name, is)
    return is
  }
}

/**
 * Reports whether a need is Ready: a listed thing once it was seen, anything else if its record says so. An undeclared
 * need is ignored.
 */
function isReady(
  need: ResourceKey,
  by: Resource,
  input: PlanInput,
  clusters: readonly ClusterPlan[],
  identities: ReadonlyMap<ResourceKey, Identified>,
  resourceOf: (key: ResourceKey) => Resource | undefined,
  said: boolean,
): boolean {
  const { estate, ledger } = input
  // A cluster is ready enough with its API: a network add-on is what its nodes wait for.
  const cluster = clusters.find(({ declaration }) => declaration.key === need)
  if (cluster !== undefined) {
    const { name, policy } = cluster.declaration
    const whole = policy.readyWhen !== undefined || (said && by.connection !== `cluster/${name}`)
    return cluster.observed.api === 'yes' && (!whole || isRecordedReady(need, ledger))
  }
  const identified = identities.get(need)
  if (identified === undefined) return !estate.unreadable.includes(need)
  if (identified.identity.is !== 'ours') return false
  const { observed } = identified.identity
  // An explicit dependency requires that it works; the result of `readyWhen` is in its record.
  if ((said || resourceOf(need)?.policy.readyWhen !== undefined) && !isRecordedReady(need, ledger)) return false
  if (observed.list !== undefined) {
    if (ledger.intentions.has(need)) return false
    // A file with wrong content must not become a disk, nor a half-done item a base for others.
    const resource =
      observed.type === 'file' || observed.type === 'item' || observed.type === 'object' ? resourceOf(need) : undefined
    const rules = resource === undefined ? undefined : input.rules.get(resource.driver)
    if (resource === undefined || rules === undefined) return true
    // Helm runs post-install hooks once its objects exist, healthy or not.
    const presence = isPostHook(by) && !isPostHook(resource)
    if (observed.type === 'object' && !presence && !rules.readiness(resource, observed).ready) return false
    return rules.diff(resource, observed, ledger.records.get(need)?.details).length === 0
  }
  // A setting of a guest needs the guest to exist, not to be up.
  if (by.desired.type === 'setting') return observed.lock === undefined && !ledger.intentions.has(need)
  return isRecordedReady(need, ledger)
}

function isRecordedReady(key: ResourceKey, { records }: PlanInput['ledger']): boolean {
  return records.get(key)?.conditions.some((c) => c.type === 'Ready' && c.status === 'True') ?? false
}

function isPostHook({ desired }: Resource): boolean {
  return desired.type === 'object' && desired.object.hook?.phase === 'post'
}

/** A type that the driver does not support: its state cannot be compared, so croft refuses it. */
function strange({ key, uid, connection, desired, origin, policy, driver }: Resource): Decided {
  const action: Action = {
    do: 'refuse',
    guard: 'driver',
    reason: `${key} is of the type ${desired.type}, which the driver ${driver} does not keep`,
    allow: 'choose another connection for it',
  }
  const entry = { key, uid, connection, type: desired.type, action, origin }
  const guarded = { entry, policy, awaitsApproval: false }
  return { identity: { is: 'unknown' }, survey: undefined, unmet: [], order: undefined, guarded }
}

/** Refuses a machine that no host may hold. */
function homeless({ placement }: Resource): Action | undefined {
  return placement?.refused === undefined ? undefined : { do: 'refuse', guard: 'placement', ...placement.refused }
}

function circle(resource: Resource, cycle: readonly ResourceKey[]): Action {
  return {
    do: 'refuse',
    guard: 'order',
    reason: `${resource.key} is part of a circle of needs: ${cycle.join(', ')}`,
    allow: 'remove one of the needs',
  }
}

function entryOf(
  resource: Resource,
  rules: Rules,
  action: Action,
  identity: ThingIdentity,
  survey: World['survey'],
): PlanEntry {
  const there = 'observed' in identity ? identity.observed : undefined
  const externalId = there?.externalId ?? ('externalId' in action ? action.externalId : undefined)
  const host = there?.host ?? rules.hostOf(resource)
  const chosen = identity.is === 'absent' ? resource.placement?.chosen : undefined
  const notes = [
    ...(chosen === undefined ? [] : [`placed on ${chosen.host}: ${chosen.why}`]),
    ...(action.do === 'create' && survey !== undefined ? tightOn(resource.desired, host, survey) : []),
    ...(identity.is === 'ours' ? rules.notes(resource, identity.observed) : []),
  ]
  return {
    key: resource.key,
    uid: resource.uid,
    connection: resource.connection,
    type: resource.desired.type,
    generation: resource.generation,
    action,
    host,
    origin: resource.origin,
    ...(externalId === undefined ? {} : { externalId }),
    ...(notes.length === 0 ? {} : { notes }),
  }
}

function removalEntry(removal: Removal, world: World, action: Action): PlanEntry {
  return {
    key: removal.key,
    uid: removal.uid,
    connection: world.connection.name,
    type: removal.type,
    action,
    externalId: removal.observed.externalId,
    host: removal.observed.host,
  }
}

function countBy(
  sourceOf: (key: ResourceKey) => string,
  all: readonly { readonly key: ResourceKey }[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { key } of all) counts.set(sourceOf(key), (counts.get(sourceOf(key)) ?? 0) + 1)
  return counts
}

/** Returns machines to destroy, now or after a wait. */
function deletions(leaving: readonly Removal[], guarded: readonly Guarded[]): readonly string[] {
  const going = leaving.filter(
    ({ type, deletion, proof }) => isGuest(type) && deletion === 'Delete' && proof !== undefined,
  )
  const replaced = guarded.filter(({ entry: { action }, policy }) => {
    const doing = action.do === 'wait' ? action.next : action
    return doing?.do === 'replace' && policy.replace === 'allowed'
  })
  return [...new Set([...going, ...replaced.map(({ entry }) => entry)].map(({ key }) => key))]
}

function unseen(connection: string, refusal: Refusal, { connections }: Pick<Estate, 'connections'>): ConnectionNote {
  const origin = connections.find(({ name }) => name === connection)?.origin
  return {
    connection,
    ...defined({ origin }),
    code: refusal.meaning === 'stalled' ? 'refused' : 'unreachable',
    reason: refusal.reason,
    message: refusal.message,
    allow: 'croft changes nothing there until it can look again',
  }
}

/** A replacement is planned as a creation: it waits for the new one's needs. */
function isReplaced({ guarded: { entry } }: Decided): boolean {
  const { action } = entry
  const doing = action.do === 'hold' ? action.held : action.do === 'wait' ? action.next : action
  return action.do === 'wait' || doing?.do === 'replace'
}
