import { pauseLeftMs } from '../../lib/backoff.ts'
import { DEFAULT_POLICY, ownerOf, type Policy, type ResourceKey } from '../../model/declaration.ts'
import { removed } from '../../model/destruction.ts'
import { type Approval, type Estate, estateMark, isOfEstate, type Proof } from '../../model/estate.ts'
import { volumeId } from '../../model/file.ts'
import type { Action } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { type Desired, isGuest, type Mark, type ObservedResource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { validApprovals } from '../approvals.ts'
import type { PlanInput } from '../planner.ts'
import { isSameGuest } from './births.ts'
import { detailsNeeded } from './details-needed.ts'
import { claimantsOf, type PlaceClaims } from './holdings.ts'
import { isKnownToLeave } from './known-removals.ts'
import { claimantOf, leftKey } from './left-key.ts'
import { proofOf, wasDeclared } from './proof.ts'
import { type ObjectCounts, objectsOf } from './source-share.ts'
import { isUnread } from './unread.ts'
import { type DestroyedSoFar, isRetried, type Ledger, type World } from './world.ts'

/** An undeclared thing of ours. */
export interface Removal {
  readonly key: ResourceKey
  readonly uid: string
  readonly type: Desired['type']
  readonly observed: ObservedResource
  readonly record: ResourceRecord | undefined
  readonly deletion: 'Delete' | 'Orphan'
  readonly protect: boolean
  /** Its last declared policy, if known. */
  readonly policy?: Policy
  /** Why it may leave. Absent: nothing proves that it was declared here. */
  readonly proof?: Proof
}

/**
 * Returns guests with our mark that are undeclared, or now declared elsewhere. Excludes guests whose mark names another
 * estate or an unreadable declaration. Excludes guests that were not read closely, unless their record holds the facts
 * of their description: the owner and the deletion policy.
 */
export function removals(input: PlanInput, world: World, claims: PlaceClaims): readonly Removal[] {
  const { estate, worlds, ledger, nowMs } = input
  const here = world.connection.name
  const declared = new Map(estate.resources.map((resource) => [resource.uid, resource]))
  const keys = new Set(estate.resources.map(({ key }) => key))
  const records = new Map<string, ResourceRecord>()
  for (const record of ledger.records.values())
    if (record.connection === here && isGuest(record.type))
      records.set(`${record.uid} ${record.externalId ?? ''}`, record)
  const approvals = validApprovals(estate, nowMs)
  const meant = new Set(
    approvals.filter((approval) => approval.orphans === true).flatMap((approval) => approval.deletes),
  )
  const own = ownMarks(estate, world)
  const found: Removal[] = []
  for (const [uid, resources] of world.marked) {
    const resource = declared.get(uid)
    if (resource?.connection === here) continue
    const twins = [...worlds.values()].reduce((sum, { marked }) => sum + (marked.get(uid)?.length ?? 0), 0)
    for (const observed of resources) {
      if (resource !== undefined && isSeenTwice(observed, worlds.get(resource.connection))) continue
      const known =
        records.get(`${uid} ${observed.externalId}`) ?? (twins > 1 ? undefined : recordOf(uid, here, ledger))
      const unread = observed.close === undefined
      // Its description names another declaration: our record of it proves nothing.
      const isOfAnother =
        !unread && known !== undefined && claimantOf(known.key) !== claimantOf(observed.mark?.owner ?? '')
      const record = isOfAnother ? undefined : known
      const mark = unread ? markBy(observed, record, estate, approvals) : observed.mark
      if (mark?.owner === undefined || !(unread || own(mark.estate))) continue
      const owner = claimantOf(mark.owner)
      // A declaration that names another place has left this one, even if other paths are unread.
      if (resource === undefined && isUnread(owner, estate)) continue
      const isAlone = twins === 1 && resource === undefined && !ledger.records.has(owner) && !keys.has(owner)
      const key = record?.key ?? (isAlone ? owner : leftKey(owner, here, observed.externalId))
      const policy = record !== undefined && wasDeclared(record) ? record.policy : estate.removed?.get(owner)?.policy
      const isMeant = meant.has(owner) || meant.has(key)
      found.push({
        key,
        uid,
        type: observed.type === 'container' ? 'container' : 'vm',
        observed,
        record,
        deletion: isMeant ? 'Delete' : (policy?.deletion ?? mark.deletion ?? 'Orphan'),
        protect: policy?.protect ?? mark.protect ?? false,
        ...policyOf(policy, mark),
        ...provenBy(proofOf(key, record, estate, approvals)),
      })
    }
  }
  const search: Search = { estate, world, ledger, meant, approvals, claims }
  found.push(...unmarkedRemovals(search), ...listedRemovals(search), ...unremembered(search))
  // Drop what would stay anyway and is not known to belong to this directory.
  const ours = found.filter((one) => one.deletion === 'Delete' || one.proof !== undefined || one.record !== undefined)
  return ours.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** The record of the only guest with this mark, whose recorded id differs from the guest's. */
function recordOf(uid: string, connection: string, { records }: Ledger): ResourceRecord | undefined {
  return [...records.values()].find((record) => record.uid === uid && record.connection === connection)
}

/** Two connections may reach one system: the same id is the same guest, unless the births differ. */
function isSeenTwice({ externalId, close, mark }: ObservedResource, other: World | undefined): boolean {
  const there = other?.guests.get(externalId)
  if (there?.mark?.uid !== mark?.uid) return false
  const [one, two] = [close?.birth, there?.close?.birth]
  return one === undefined || two === undefined || one === two
}

/** Returns the mark of an unread guest, as far as its record knows it. */
function markBy(
  observed: ObservedResource,
  record: ResourceRecord | undefined,
  estate: Estate,
  approvals: readonly Approval[],
): Mark | undefined {
  return isKnownToLeave(observed, record, estate, approvals) ? { uid: record.uid, owner: record.key } : undefined
}

/** Returns the last declared policy; if none is remembered, that of the mark. */
function policyOf(policy: Policy | undefined, { serverOf }: Mark): Pick<Removal, 'policy'> {
  if (policy !== undefined) return { policy }
  return serverOf === undefined ? {} : { policy: { ...DEFAULT_POLICY, serverOf } }
}

/** Returns keys with our mark and no declaration that no proof allows to leave yet. */
export function unprovenKeys(estate: Estate, world: World, ledger: Ledger, nowMs: number): readonly ResourceKey[] {
  const approvals = validApprovals(estate, nowMs)
  return undeclaredMarks(estate, world).filter(
    (key) => !isUnread(key, estate) && proofOf(key, ledger.records.get(key), estate, approvals) === undefined,
  )
}

/** Returns the keys of undeclared things with our mark. */
export function undeclaredMarks(estate: Estate, world: World): readonly ResourceKey[] {
  const declared = new Set(estate.resources.map(({ key }) => key))
  const own = ownMarks(estate, world)
  const seen = [...world.marked.values(), ...[...world.lists.values()].map((things) => [...things.values()])].flat()
  return seen.flatMap(({ mark }) =>
    mark?.owner === undefined || declared.has(mark.owner) || !own(mark.estate) ? [] : [mark.owner],
  )
}

/** Returns a check for marks of the estates on this connection and, while none has a uid, of its name. */
function ownMarks(estate: Estate, { connection }: World): (mark: string | undefined) => boolean {
  const marks = new Set([connection.estate, ...(estate.sources ?? []).map((uid) => estateMark(connection.estate, uid))])
  return (mark) => [...marks].some((own) => isOfEstate(mark, own))
}

/** Where to search for undeclared things. */
interface Search {
  readonly estate: Estate
  readonly world: World
  readonly ledger: Ledger
  /** Keys that a person wants deleted against their policy. */
  readonly meant: ReadonlySet<ResourceKey>
  readonly approvals: readonly Approval[]
  readonly claims: PlaceClaims
}

/** Guests that were adopted without a mark: the record of their former declaration identifies them. */
function unmarkedRemovals({ estate, world, ledger, meant, approvals }: Search): readonly Removal[] {
  const declared = new Set(estate.resources.map(({ key }) => key))
  return [...ledger.records.values()].flatMap((record): readonly Removal[] => {
    const { key, uid, type, policy, externalId, connection } = record
    if (policy.unmarked !== true || (type !== 'vm' && type !== 'container')) return []
    if (connection !== world.connection.name || declared.has(key) || isUnread(key, estate)) return []
    const observed = externalId === undefined ? undefined : world.guests.get(externalId)
    if (observed === undefined || observed.mark !== undefined) return []
    // The id may belong to another guest by now: then the adopted one is gone.
    if (observed.close !== undefined && !isSameGuest(record, observed, policy)) return []
    const deletion = meant.has(key) ? 'Delete' : policy.deletion
    const proof = provenBy(proofOf(key, record, estate, approvals))
    return [{ key, uid, type, observed, record, deletion, protect: policy.protect, policy, ...proof }]
  })
}

function provenBy(proof: Proof | undefined): Pick<Removal, 'proof'> {
  return proof === undefined ? {} : { proof }
}

/**
 * Returns undeclared listed things. They carry no mark: only the store knows that croft created them. Without that they
 * stay, which is safe; things that predate croft are never included.
 */
function listedRemovals({ estate, world, ledger, meant, approvals, claims }: Search): readonly Removal[] {
  const declared = new Set(estate.resources.map((resource) => resource.key))
  const found: Removal[] = []
  for (const record of ledger.records.values()) {
    if (record.list === undefined || record.externalId === undefined || record.type === 'cluster') continue
    if (record.connection !== world.connection.name) continue
    if (declared.has(record.key) || isUnread(record.key, estate)) continue
    const claimants = claimantsOf(claims, record)
    // Its declaration may have moved to another connection of the same system.
    if (claimants.has(record.connection) || [...claimants.values()].includes(claimantOf(record.key))) continue
    if (record.type === 'file' && isShared(record.externalId, world) && isDeclaredFile(record, estate)) continue
    const things = world.lists.get(record.list)
    // croft's change on a host has a mark there; what croft found as declared has none, and stays.
    const keepsMarks = record.type === 'item' || record.type === 'object'
    const marked = keepsMarks && (things === undefined || isMarked(things.get(record.externalId), record))
    if (record.made !== true && !marked) continue
    const observed: ObservedResource | undefined =
      things === undefined
        ? {
            connection: record.connection,
            type: record.type === 'item' || record.type === 'object' ? record.type : 'file',
            list: record.list,
            externalId: record.externalId,
            host: record.host ?? '',
          }
        : things.get(record.externalId)
    if (observed === undefined) continue
    const deletion = meant.has(record.key) ? 'Delete' : record.policy.deletion
    found.push({
      key: record.key,
      uid: record.uid,
      type: record.type,
      observed,
      record,
      deletion,
      protect: record.policy.protect,
      ...provenBy(proofOf(record.key, record, estate, approvals)),
    })
  }
  return found
}

/** All hosts of a shared storage list the same file. */
function isShared(volume: string, { survey }: World): boolean {
  return survey?.storages.some(({ name, shared }) => shared && volume.startsWith(`${name}:`)) === true
}

function isDeclaredFile({ connection, externalId }: ResourceRecord, { resources }: Estate): boolean {
  return resources.some(
    (one) => one.connection === connection && one.desired.type === 'file' && volumeId(one.desired.file) === externalId,
  )
}

/**
 * Returns marked items and objects that the store does not know, since it was lost. They are ours if the mark names our
 * estate and their owner still declares something here; otherwise another repository may have made them.
 */
function unremembered({ estate, world, ledger, meant, approvals, claims }: Search): readonly Removal[] {
  const seen = [...world.lists.values()].flatMap((things) =>
    [...things.values()].filter(
      ({ type, mark }) =>
        (type === 'item' || type === 'object') &&
        mark?.owner !== undefined &&
        !isListed(ledger.records.get(mark.owner)),
    ),
  )
  if (seen.length === 0) return []
  const owners = new Set(estate.resources.map(({ key }) => ownerOf(key)))
  const own = ownMarks(estate, world)
  return seen.flatMap((observed): readonly Removal[] => {
    const { mark, connection } = observed
    if (mark?.owner === undefined || mark.estate === undefined || !own(mark.estate)) return []
    if (claimantsOf(claims, observed).has(connection)) return []
    const record = ledger.records.get(mark.owner)
    const proof = proofOf(mark.owner, record, estate, approvals)
    if (isUnread(mark.owner, estate) || (proof === undefined && !owners.has(ownerOf(mark.owner)))) return []
    const deletion = meant.has(mark.owner) ? 'Delete' : (mark.deletion ?? 'Orphan')
    const type = observed.type === 'object' ? 'object' : 'item'
    return [{ key: mark.owner, uid: mark.uid, type, observed, record, deletion, protect: false, ...provenBy(proof) }]
  })
}

/** A thing that the store knows is found by its record. */
function isListed(record: ResourceRecord | undefined): boolean {
  return record?.list !== undefined
}

function isMarked(observed: ObservedResource | undefined, record: ResourceRecord): boolean {
  return observed?.mark?.uid === record.uid
}

/** Counts the objects of each source on each cluster and those to delete, if any leaves. */
export function objectsLeaving(
  estate: Estate,
  leaving: readonly Removal[],
  destroyed: DestroyedSoFar['things'],
  sourceOf: (key: ResourceKey) => string,
): ObjectCounts {
  const counts = new Map<string, { all: number; readonly deleting: ResourceKey[] }>()
  const count = (connection: string, key: ResourceKey, goes: boolean) => {
    const name = objectsOf(sourceOf(key), connection)
    const found = counts.get(name) ?? { all: 0, deleting: [] }
    counts.set(name, found)
    found.all++
    if (goes) found.deleting.push(key)
  }
  for (const { type, deletion, key, observed, proof } of leaving)
    if (type === 'object' && proof !== undefined) count(observed.connection, key, deletion === 'Delete')
  for (const { connection, key } of destroyed) count(connection, key, true)
  if (counts.size > 0)
    for (const { key, desired, connection } of estate.resources)
      if (desired.type === 'object') count(connection, key, false)
  return counts
}

/** Decides one removal, before the guards. */
export function decideRemoval(removal: Removal, rules: Rules, ledger: Ledger, nowMs: number): Action {
  const { observed, record } = removal
  const intention = ledger.intentions.get(removal.key)
  if (intention !== undefined) {
    return { do: 'wait', reason: 'InProgress', message: intention.step.summary, lookAgainMs: 1_000 }
  }
  if (removal.deletion === 'Orphan') {
    if (record?.status === 'Orphaned') return { do: 'nothing' }
    return {
      do: 'forget',
      externalId: observed.externalId,
      reason: 'no longer declared, and its deletion policy is Orphan',
    }
  }
  const failure = record?.failure
  const pauseMs = failure === undefined || isRetried(ledger, removal.key) ? 0 : pauseLeftMs(failure, nowMs)
  if (failure !== undefined && pauseMs > 0) {
    return { do: 'wait', reason: failure.reason, message: failure.message, lookAgainMs: pauseMs }
  }
  if (observed.lock !== undefined) {
    return {
      do: 'wait',
      reason: 'Locked',
      message: `id ${observed.externalId} on ${observed.host} is locked (${observed.lock})`,
      lookAgainMs: 2_000,
    }
  }
  if (observed.list !== undefined && observed.close === undefined) {
    const message = `${observed.list} has not been read yet`
    return {
      do: 'wait',
      reason: 'NotListed',
      message,
      lookAgainMs: 1_000,
      missing: { look: 'list', list: observed.list },
    }
  }
  if (observed.close === undefined && observed.list === undefined) return detailsNeeded(observed, 'config')
  const release = rules.releases?.(observed)
  if (release !== undefined) {
    const { to, steps } = release
    const owner = { path: 'owner', from: 'croft', to, effect: 'live', own: true } as const
    const reason = `no longer declared, and ${to} keeps it by now`
    return { do: 'update', externalId: observed.externalId, changes: [owner], steps, reason }
  }
  const obstacle = rules.undeletable(observed)
  if (obstacle !== undefined)
    return { do: 'refuse', guard: 'protection', reason: obstacle.message, allow: obstacle.allow }
  // Ask the guest itself whether to shut it down first: the survey may still show it running.
  if (observed.list === undefined && observed.close?.power === undefined) return detailsNeeded(observed, 'power')
  return {
    do: 'delete',
    externalId: observed.externalId,
    host: observed.host,
    steps: rules.deleteSteps(removed(observed, rules.dataDisks(observed), removal.proof)),
    reason: 'no longer declared',
    ...(removal.proof === undefined ? {} : { proof: removal.proof }),
  }
}
