import { pauseLeftMs } from '../../lib/backoff.ts'
import { changed, ordered, ownAttempt } from '../../model/destruction.ts'
import { estateUidIn } from '../../model/estate.ts'
import type { IdRange } from '../../model/grant.ts'
import { hypervisorRow, visibilityOf } from '../../model/hypervisors.ts'
import type { Action, Births } from '../../model/plan.ts'
import {
  type Change,
  guestIn,
  isBeingMade,
  type ObservedResource,
  type Resource,
  withGuestFields,
} from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { MachineOrder } from '../clusters/membership.ts'
import { isAsMade } from './as-made.ts'
import { attemptAt, wasWhole } from './attempt.ts'
import { detailsNeeded } from './details-needed.ts'
import { isHollow, isLeft, type ThingIdentity } from './identify.ts'
import { blocked, dataAtStake, notInPlace, unfit } from './impossible.ts'
import { neverFits } from './placement/room.ts'
import { clearing, remainsOf, tool } from './remains.ts'
import { isRetried, type Ledger, type World } from './world.ts'

/** The inputs for the next action of one resource. */
export interface Situation {
  readonly resource: Resource
  readonly identity: ThingIdentity
  readonly world: World
  readonly ledger: Ledger
  readonly rules: Rules
  /** Needs that are not Ready yet. */
  readonly unmet: readonly string[]
  /** The id for its creation, if it needs one. */
  readonly allocatedId: string | undefined
  readonly nowMs: number
  /** The coordinator's order for it. */
  readonly order?: MachineOrder
}

const LOOK_SOON_MS = 1_000
const LOOK_LATER_MS = 10_000

/** Decides the next action for one declared resource, before the guards. Pure. */
export function decide(situation: Situation): Action {
  return (
    notSeen(situation) ??
    inFlight(situation) ??
    stalled(situation) ??
    backingOff(situation) ??
    decideByIdentity(situation)
  )
}

function notSeen({ world, resource }: Situation): Action | undefined {
  if (world.survey !== undefined) return undefined
  const why = world.refusal?.message ?? `${resource.connection} has not been surveyed`
  return { do: 'wait', reason: 'ConnectionNotSeen', message: why, lookAgainMs: LOOK_LATER_MS }
}

function inFlight({ resource, ledger }: Situation): Action | undefined {
  const intention = ledger.intentions.get(resource.key)
  if (intention === undefined) return undefined
  const task = ledger.running.get(resource.key)
  const message = `${intention.step.summary}${task === undefined ? ', waiting for its result' : ''}`
  return { do: 'wait', reason: 'InProgress', message, lookAgainMs: LOOK_SOON_MS }
}

function stalled({ resource, ledger }: Situation): Action | undefined {
  const record = ledger.records.get(resource.key)
  if (isRetried(ledger, resource.key) || record?.stalledGeneration !== resource.generation) return undefined
  if (record.failure?.transient === true) return undefined
  return {
    do: 'refuse',
    guard: 'stalled',
    reason: record.failure?.message ?? 'it failed before',
    allow: `change the declaration, or remove the cause and run croft apply`,
  }
}

function backingOff({ resource, ledger, nowMs }: Situation): Action | undefined {
  const failure = ledger.records.get(resource.key)?.failure
  if (failure === undefined || isRetried(ledger, resource.key)) return undefined
  const lookAgainMs = pauseLeftMs(failure, nowMs)
  if (lookAgainMs === 0) return undefined
  return {
    do: 'wait',
    reason: failure.reason,
    message: failure.message,
    lookAgainMs,
  }
}

function decideByIdentity(situation: Situation): Action {
  const { identity } = situation
  switch (identity.is) {
    case 'unknown':
      return notListed(situation)
    case 'forming':
      return (
        abandoned(situation, identity.observed) ?? {
          do: 'wait',
          reason: 'BeingCreated',
          message: `id ${identity.observed.externalId} on ${identity.observed.host} is ${identity.observed.lock === undefined ? 'empty' : `locked (${identity.observed.lock})`} while it is being created; if no task works on it any more, run there: ${clearing(identity.observed)}`,
          lookAgainMs: LOOK_SOON_MS,
        }
      )
    case 'unread':
      return detailsNeeded(identity.observed, 'config')
    case 'ambiguous':
      return {
        do: 'refuse',
        guard: 'identity',
        reason: `${identity.resources.map((s) => `${s.externalId} on ${s.host}`).join(' and ')} both carry the mark of ${situation.resource.key}`,
        allow: 'remove the tags that begin with croft from the copy',
      }
    case 'foreign':
      return foreign(situation, identity.observed, identity.births)
    case 'adoptable':
      return adopt(situation, identity.observed)
    case 'ours':
      return keep(situation, identity.observed)
    case 'absent':
      return create(situation)
  }
}

