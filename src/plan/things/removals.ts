import { DEFAULT_POLICY, ownerOf, type Policy, type ResourceKey } from '../../model/declaration.ts'
import { type Approval, type Estate, estateMark, isOfEstate, type Proof } from '../../model/estate.ts'
import { itemId } from '../../model/host-item.ts'
import { objectId } from '../../model/kube-object.ts'
import type { Action } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Desired, Mark, ObservedResource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { validApprovals } from '../approvals.ts'
import { detailsNeeded } from './details-needed.ts'
import { isKnownToLeave } from './known-removals.ts'
import { proofOf, wasDeclared } from './proof.ts'
import { isRetried, type Ledger, type World } from './world.ts'

/** A thing of ours that Git no longer declares. */
export interface Removal {
  readonly key: ResourceKey
  readonly uid: string
  readonly type: Desired['type']
  readonly observed: ObservedResource
  readonly record: ResourceRecord | undefined
  readonly deletion: 'Delete' | 'Orphan'
  readonly protect: boolean
  /** As it was declared last, where that is known. */
  readonly policy?: Policy
  /** Why it may leave. Absent: nothing says that it was ever declared here. */
  readonly proof?: Proof
}

/**
 * Guests that carry our mark and are declared no more. A guest whose mark names another estate, or a declaration that
 * is there but could not be read, is not among them; neither is one that has not been read closely yet, unless its
 * record says what else only its description does: whose it is and what should become of it.
 */
