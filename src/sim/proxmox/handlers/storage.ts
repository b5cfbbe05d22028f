import { createHash } from 'node:crypto'
import { may } from '../../world/access.ts'
import { addStorage } from '../../world/create-world.ts'
import type { Host, StorageEntry } from '../../world/types.ts'
import { storageOn, usedBytes } from '../../world/volumes.ts'
import { failed } from '../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../call.ts'

export const storageRoutes: Routes = {
  'GET /storage': (call) => visible(call).map((entry) => configRow(entry)),
  'POST /storage': create,
  'GET /storage/{storage}': (call) => configRow(needEntry(call)),
  'PUT /storage/{storage}': update,
  'DELETE /storage/{storage}': remove,
  'GET /nodes/{node}/storage': (call) => {
    const host = hostOf(call)
    const content = call.params.content?.split(',')
    return visible(call)
      .filter((entry) => entry.nodes === undefined || entry.nodes.includes(host.name))
      .filter((entry) => call.params.storage === undefined || entry.id === call.params.storage)
      .filter((entry) => content === undefined || content.some((type) => entry.content.includes(type)))
      .map((entry) => ({
        storage: entry.id,
        ...statusRow(host, entry),
        used_fraction: usedBytes(host, entry) / entry.totalBytes,
      }))
  },
  'GET /nodes/{node}/storage/{storage}': () =>
    [
      'content',
      'download-url',
      'file-restore',
      'import-metadata',
      'prunebackups',
      'rrd',
      'rrddata',
      'status',
      'upload',
    ].map((subdir) => ({ subdir })),
  'GET /nodes/{node}/storage/{storage}/status': (call) => statusRow(hostOf(call), needStorage(call)),
}

/** The storage that a path names, as this node may use it. */
export function needStorage(call: Call): StorageEntry {
  const id = param(call, 'storage')
  const entry = call.world.storages.get(id)
  if (entry === undefined) throw failed(`storage '${id}' does not exist`)
  if (entry.disabled) throw failed(`storage '${id}' is disabled`)
  const host = hostOf(call)
  if (storageOn(call.world, host, id) === undefined)
    throw failed(`storage '${id}' is not available on node '${host.name}'`)
  return entry
}

function needEntry(call: Call): StorageEntry {
  const entry = call.world.storages.get(param(call, 'storage'))
  if (entry === undefined) throw failed(`storage '${param(call, 'storage')}' does not exist`)
  return entry
}

function visible(call: Call): StorageEntry[] {
  return [...call.world.storages.values()].filter(
    ({ id }) =>
      may(call.world, call.who, `/storage/${id}`, 'Datastore.Audit') ||
      may(call.world, call.who, `/storage/${id}`, 'Datastore.AllocateSpace'),
  )
}

function statusRow(host: Host, entry: StorageEntry): Record<string, unknown> {
  const row = {
    type: entry.type,
    content: entry.content.join(','),
    enabled: entry.disabled ? 0 : 1,
    shared: entry.shared ? 1 : 0,
  }
  if (entry.disabled) return { ...row, active: 0, avail: 0, total: 0, used: 0 }
  const used = usedBytes(host, entry)
  return { ...row, active: 1, total: entry.totalBytes, used, avail: Math.max(0, entry.totalBytes - used) }
}

function configRow(entry: StorageEntry): Record<string, unknown> {
  const row: Record<string, unknown> = {
    storage: entry.id,
    type: entry.type,
    content: entry.content.join(','),
    ...entry.options,
  }
  if (entry.path !== '') row.path = entry.path
  if (entry.shared) row.shared = 1
  if (entry.nodes !== undefined) row.nodes = entry.nodes.join(',')
  if (entry.disabled) row.disable = 1
  row.digest = createHash('sha1').update(JSON.stringify(row)).digest('hex')
  return row
}

const NOT_OPTIONS = new Set([
  'storage',
  'type',
  'content',
  'path',
  'shared',
  'nodes',
  'disable',
  'digest',
  'delete',
  'node',
])

function create(call: Call): Record<string, unknown> {
  const id = param(call, 'storage')
  const type = param(call, 'type')
  if (call.world.storages.has(id)) throw failed(`create storage failed: storage ID '${id}' already defined`)
  const options = Object.fromEntries(Object.entries(call.params).filter(([key]) => !NOT_OPTIONS.has(key)))
  addStorage(call.world, {
    id,
    type,
    path: call.params.path ?? '',
    content: (call.params.content ?? 'images,rootdir').split(/[,;\s]+/),
    shared: call.params.shared === '1' || ['nfs', 'cifs', 'pbs', 'cephfs', 'rbd', 'iscsi'].includes(type),
    nodes: call.params.nodes?.split(','),
    disabled: call.params.disable === '1',
    baseUsedBytes: 0,
    options,
  })
  return { storage: id, type }
}

function update(call: Call): Record<string, unknown> {
  const entry = needEntry(call)
  const { params } = call
  const digest = String(configRow(entry).digest)
  if (params.digest !== undefined && params.digest !== digest) {
    throw failed('update storage failed: detected modified configuration - file changed by other user? Try again.')
  }
  if (params.content !== undefined) entry.content = params.content.split(/[,;\s]+/)
  if (params.nodes !== undefined) entry.nodes = params.nodes.split(',')
  if (params.disable !== undefined) entry.disabled = params.disable === '1'
  for (const [key, value] of Object.entries(params)) if (!NOT_OPTIONS.has(key)) entry.options[key] = value
  for (const key of (params.delete ?? '').split(/[,;\s]+/)) {
    if (key === 'nodes') entry.nodes = undefined
    else if (key === 'disable') entry.disabled = false
    else delete entry.options[key]
  }
  return { storage: entry.id, type: entry.type }
}

/** The entry goes; what lies on the disks stays. */
function remove(call: Call): null {
  needEntry(call)
  call.world.storages.delete(param(call, 'storage'))
  return null
}