/**
 * A guest that shows at most its lock, without a task. If our creation of it is still open, that broke off, most likely
 * with its host's power: the plan deletes the remains if possible, and creates it again. If the guest was seen whole
 * before, its disks hold its data, and only a person may decide about them.
 */
function abandoned({ resource, rules, world, ledger }: Situation, observed: ObservedResource): Action | undefined {
  const { externalId, host, lock } = observed
  const record = ledger.records.get(resource.key)
  const attempt = attemptAt(record, resource.connection, externalId)
  const lost = wasWhole(record, resource.connection, externalId)
  const left = isLeft(resource, observed, world, ledger)
  if (record?.externalId !== externalId || !(attempt !== undefined || lost || left)) return undefined
  if (!left && lock !== 'create' && !isHollow(observed)) return undefined
  const busy = world.survey?.tasks.some(({ state, subject }) => state === 'running' && subject === externalId) ?? true
  const online = world.survey?.hosts.some((one) => one.name === host && one.online) ?? false
  if (busy || !online) return undefined
  // A survey reads guests and tasks separately: a creation that ended in between still shows its lock, and is whole.
  if (observed.close === undefined || observed.close.atMs < (world.survey?.atMs ?? 0))
    return detailsNeeded(observed, 'config')
  if (lost)
    return {
      do: 'refuse',
      guard: 'vanished',
      reason: `${resource.key} was there as id ${externalId} on ${host}, and now ${lock === undefined ? 'its configuration is empty' : `it shows nothing but the lock ${lock}: most likely a restore over it broke off`}`,
      allow: `put its configuration back, or restore it from a backup; croft creates it with empty disks after it and its disks are removed`,
    }
  const cleared = ownAttempt(observed, attempt ?? (left ? record : undefined))
  const away = cleared === undefined ? undefined : rules.abandonedSteps(resource, cleared)
  // The creation has stopped and croft may not clear its remains: waiting would never end.
  if (away === undefined)
    return {
      do: 'refuse',
      guard: 'unfinished-creation',
      reason: `an earlier creation of id ${externalId} on ${host} broke off: ${host} lost power or lost the task, and the token may not clear what is left`,
      allow: `run on ${host}: ${clearing(observed)}`,
    }
  const remains = remainsOf(resource, externalId, rules, world, ledger)
  if ('do' in remains) return remains
  return {
    do: 'create',
    externalId,
    host: rules.hostOf(resource),
    steps: [
      ...away,
      ...remains.left.flatMap((disk) => rules.deleteSteps(disk)),
      ...rules.createSteps(resource, externalId, world.survey),
    ],
    reason: `an earlier creation of id ${externalId} on ${host} broke off`,
  }
}

function foreign({ resource }: Situation, there: ObservedResource, births: Births | undefined): Action {
  const uid = estateUidIn(there.mark?.estate)
  if (there.mark?.uid === resource.uid && uid !== undefined) {
    return {
      do: 'refuse',
      guard: 'identity',
      reason: `${resource.key} is already there as id ${there.externalId} on ${there.host}, and belongs to another estate (${uid})`,
      allow: `give it another name here; or, if this directory is that estate, write its uid into the Estate: spec: {uid: ${uid}}`,
    }
  }
  const called = there.name === undefined ? '' : ` (${there.name})`
  if (births !== undefined) {
    const { was = 'a birth that is not recorded', is } = births
    return {
      do: 'refuse',
      guard: 'identity',
      reason: `id ${there.externalId}${called} on ${there.host} is another guest than the one that was adopted for ${resource.key}: that one had ${was}, this one has ${is ?? 'none that can be read'}`,
      allow:
        is === undefined
          ? 'choose another id'
          : `choose another id, or take this guest over with the annotation croft.dev/birth: "${is}" on ${resource.key}`,
    }
  }
  const owner = there.mark === undefined ? 'was not made by croft' : 'is kept for another declaration'
  return {
    do: 'refuse',
    guard: 'identity',
    reason: `id ${there.externalId}${called} on ${there.host} ${owner}`,
    allow:
      there.mark === undefined
        ? `choose another id, or take it over with the annotation crossplane.io/external-name: "${there.externalId}" on ${resource.key}`
        : 'choose another id',
  }
}

