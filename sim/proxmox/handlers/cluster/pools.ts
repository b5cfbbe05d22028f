import { may } from '../../../world/access.ts'
import type { Pool } from '../../../world/parts.ts'
import { usedBytes } from '../../../world/volumes.ts'
import { type ApiError, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { resourceRow } from '../guest/guest-rows.ts'

export const poolRoutes: Routes = {
  'GET /pools': list,
  'POST /pools': create,
  'PUT /pools': update,
  'DELETE /pools': remove,
  'GET /pools/{poolid}': (call) => ({ poolid: param(call, 'poolid'), ...described(call, needPool(call)) }),
  'PUT /pools/{poolid}': update,
  'DELETE /pools/{poolid}': remove,
}

function list(call: Call): unknown[] {
  const { poolid } = call.params
  if (poolid !== undefined) return [{ poolid, ...described(call, needPool(call)) }]
  return [...call.world.pools.values()]
    .filter((pool) => may(call.world, call.who, `/pool/${pool.id}`, 'Pool.Audit'))
    .map((pool) => ({ poolid: pool.id, ...comment(pool) }))
    .sort((one, other) => (one.poolid < other.poolid ? -1 : 1))
}

const comment = (pool: Pool) => (pool.comment === undefined ? {} : { comment: pool.comment })

function described(call: Call, pool: Pool): Record<string, unknown> {
  const { world } = call
  const { type } = call.params
  const members: unknown[] = []
  for (const vmid of [...pool.guests].sort(asText)) {
    const guest = world.guests.get(vmid)
    const host = guest && world.hosts.get(guest.node)
    if (guest !== undefined && host !== undefined && (type ?? guest.type) === guest.type)
      members.push(withoutMarks(resourceRow(world, host, guest, undefined)))
  }
  for (const id of (type ?? 'storage') === 'storage' ? [...pool.storages].sort() : []) {
    const entry = world.storages.get(id)
    // One host speaks for all that have it: the one that is asked, if it has it.
    const host = [...world.hosts.values()].find(({ name }) => entry?.nodes?.includes(name) ?? true)
    if (entry === undefined || host === undefined) continue
    members.push({
      id: `storage/${host.name}/${id}`,
      type: 'storage',
      storage: id,
      node: host.name,
      status: 'available',
      content: entry.content.join(','),
      plugintype: entry.type,
      maxdisk: entry.totalBytes,
      disk: usedBytes(host, entry),
      shared: entry.shared ? 1 : 0,
    })
  }
  return { ...comment(pool), members }
}

function asText(one: number, other: number): number {
  return `${one}` < `${other}` ? -1 : 1
}

/** Members are listed from the status alone, so what is read from the configuration is missing. */
function withoutMarks({ tags: _, lock: __, ...row }: Record<string, unknown>): Record<string, unknown> {
  return row
}

function needPool(call: Call, prefix = ''): Pool {
  const id = param(call, 'poolid')
  const pool = call.world.pools.get(id)
  if (pool === undefined) throw failed(`${prefix}pool '${id}' does not exist`)
  return pool
}

function create(call: Call): null {
  const id = param(call, 'poolid')
  if (call.world.pools.has(id)) throw failed(`create pool failed: pool '${id}' already exists`)
  const parent = id.includes('/') ? id.replace(/\/[^/]+$/, '') : undefined
  if (parent !== undefined && !call.world.pools.has(parent))
    throw failed(`create pool failed: parent '${parent}' of pool '${id}' does not exist`)
  if (!/(?:^|\/)[A-Za-z][^/]*$/.test(id)) throw failed('create pool failed: pool name must start with a letter')
  call.world.pools.set(id, { id, comment: call.params.comment || undefined, guests: new Set(), storages: new Set() })
  call.world.access.version += 1
  return null
}

function update(call: Call): null {
  const { world, params } = call
  const pool = needPool(call, 'update pools failed: ')
  // The file is written at the end: what is refused half-way has changed nothing.
  const guests = new Set(pool.guests)
  const storages = new Set(pool.storages)
  const left: (readonly [Pool, number])[] = []
  for (const text of listed(params.vms)) {
    const vmid = Number(text)
    requireModify(call, `/vms/${vmid}`, 'VM.Allocate')
    if (flag(call, 'delete')) {
      if (!guests.delete(vmid)) throw failed(`update pools failed: VM ${vmid} is not a pool member`)
      continue
    }
    if (guests.has(vmid)) throw failed(`update pools failed: VM ${vmid} is already a pool member`)
    for (const other of world.pools.values()) {
      if (other === pool || !other.guests.has(vmid)) continue
      if (!flag(call, 'allow-move'))
        throw failed(
          `update pools failed: VM ${vmid} belongs already to pool '${other.id}' and 'allow-move' is not set`,
        )
      if (!may(world, call.who, `/pool/${other.id}`, 'Pool.Allocate'))
        throw refusedInside(`/pool/${other.id}, Pool.Allocate`)
      left.push([other, vmid])
    }
    guests.add(vmid)
  }
  for (const id of listed(params.storage)) {
    requireModify(call, `/storage/${id}`, 'Datastore.Allocate')
    const isMember = storages.has(id)
    if (flag(call, 'delete') !== isMember)
      throw failed(`update pools failed: Storage '${id}' is ${isMember ? 'already' : 'not'} a pool member`)
    if (isMember) storages.delete(id)
    else storages.add(id)
  }
  for (const [other, vmid] of left) other.guests.delete(vmid)
  call.world.pools.set(pool.id, { ...pool, guests, storages, comment: (params.comment ?? pool.comment) || undefined })
  world.access.version += 1
  return null
}

/** Who may set rights on a thing, or makes things of its sort, may put it into a pool. */
function requireModify(call: Call, path: string, privilege: string): void {
  const enough = ['Permissions.Modify', privilege]
  if (!enough.some((one) => may(call.world, call.who, path, one))) throw refusedInside(`${path}, ${enough.join('|')}`)
}

/** A lack of rights that is met while the file is changed is told as a failure of the change. */
function refusedInside(what: string): ApiError {
  return failed(`update pools failed: 403 Permission check failed (${what})`)
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((part) => part !== '')
}

function remove(call: Call): null {
  const pool = needPool(call, 'delete pool failed: ')
  // Guests and storages that are gone since do not count.
  const [guest] = [...pool.guests]
    .filter((vmid) => call.world.guests.has(vmid))
    .map(String)
    .sort()
  const [storage] = [...pool.storages].filter((id) => call.world.storages.has(id)).sort()
  const child = [...call.world.pools.keys()].find((id) => id.startsWith(`${pool.id}/`))
  const inside = [
    child === undefined ? undefined : `pool '${child}'`,
    guest === undefined ? undefined : `VM ${guest}`,
    storage === undefined ? undefined : `storage '${storage}'`,
  ].find((text) => text !== undefined)
  if (inside !== undefined) throw failed(`delete pool failed: pool '${pool.id}' is not empty (contains ${inside})`)
  call.world.pools.delete(pool.id)
  const { acl } = call.world.access
  acl.splice(0, acl.length, ...acl.filter(({ path }) => path !== `/pool/${pool.id}`))
  call.world.access.version += 1
  return null
}
