import { may } from '../../../world/access.ts'
import type { Pool } from '../../../world/types.ts'
import { usedBytes } from '../../../world/volumes.ts'
import { failed, forbidden } from '../../api-error.ts'
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
}

const comment = (pool: Pool) => (pool.comment === undefined ? {} : { comment: pool.comment })

function described(call: Call, pool: Pool): Record<string, unknown> {
  const { world } = call
  const members: unknown[] = []
  for (const vmid of pool.guests) {
    const guest = world.guests.get(vmid)
    const host = guest && world.hosts.get(guest.node)
    if (guest !== undefined && host !== undefined)
      members.push(withoutMarks(resourceRow(world, host, guest, undefined)))
  }
  for (const id of pool.storages) {
    const entry = world.storages.get(id)
    for (const host of entry === undefined ? [] : world.hosts.values()) {
      if (entry === undefined) continue
      const numbers = { maxdisk: entry.totalBytes, disk: usedBytes(host, entry), shared: entry.shared ? 1 : 0 }
      const names = { id: `storage/${host.name}/${id}`, type: 'storage', storage: id, node: host.name }
      members.push({
        ...names,
        status: 'available',
        content: entry.content.join(','),
        plugintype: entry.type,
        ...numbers,
      })
    }
  }
  return { ...comment(pool), members }
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
  call.world.pools.set(id, { id, comment: call.params.comment, guests: new Set(), storages: new Set() })
  call.world.access.version += 1
  return null
}

function update(call: Call): null {
  const { world, params } = call
  const pool = needPool(call, 'update pools failed: ')
  if (params.comment !== undefined) pool.comment = params.comment
  for (const text of listed(params.vms)) {
    const vmid = Number(text)
    if (!may(world, call.who, `/vms/${vmid}`, 'VM.Allocate')) throw forbidden(`/vms/${vmid}, VM.Allocate`)
    if (flag(call, 'delete')) {
      if (!pool.guests.delete(vmid)) throw failed(`update pools failed: VM ${vmid} is not a pool member`)
      continue
    }
    if (pool.guests.has(vmid)) throw failed(`update pools failed: VM ${vmid} is already a pool member`)
    for (const other of world.pools.values()) {
      if (other === pool || !other.guests.has(vmid)) continue
      if (!flag(call, 'allow-move'))
        throw failed(
          `update pools failed: VM ${vmid} belongs already to pool '${other.id}' and 'allow-move' is not set`,
        )
      other.guests.delete(vmid)
    }
    pool.guests.add(vmid)
  }
  for (const id of listed(params.storage)) {
    const isMember = pool.storages.has(id)
    if (flag(call, 'delete') !== isMember)
      throw failed(`update pools failed: Storage '${id}' is ${isMember ? 'already' : 'not'} a pool member`)
    if (isMember) pool.storages.delete(id)
    else pool.storages.add(id)
  }
  world.access.version += 1
  return null
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((part) => part !== '')
}

function remove(call: Call): null {
  const pool = needPool(call, 'delete pool failed: ')
  const [guest] = pool.guests
  const [storage] = pool.storages
  const child = [...call.world.pools.keys()].find((id) => id.startsWith(`${pool.id}/`))
  const inside = [
    child === undefined ? undefined : `pool '${child}'`,
    guest === undefined ? undefined : `VM ${guest}`,
    storage === undefined ? undefined : `storage '${storage}'`,
  ].find((text) => text !== undefined)
  if (inside !== undefined) throw failed(`delete pool failed: pool '${pool.id}' is not empty (contains ${inside})`)
  call.world.pools.delete(pool.id)
  call.world.access.version += 1
  return null
}