function adopt({ resource, rules, world, ledger }: Situation, observed: ObservedResource): Action {
  if (observed.lock !== undefined) return locked(observed)
  if (observed.close === undefined) return detailsNeeded(observed, 'config')
  const changes = rules.diff(resource, observed, ledger.records.get(resource.key)?.details)
  if (powerIsHearsay(changes, observed)) return detailsNeeded(observed, 'power')
  const impossible = blocked(resource, changes) ?? unfit(resource, observed, rules, changes, world.survey)
  if (impossible !== undefined) return impossible
  return {
    do: 'adopt',
    externalId: observed.externalId,
    changes,
    // Write the mark first and alone, so that the guest is found again as ours after any failure.
    steps: [
      ...rules.adoptSteps(resource, observed),
      ...rules.updateSteps(
        resource,
        observed,
        changes.filter((change) => change.path !== 'mark'),
        world.survey,
      ),
    ],
    reason: `declared to be the existing id ${observed.externalId} on ${observed.host}`,
  }
}

function keep(situation: Situation, observed: ObservedResource): Action {
  const { resource, rules, world, ledger, unmet, order } = situation
  if (observed.lock !== undefined) return locked(observed)
  if (observed.close === undefined)
    return isAsMade(situation, observed) ? { do: 'nothing' } : detailsNeeded(observed, 'config')
  if (order !== undefined && order.order !== 'restart') return obey(situation, observed, order)
  const changes = [
    ...typeChange(resource, observed),
    ...idChange(rules.declaredId(resource), observed),
    ...rules.diff(resource, observed, ledger.records.get(resource.key)?.details),
  ]
  if (powerIsUnknown(resource, observed)) return detailsNeeded(observed, 'power')
  if (changes.length === 0) return { do: 'nothing' }
  if (powerIsHearsay(changes, observed)) return detailsNeeded(observed, 'power')
  const impossible = blocked(resource, changes) ?? unfit(resource, observed, rules, changes, world.survey)
  if (impossible !== undefined) return impossible
  const large = changes.some(({ path }) => GROWING.test(path)) ? tooLarge(resource, observed.host, world) : undefined
  if (large !== undefined) return large
  if (heedsNeeds(resource) && unmet.length > 0) return waitsFor(unmet)
  if (changes.some((change) => change.effect === 'replace')) {
    const lost = rules.irreplaceable(resource, observed)
    if (lost.length > 0) return dataAtStake(resource, observed, changes, lost)
    return replace(situation, observed, changes, notInPlace(changes))
  }
  return {
    do: 'update',
    externalId: observed.externalId,
    changes,
    steps: rules.updateSteps(resource, observed, changes, world.survey),
    reason: `${changes.map((c) => c.path).join(', ')} ${changes.length === 1 ? 'differs' : 'differ'}`,
  }
}

/** Reports whether an existing thing waits for its needs, as a setting that may name a missing thing does. */
export function heedsNeeds({ desired: { type } }: Resource): boolean {
  return type === 'setting' || type === 'item' || type === 'object'
}

/** A coordinator's order for a machine overrides the machine's own declaration. */
function obey(situation: Situation, observed: ObservedResource, { order, reason }: MachineOrder): Action {
  const { resource, rules, world } = situation
  if (observed.close?.power === undefined) return detailsNeeded(observed, 'power')
  const { externalId } = observed
  if (order === 'stop') {
    const off = powerOff(resource)
    const changes = rules.diff(off, observed).filter((change) => change.path === 'power')
    if (changes.length === 0) return { do: 'nothing' }
    return { do: 'update', externalId, changes, steps: rules.updateSteps(off, observed, changes, world.survey), reason }
  }
  const lost = rules.irreplaceable(resource, observed)
  if (lost.length > 0) return dataAtStake(resource, observed, [], lost)
  return replace(situation, observed, [], reason)
}

/**
 * Plans the new thing's creation in a world without the old one. A refusal or wait of that creation must come before
 * the first deletion: afterwards neither thing would exist.
 */
