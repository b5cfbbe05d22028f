import type { Guest, World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, STALE, updateIn } from '../collection.ts'
import { haId } from '../guest/guest-rows.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

/** Guests that the high-availability manager keeps in the state that is asked for. */
export const HA_RESOURCES: Collection = {
  at: '/cluster/ha/resources',
  key: 'sid',
  shelf: 'ha/resources',
  idOf: sidOf,
  exists: (id) => failed(`create resource failed: resource ID '${id}' already defined`),
  missing: (id, verb) =>
    failed(
      {
        read: `no such resource '${id}'`,
        update: `update resources config failed: no such resource '${id}'`,
        delete: `cannot delete service '${id}', not HA managed!`,
      }[verb],
    ),
  stale: failed(`update resources config failed: ${STALE}`),
  sections: 'update resources config failed: ',
  setWins: true,
  sees: (call, _, thing) => call.params.type === undefined || call.params.type === thing.type,
  refuseNew: checkNew,
  prepare: (_call, thing, id) => {
    const { type: _, ...rest } = thing
    return { ...rest, type: id.slice(0, id.indexOf(':')) }
  },
  removed: (call, id) => {
    if (call.params.purge !== '0') leaveRules(call.world, id)
  },
  one: (_, thing, sid, digest) => ({ ...thing, sid, digest }),
}

const update = updateIn(HA_RESOURCES)

export const haResourceRoutes: Routes = {
  ...collectionRoutes(HA_RESOURCES),
  'PUT /cluster/ha/resources/{sid}': (call) => {
    checkWritten(call, sidOf(call))
    return update(call)
  },
  'POST /cluster/ha/resources/{sid}/migrate': request,
  'POST /cluster/ha/resources/{sid}/relocate': request,
}

/** `110` and `vm:110` are the same. */
function sidOf(call: Call): string {
  const sid = param(call, 'sid')
  if (sid.includes(':')) return sid
  const guest = call.world.guests.get(Number(sid))
  if (guest === undefined) throw failed(`unable to detect SID from VMID - VM/CT ${sid} does not exist`)
  return `${guest.type === 'lxc' ? 'ct' : 'vm'}:${sid}`
}

/** The id contains the type: a `type` that the call repeats must be the same. */
function checkWritten(call: Call, sid: string): string {
  const type = sid.slice(0, sid.indexOf(':'))
  if (call.params.type !== undefined && call.params.type !== type) throw failed('types does not match')
  if (call.params.group !== undefined) throw failed("invalid parameter 'group': ha groups have been migrated to rules")
  return type
}

function checkNew(call: Call, sid: string): void {
  const type = checkWritten(call, sid)
  const id = sid.slice(sid.indexOf(':') + 1)
  if (type !== 'vm' && type !== 'ct') throw failed(`unknown section type '${type}'`)
  const guest = call.world.guests.get(Number(id))
  if (guest === undefined) throw failed(`resource '${sid}' does not exist in cluster`)
  const right = guest.type === (type === 'vm' ? 'qemu' : 'lxc')
  if (!right) {
    throw failed(`resource '${sid}' - guest with ID ${id} is not a ${type === 'vm' ? 'VM' : 'container'}`)
  }
}

/** A rule loses the resource, and one that named nothing else goes with it. */
export function leaveRules(world: World, sid: string): void {
  const rules = shelf(world, 'ha/rules')
  for (const [name, rule] of rules) {
    const before = textOf(rule.resources).split(',')
    if (!before.includes(sid)) continue
    const left = before.filter((one) => one !== sid)
    if (left.length > 0) rule.resources = left.join(',')
    else rules.delete(name)
  }
}

/** Only noted down: whether and when the manager does it is another matter. */
function request(call: Call): Thing {
  const sid = sidOf(call)
  if (!isManaged(call.world, sid)) throw failed(`resource '${sid}' is not HA managed`)
  return { sid, 'requested-node': param(call, 'node') }
}

function isManaged(world: World, sid: string): boolean {
  return world.shelves.get('ha/resources')?.has(sid) === true
}

/** The entry of a guest, or undefined when the manager does not look after it. */
export function haEntry(world: World, guest: Guest): Thing | undefined {
  return world.shelves.get('ha/resources')?.get(haId(guest))
}