export function removals(estate: Estate, world: World, ledger: Ledger, nowMs: number): readonly Removal[] {
  const declared = new Set(estate.resources.map((resource) => resource.uid))
  const recordOf = new Map<string, ResourceRecord>()
  for (const record of ledger.records.values()) recordOf.set(record.uid, record)
  const approvals = validApprovals(estate, nowMs)
  const meant = new Set(
    approvals.filter((approval) => approval.orphans === true).flatMap((approval) => approval.deletes),
  )
  const own = ownMarks(estate, world)
  const found: Removal[] = []
  for (const [uid, resources] of world.marked) {
    if (declared.has(uid)) continue
    const record = recordOf.get(uid)
    for (const observed of resources) {
      const unread = observed.close === undefined
      const mark = unread ? markBy(observed, record, estate, approvals) : observed.mark
      if (mark?.owner === undefined || !(unread || own(mark.estate))) continue
      if (isUnreadable(mark.owner, estate)) continue
      const policy =
        record !== undefined && wasDeclared(record) ? record.policy : estate.removed?.get(mark.owner)?.policy
      const deletion = meant.has(mark.owner) ? 'Delete' : (policy?.deletion ?? mark.deletion ?? 'Orphan')
      found.push({
        key: mark.owner,
        uid,
        type: observed.type === 'container' ? 'container' : 'vm',
        observed,
        record,
        deletion,
        protect: policy?.protect ?? mark.protect ?? false,
        ...policyOf(policy, mark),
        ...provenBy(proofOf(mark.owner, record, estate, approvals)),
      })
    }
  }
  const search: Search = { estate, world, ledger, meant, approvals }
  found.push(...unmarkedRemovals(search), ...listedRemovals(search), ...unremembered(search))
  // What would stay anyway and is not known to be of this directory is nobody's business here.
  const ours = found.filter((one) => one.deletion === 'Delete' || one.proof !== undefined || one.record !== undefined)
  return ours.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** The mark of a guest that was not read yet, as far as its record knows it. */
function markBy(
  observed: ObservedResource,
  record: ResourceRecord | undefined,
  estate: Estate,
  approvals: readonly Approval[],
): Mark | undefined {
  return isKnownToLeave(observed, record, estate, approvals) ? { uid: record.uid, owner: record.key } : undefined
}

/** As it was declared last; where nothing remembers that, what its mark says. */
function policyOf(policy: Policy | undefined, { serverOf }: Mark): Pick<Removal, 'policy'> {
  if (policy !== undefined) return { policy }
  return serverOf === undefined ? {} : { policy: { ...DEFAULT_POLICY, serverOf } }
}

/** Keys of what carries our mark, is not declared, and of which nothing is known yet that proves it may leave. */
export function unprovenKeys(estate: Estate, world: World, ledger: Ledger, nowMs: number): readonly ResourceKey[] {
  const approvals = validApprovals(estate, nowMs)
  const declared = new Set(estate.resources.map(({ key }) => key))
  const own = ownMarks(estate, world)
  const seen = [...world.marked.values(), ...[...world.lists.values()].map((things) => [...things.values()])].flat()
  return seen.flatMap(({ mark }) => {
    if (mark?.owner === undefined || declared.has(mark.owner) || !own(mark.estate)) return []
    if (isUnreadable(mark.owner, estate)) return []
    return proofOf(mark.owner, ledger.records.get(mark.owner), estate, approvals) === undefined ? [mark.owner] : []
  })
}

/** Marks of the estates that declare something on this connection, and, while none has a uid, of its name. */
function ownMarks(estate: Estate, { connection }: World): (mark: string | undefined) => boolean {
  const marks = new Set([connection.estate, ...(estate.sources ?? []).map((uid) => estateMark(connection.estate, uid))])
  return (mark) => [...marks].some((own) => isOfEstate(mark, own))
}

/** Where things that are declared no more are looked for. */
interface Search {
  readonly estate: Estate
  readonly world: World
  readonly ledger: Ledger
  /** What a person wants deleted although its policy says otherwise. */
  readonly meant: ReadonlySet<ResourceKey>
  readonly approvals: readonly Approval[]
}

/** Guests that were taken over without a mark: the record of whoever declared them says which they are. */
function unmarkedRemovals({ estate, world, ledger, meant, approvals }: Search): readonly Removal[] {
  const declared = new Set(estate.resources.map(({ key }) => key))
  return [...ledger.records.values()].flatMap((record): readonly Removal[] => {
    const { key, uid, type, policy, externalId, connection } = record
    if (policy.unmarked !== true || (type !== 'vm' && type !== 'container')) return []
    if (connection !== world.connection.name || declared.has(key) || isUnreadable(key, estate)) return []
    const observed = externalId === undefined ? undefined : world.guests.get(externalId)
    if (observed === undefined || observed.mark !== undefined) return []
    // Its id was given to another guest: what croft took over is gone, and this one is nobody's of ours.
    if (record.details?.guest !== undefined && observed.name !== record.details.guest) return []
    const deletion = meant.has(key) ? 'Delete' : policy.deletion
    const proof = provenBy(proofOf(key, record, estate, approvals))
    return [{ key, uid, type, observed, record, deletion, protect: policy.protect, policy, ...proof }]
  })
}

function provenBy(proof: Proof | undefined): Pick<Removal, 'proof'> {
  return proof === undefined ? {} : { proof }
}

/**
 * Listed things carry no mark: only the store knows that we made them. Without that knowledge they stay, which is the
 * safe side; what was there before us is never among them.
 */
function listedRemovals({ estate, world, ledger, meant, approvals }: Search): readonly Removal[] {
  const declared = new Set(estate.resources.map((resource) => resource.key))
  const claimed = claimedThings(estate)
  const found: Removal[] = []
  for (const record of ledger.records.values()) {
    if (record.list === undefined || record.externalId === undefined || record.type === 'cluster') continue
    if (record.connection !== world.connection.name) continue
    if (declared.has(record.key) || isUnreadable(record.key, estate)) continue
    if (claimed.has(`${record.connection} ${record.externalId}`)) continue
    const things = world.lists.get(record.list)
    // What croft changed on a host has its mark there; what it found as it should be has none, and stays.
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

/** Items and objects that somebody declares. One that moved from one owner to another is not gone: it is only another's. */
function claimedThings(estate: Estate): ReadonlySet<string> {
  return new Set(
    estate.resources.flatMap(({ connection, desired }) => {
      if (desired.type === 'object') return [`${connection} ${objectId(desired.object.object)}`]
      return desired.type === 'item' ? [`${connection} ${itemId(desired.item.item)}`] : []
    }),
  )
}

/**
 * Items and objects whose marks are on a host or a cluster, of which a store that was lost says nothing. They are ours
 * when the mark names our estate and an owner of which something is still declared here; else another repository may have
 * made them.
 */
function unremembered({ estate, world, ledger, meant, approvals }: Search): readonly Removal[] {
  const seen = [...world.lists.values()].flatMap((things) =>
    [...things.values()].filter(
      ({ type, mark }) =>
        (type === 'item' || type === 'object') &&
        mark?.owner !== undefined &&
        !isListed(ledger.records.get(mark.owner)),
    ),
  )
  if (seen.length === 0) return []
  const claimed = claimedThings(estate)
  const owners = new Set(estate.resources.map(({ key }) => ownerOf(key)))
  const own = ownMarks(estate, world)
  return seen.flatMap((observed): readonly Removal[] => {
    const { mark, connection, externalId } = observed
    if (mark?.owner === undefined || mark.estate === undefined || !own(mark.estate)) return []
    if (claimed.has(`${connection} ${externalId}`)) return []
    const record = ledger.records.get(mark.owner)
    const proof = proofOf(mark.owner, record, estate, approvals)
    if (isUnreadable(mark.owner, estate) || (proof === undefined && !owners.has(ownerOf(mark.owner)))) return []
    const deletion = meant.has(mark.owner) ? 'Delete' : (mark.deletion ?? 'Orphan')
    const type = observed.type === 'object' ? 'object' : 'item'
    return [{ key: mark.owner, uid: mark.uid, type, observed, record, deletion, protect: false, ...provenBy(proof) }]
  })
}

/** What the store has known since it was declared is found by its record. */
function isListed(record: ResourceRecord | undefined): boolean {
  return record?.list !== undefined
}

function isMarked(observed: ObservedResource | undefined, record: ResourceRecord): boolean {
  return observed?.mark?.uid === record.uid
}

/** `Image/noble@alpha` is a part of `Image/noble`: when that could not be read, its parts are not gone. */
function isUnreadable(key: ResourceKey, estate: Estate): boolean {
  return estate.unreadable.some((unreadable) => key === unreadable || key.startsWith(`${unreadable}@`))
}

/** How many objects each cluster has and how many of them are to be deleted, where any leaves. */
export function objectsLeaving(
  estate: Estate,
  leaving: readonly Removal[],
): ReadonlyMap<string, { readonly all: number; readonly deleting: readonly ResourceKey[] }> {
  const counts = new Map<string, { readonly all: number; readonly deleting: readonly ResourceKey[] }>()
  for (const { type, deletion, key, observed, proof } of leaving) {
    if (type !== 'object' || proof === undefined) continue
    const { all, deleting } = counts.get(observed.connection) ?? {
      all: estate.resources.filter(({ connection }) => connection === observed.connection).length,
      deleting: [],
    }
    counts.set(observed.connection, { all: all + 1, deleting: deletion === 'Delete' ? [...deleting, key] : deleting })
  }
  return counts
}

/** What to do about one removal, before the guards. */
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
  if (failure !== undefined && !isRetried(ledger, removal.key) && failure.nextAttemptMs > nowMs) {
    return { do: 'wait', reason: failure.reason, message: failure.message, lookAgainMs: failure.nextAttemptMs - nowMs }
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
  const obstacle = rules.undeletable(observed)
  if (obstacle !== undefined)
    return { do: 'refuse', guard: 'protection', reason: obstacle.message, allow: obstacle.allow }
  // Whether it must be shut down first is asked of the guest itself: the survey may still show it running.
  if (observed.list === undefined && observed.close?.power === undefined) return detailsNeeded(observed, 'power')
  return {
    do: 'delete',
    externalId: observed.externalId,
    host: observed.host,
    steps: rules.deleteSteps(observed),
    reason: 'no longer declared',
    ...(removal.proof === undefined ? {} : { proof: removal.proof }),
  }
}