function replace(situation: Situation, observed: ObservedResource, changes: readonly Change[], reason: string): Action {
  const { resource, rules, ledger } = situation
  const { externalId } = observed
  const obstacle = rules.undeletable(observed)
  if (obstacle !== undefined)
    return { do: 'refuse', guard: 'protection', reason: obstacle.message, allow: obstacle.allow }
  const newId = rules.declaredId(resource) ?? externalId
  const world = worldWithout(situation.world, observed)
  const there = world.guests.get(newId)
  if (observed.list === undefined && there !== undefined) return foreign(situation, there, undefined)
  const records = new Map([...ledger.records].filter(([key]) => key !== resource.key))
  const made = create({ ...situation, world, ledger: { ...ledger, records }, allocatedId: externalId })
  const doing = made.do === 'wait' ? made.next : made
  if (doing?.do !== 'create') return made
  const takes = rules.dataDisks(observed)
  const destruction = changes.length > 0 ? changed(observed, takes, changes) : ordered(observed, takes, reason)
  const steps = [...rules.deleteSteps(destruction), ...doing.steps]
  return made.do === 'wait'
    ? { ...made, next: { do: 'replace', externalId, changes, steps } }
    : { do: 'replace', externalId, changes, steps, reason }
}

/** Returns the world without this thing, so that its id is free. */
function worldWithout(world: World, gone: ObservedResource): World {
  const others = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([id]) => id !== gone.externalId))
  if (gone.list !== undefined) return world
  const { survey } = world
  return {
    ...world,
    guests: others(world.guests),
    probes: new Map([...world.probes, [gone.externalId, 'free']]),
    ...(survey === undefined
      ? {}
      : { survey: { ...survey, resources: survey.resources.filter((one) => one.externalId !== gone.externalId) } }),
  }
}

const GROWING = /^(?:memory|disks?|rootDisk|mounts?)\b/

/** Refuses a machine that exceeds its host's capacity: the creation would fail halfway, or fill the shared host. */
function tooLarge({ desired, policy }: Resource, host: string, { survey }: World): Action | undefined {
  if (survey === undefined || policy.manage === 'observe') return undefined
  const why = neverFits(desired, host, survey)
  return why.length === 0
    ? undefined
    : {
        do: 'refuse',
        guard: 'room',
        reason: why.join('; '),
        allow: 'declare less, or choose a host or storage that has more',
      }
}

function powerOff(resource: Resource): Resource {
  return { ...resource, desired: withGuestFields(resource.desired, { power: 'stopped' }) }
}

function typeChange({ desired }: Resource, observed: ObservedResource): readonly Change[] {
  if (observed.list !== undefined || desired.type === observed.type) return []
  return [{ path: 'type', from: observed.type, to: desired.type, effect: 'replace' }]
}

function waitsFor(unmet: readonly string[]): Action {
  const message = `waits for ${unmet.join(', ')}`
  return { do: 'wait', reason: 'NeedsNotReady', message, lookAgainMs: LOOK_SOON_MS }
}

function idChange(declared: string | undefined, observed: ObservedResource): readonly Change[] {
  if (observed.list !== undefined || declared === undefined || declared === observed.externalId) return []
  return [{ path: 'vmid', from: observed.externalId, to: declared, effect: 'replace' }]
}

