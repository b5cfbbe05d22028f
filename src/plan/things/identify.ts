import { defined } from '../../lib/defined.ts'
import { ownAttempt } from '../../model/destruction.ts'
import { isOfEstate } from '../../model/estate.ts'
import type { Births } from '../../model/plan.ts'
import { isBeingMade, type ObservedResource, type Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { NEVER_BEGUN } from '../../model/step.ts'
import { attemptOf } from './attempt.ts'
import { isHeldAt, isSameGuest } from './births.ts'
import type { Ledger, World } from './world.ts'

/** The thing in the world that a resource is, if any. */
export type ThingIdentity =
  /** Ours, by its mark (or, for a listed thing, by its name: listed things cannot be marked). */
  | { readonly is: 'ours'; readonly observed: ObservedResource }
  /** It exists, croft did not create it, and a person asked to adopt it. */
  | { readonly is: 'adoptable'; readonly observed: ObservedResource }
  /** The declared id belongs to a foreign thing. */
  | { readonly is: 'foreign'; readonly observed: ObservedResource; readonly births?: Births }
  /** A guest with our id or the claimed one under creation, complete or not: it shows at most a lock. */
  | { readonly is: 'forming'; readonly observed: ObservedResource }
  /** It has our id or the claimed one, and its tags name no owner: its description may. */
  | { readonly is: 'unread'; readonly observed: ObservedResource }
  /** Several guests have our mark, and nothing tells which is the original. */
  | { readonly is: 'ambiguous'; readonly resources: readonly ObservedResource[] }
  | { readonly is: 'absent' }
  /** Unknown in this pass. */
  | { readonly is: 'unknown' }

/**
 * Finds the thing of a resource. Never by name: names are not unique, and a guest has none while it is cloned. The mark
 * decides, then the id that was recorded before the call that used it.
 */
export function identify(resource: Resource, rules: Rules, world: World, ledger: Ledger): ThingIdentity {
  if (world.survey === undefined) return { is: 'unknown' }
  const declaredId = rules.declaredId(resource)
  const list = rules.listOf(resource)
  return list === undefined
    ? identifyGuest(resource, rules, world, ledger)
    : identifyListed(declaredId, world.lists.get(list))
}

function identifyListed(
  declaredId: string | undefined,
  things: ReadonlyMap<string, ObservedResource> | undefined,
): ThingIdentity {
  if (declaredId === undefined || things === undefined) return { is: 'unknown' }
  const observed = things.get(declaredId)
  return observed === undefined ? { is: 'absent' } : { is: 'ours', observed }
}

function identifyGuest(resource: Resource, rules: Rules, world: World, ledger: Ledger): ThingIdentity {
  const declaredId = rules.declaredId(resource)
  const intended = ledger.intentions.get(resource.key)?.externalId
  const record = ledger.records.get(resource.key)
  const recorded = record?.connection === world.connection.name ? record.externalId : undefined
  const marked = world.marked.get(resource.uid) ?? []
  const ours = marked.filter((observed) => isOfOurEstate(observed, resource))
  const [others] = marked.filter((observed) => !isOfOurEstate(observed, resource))
  // Another estate of the same name declares the same thing: two must not manage it, nor create a second one.
  if (ours.length === 0 && others !== undefined) return { is: 'foreign', observed: others }
  if (ours.length === 1 && ours[0] !== undefined) return { is: 'ours', observed: ours[0] }
  if (ours.length > 1) {
    const known = ours.find((s) => s.externalId === (intended ?? recorded ?? declaredId))
    if (known !== undefined) return { is: 'ours', observed: known }
    // A copy has its source's tags; only its description shows that it is a copy.
    const unread = ours.find((s) => s.close === undefined)
    return unread === undefined ? { is: 'ambiguous', resources: ours } : { is: 'unread', observed: unread }
  }
  // Check the recorded id too: a creation may have ended after a survey that shows it without its mark.
  const begun = intended ?? recorded
  const forming = begun === undefined ? undefined : world.guests.get(begun)
  // The record alone shows whether our creation of it is open, or it was whole before.
  const isKnown = attemptOf(record) !== undefined || record?.seenMs !== undefined
  if (forming !== undefined && forming.mark === undefined && isBeingMade(forming)) {
    // The creation stays stuck until root clears it. If Git names no id, another one serves as well.
    const cleared = ownAttempt(forming, { connection: world.connection.name })
    const isStuck = cleared === undefined || rules.abandonedSteps(resource, cleared) === undefined
    const isFree = declaredId === undefined && isStuck
    // A creation that did start may have left disks: then a person clears the id, and croft the disks.
    if (isFree && !isKnown && isLeft(resource, forming, world, ledger)) return { is: 'absent' }
    return { is: 'forming', observed: forming }
  }
  if (forming !== undefined && isHollow(forming) && isKnown) return { is: 'forming', observed: forming }
  // A copy that croft made has the source's tags at first, and our tag may have been removed: read the guest closely.
  if (forming !== undefined && forming.close === undefined) return { is: 'unread', observed: forming }

  const adopt = resource.policy.adopt
  // An abandoned guest stays where it is: its declaration, if still in Git, must not create a second one.
  const left = record?.status === 'Orphaned' ? recorded : undefined
  const claimed = declaredId ?? adopt ?? left
  if (claimed === undefined) return { is: 'absent' }
  const there = world.guests.get(claimed)
  if (there === undefined) return { is: 'absent' }
  // The owner is unknown yet: after the loss of the store the guest may be ours.
  if (there.mark === undefined && isBeingMade(there)) return { is: 'forming', observed: there }
  if (there.close === undefined && (there.mark !== undefined || adopt !== claimed))
    return { is: 'unread', observed: there }
  if (there.mark === undefined && adopt === claimed) return claimedBy(resource, there, ledger)
  return { is: 'foreign', observed: there }
}

/** Adoption happens once: afterwards the declaration claims the adopted guest, not its id. */
function claimedBy({ key, policy }: Resource, there: ObservedResource, ledger: Ledger): ThingIdentity {
  const record = ledger.records.get(key)
  if (isHeldAt(record, there)) {
    if (there.close === undefined) return { is: 'unread', observed: there }
    if (!isSameGuest(record, there, policy))
      return { is: 'foreign', observed: there, births: defined({ was: record.birth, is: there.close.birth }) }
  }
  return { is: policy.unmarked === true ? 'ours' : 'adoptable', observed: there }
}

/** Reports whether the guest may be of our estate. Only the description names the estate, so an unread guest may be. */
function isOfOurEstate({ mark, close }: ObservedResource, { estate }: Resource): boolean {
  return close === undefined || estate === undefined || isOfEstate(mark?.estate, estate)
}

/** Reports whether the creation was abandoned: the host never started it, or has not worked on it for long enough. */
export function isLeft({ key }: Resource, { externalId }: ObservedResource, world: World, ledger: Ledger): boolean {
  const record = ledger.records.get(key)
  const neverBegun = record?.failure?.reason === NEVER_BEGUN && record.externalId === externalId
  return neverBegun || world.deserted?.has(externalId) === true
}

/**
 * Reports whether the guest is only an id: its creation broke off, its lock was lifted, and the cleanup stopped there.
 * It holds no data.
 */
export function isHollow({ lock, close }: ObservedResource): boolean {
  return lock === undefined && close !== undefined && Object.keys(close.config).every((name) => name === 'digest')
}
