import type { Guest, World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, STALE } from '../collection.ts'
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
  sees: (call, _, thing) => call.params.type === undefined || call.params.type === thing.type,
  refuseNew: checkNew,
  prepare: (_call, thing, id) => {
    const { type: _, ...rest } = thing
    return { ...rest, type: id.slice(0, id.indexOf(':')) }
  },
  removed: (call, id) => leaveRules(call.world, id, flag(call, 'purge')),
  one: (_, thing, sid, digest) => ({ ...thing, sid, digest }),
}

export const haResourceRoutes: Routes = {
  ...collectionRoutes(HA_RESOURCES),
  'POST /cluster/ha/resources/{sid}/migrate': request,
  'POST /cluster/ha/resources/{sid}/relocate': request,
}

/** `110` and `vm:110` are the same. */
function sidOf(call: Call): string {
  const sid = param(call, 'sid')
  if (sid.includes(':')) return sid
  return `${call.world.guests.get(Number(sid))?.type === 'lxc' ? 'ct' : 'vm'}:${sid}`
}

function checkNew(call: Call, sid: string): void {
  if (call.params.group !== undefined) {
    throw failed("invalid parameter 'group': ha groups have been migrated to rules")
  }
  const [type = '', id = ''] = sid.split(':')
  if (type !== 'vm' && type !== 'ct') throw failed(`unknown section type '${type}'`)
  const guest = call.world.guests.get(Number(id))
  if (guest === undefined) throw failed(`resource '${sid}' does not exist in cluster`)
  const right = guest.type === (type === 'vm' ? 'qemu' : 'lxc')
  if (!right) {
    throw failed(`resource '${sid}' - guest with ID ${id} is not a ${type === 'vm' ? 'virtual machine' : 'container'}`)
  }
}

/** A rule loses the resource; one that named nothing else goes with it when that was asked for. */
function leaveRules(world: World, sid: string, purge: boolean): void {
  const rules = shelf(world, 'ha/rules')
  for (const [name, rule] of rules) {
    const before = textOf(rule.resources).split(',')
    if (!before.includes(sid)) continue
    const left = before.filter((one) => one !== sid)
    if (left.length > 0) rule.resources = left.join(',')
    else if (purge || left.length === 0) rules.delete(name)
  }
}

/** Only noted down: whether and when the manager does it is another matter. */
function request(call: Call): Thing {
  const sid = sidOf(call)
  if (!isManaged(call.world, sid)) throw failed(`service '${sid}' is not HA managed`)
  return { sid, 'requested-node': param(call, 'node') }
}

function isManaged(world: World, sid: string): boolean {
  return world.shelves.get('ha/resources')?.has(sid) === true
}

/** The entry of a guest, or undefined when the manager does not look after it. */
export function haEntry(world: World, guest: Guest): Thing | undefined {
  return world.shelves.get('ha/resources')?.get(haId(guest))
}