function create({ resource, world, ledger, rules, unmet, allocatedId }: Situation): Action {
  const externalId = rules.declaredId(resource) ?? allocatedId
  if (externalId === undefined) {
    const { bounds } = resource
    const row = hypervisorRow(world.connection.driver)
    const { from, to } = bounds?.ids ?? world.connection.ids
    return {
      do: 'refuse',
      guard: 'ids',
      reason: `no id is free between ${from} and ${to} on ${world.connection.name}`,
      allow:
        bounds?.ids === undefined
          ? `widen ${row?.ids ?? 'the ids'} of ${row?.kind ?? 'the connection'}/${world.connection.name}`
          : `widen vmids in the grant of the source ${bounds.source}`,
    }
  }
  const obstacle = world.survey === undefined ? undefined : rules.obstacles(resource, world.survey)[0]
  if (obstacle !== undefined)
    return { do: 'refuse', guard: 'placement', reason: obstacle.message, allow: obstacle.allow }
  const large = tooLarge(resource, rules.hostOf(resource), world)
  if (large !== undefined) return large
  if (unmet.length > 0) {
    const steps = rules.createSteps(resource, externalId, world.survey)
    return {
      do: 'wait',
      reason: 'NeedsNotReady',
      message: `waits for ${unmet.join(', ')}`,
      lookAgainMs: LOOK_SOON_MS,
      next: { do: 'create', externalId, host: rules.hostOf(resource), steps },
    }
  }
  if (rules.listOf(resource) === undefined) {
    const unfinished = unfinishedByAnyone(world, ledger, rules.declaredId(resource), resource.bounds?.ids)
    if (unfinished !== undefined) return unfinished
    const record = ledger.records.get(resource.key)
    const probe = world.probes.get(externalId)
    if (probe === undefined) {
      return {
        do: 'wait',
        reason: 'IdNotProbed',
        message: `it is not known whether id ${externalId} is free`,
        lookAgainMs: LOOK_SOON_MS,
        missing: { look: 'id', externalId, ...(record?.externalId === externalId ? { vanished: true } : {}) },
      }
    }
    if (probe === 'taken') {
      return {
        do: 'refuse',
        guard: 'identity',
        reason: `id ${externalId} is taken by something that the token cannot see`,
        allow: `${visibilityOf(world.connection.driver)}, or choose another id`,
      }
    }
  }
  const remains = remainsOf(resource, externalId, rules, world, ledger)
  if ('do' in remains) return remains
  return {
    do: 'create',
    externalId,
    host: rules.hostOf(resource),
    steps: [
      ...remains.left.flatMap((disk) => rules.deleteSteps(disk)),
      ...rules.createSteps(resource, externalId, world.survey),
    ],
    reason:
      remains.left.length === 0
        ? 'declared, does not exist yet'
        : 'declared, does not exist yet; an earlier attempt broke off',
  }
}

/**
 * A guest under creation shows no mark yet. With an empty store it could be ours, started before the store was lost:
 * wait for its mark, since a second one would be a duplicate.
 */
function unfinishedByAnyone(
  world: World,
  ledger: Ledger,
  declaredId: string | undefined,
  range: IdRange = world.connection.ids,
): Action | undefined {
  if (!ledger.fresh || declaredId !== undefined) return undefined
  for (const guest of world.guests.values()) {
    if (guest.mark !== undefined || !isBeingMade(guest) || world.deserted?.has(guest.externalId) === true) continue
    const id = Number(guest.externalId)
    if (id < range.from || id > range.to) continue
    return {
      do: 'wait',
      reason: 'UnfinishedCreation',
      message: `id ${guest.externalId} on ${guest.host} is being created and may be ours; if no task works on it any more, run on ${guest.host}: ${clearing(guest)}`,
      lookAgainMs: LOOK_SOON_MS,
    }
  }
  return undefined
}

function locked(observed: ObservedResource): Action {
  return {
    do: 'wait',
    reason: 'Locked',
    message: `id ${observed.externalId} on ${observed.host} is locked (${observed.lock}); if nothing is at work on it any more, run on ${observed.host}: ${tool(observed)} unlock ${observed.externalId}`,
    lookAgainMs: 2_000,
  }
}

/**
 * A survey's power is up to 12 s old: before a change of power, ask the guest itself. So too for a move: Proxmox moves
 * a running guest differently.
 */
function powerIsHearsay(changes: readonly Change[], observed: ObservedResource): boolean {
  return observed.close?.power === undefined && changes.some(({ path }) => path === 'power' || path === 'host')
}

/** A new guest has no status in the survey yet: read it, or it would be ignored until then. */
function powerIsUnknown({ desired }: Resource, observed: ObservedResource): boolean {
  return guestIn(desired)?.power !== undefined && observed.power === 'unknown' && observed.close?.power === undefined
}

function notListed({ resource, rules, unmet }: Situation): Action {
  // The tokens of a user, the subnets of a vnet: their list does not exist before their owner.
  const { desired } = resource
  const within = desired.type === 'setting' ? Object.keys(desired.setting.scope ?? {}) : []
  if (unmet.length > 0 && within.length > 0) return waitsFor(unmet)
  const list = rules.listOf(resource)
  const wait = {
    do: 'wait',
    reason: 'NotListed',
    message: 'it could not be looked at',
    lookAgainMs: LOOK_LATER_MS,
  } as const
  return list === undefined
    ? wait
    : { ...wait, message: `${list} has not been read yet`, missing: { look: 'list', list } }
}
