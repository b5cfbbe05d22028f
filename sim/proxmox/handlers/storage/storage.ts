import { may } from '../../../world/access.ts'
import { addStorage } from '../../../world/create-world.ts'
import type { StorageEntry } from '../../../world/parts.ts'
import { GIB } from '../../../world/sizes.ts'
import { backingProblem } from '../../../world/storage-backing.ts'
import type { Host, World } from '../../../world/types.ts'
import { storageOn, usedBytes } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { deletions, STALE } from '../collection.ts'
import type { Thing } from '../shelf.ts'
import { checkChange, checkNew, checkRemoval, configRow, contentFor, keyAnswer, optionsOf } from './storage-config.ts'
import { addProblem, ownOptions } from './storage-hooks.ts'
import { STORAGE_TYPES } from './storage-types.ts'

export const storageRoutes: Routes = {
  'GET /storage': (call) =>
    visible(call)
      .filter((entry) => call.params.type === undefined || entry.type === call.params.type)
      .map((entry) => configRow(entry)),
  'POST /storage': create,
  'GET /storage/{storage}': (call) => configRow(needEntry(call)),
  'PUT /storage/{storage}': update,
  'DELETE /storage/{storage}': remove,
  'GET /nodes/{node}/storage': list,
  'GET /nodes/{node}/storage/{storage}/status': (call) => {
    const entry = call.world.storages.get(param(call, 'storage'))
    if (entry === undefined) throw badParameter('storage', 'No such storage.')
    return statusRow(call.world, hostOf(call), entry)
  },
}

/** Every entry is listed, also one that is not for this node: it then shows as switched off. */
function list(call: Call): Thing[] {
  const { world, params } = call
  const host = hostOf(call)
  if (params.storage !== undefined && !world.storages.has(params.storage))
    throw badParameter('storage', 'No such storage.')
  const content = params.content?.split(',')
  return (
    visible(call)
      .filter((entry) => params.storage === undefined || entry.id === params.storage)
      .filter((entry) => params.enabled !== '1' || !entry.disabled)
      .filter((entry) => content === undefined || content.some((type) => entry.content.includes(type)))
      // Who asks for what is in them is told of those that can be used.
      .filter((entry) => content === undefined || storageOn(world, host, entry.id) !== undefined)
      .filter((entry) => params.target === undefined || isOnBoth(call, entry, host.name, params.target))
      .map((entry) => {
        const row: Thing = { storage: entry.id, ...statusRow(world, host, entry) }
        if (row.active === 0) return row
        const formats = params.format === '1' ? formatsOf(entry) : {}
        return { ...row, ...formats, used_fraction: usedBytes(host, entry) / entry.totalBytes }
      })
  )
}

function isOnBoth(call: Call, entry: StorageEntry, here: string, there: string): boolean {
  const on = (node: string) => call.world.hosts.has(node) && (entry.nodes === undefined || entry.nodes.includes(node))
  return !entry.disabled && on(here) && on(there)
}

function formatsOf(entry: StorageEntry): Thing {
  const supported = entry.files ? ['qcow2', 'raw', 'subvol', 'vmdk'] : ['raw', 'subvol']
  return {
    format: [Object.fromEntries(supported.map((name) => [name, 1])), 'raw'],
    formats: { default: 'raw', supported },
  }
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

function needEntry(call: Call, prefix = ''): StorageEntry {
  const entry = call.world.storages.get(param(call, 'storage'))
  if (entry === undefined) throw failed(`${prefix}storage '${param(call, 'storage')}' does not exist`)
  return entry
}

function visible(call: Call): StorageEntry[] {
  return [...call.world.storages.values()].filter(
    ({ id }) =>
      may(call.world, call.who, `/storage/${id}`, 'Datastore.Audit') ||
      may(call.world, call.who, `/storage/${id}`, 'Datastore.AllocateSpace'),
  )
}

function statusRow(world: World, host: Host, entry: StorageEntry): Thing {
  const enabled = !entry.disabled && storageOn(world, host, entry.id) !== undefined
  const row = {
    type: entry.type,
    content: entry.content.join(','),
    enabled: enabled ? 1 : 0,
    shared: entry.shared ? 1 : 0,
  }
  if (!enabled || backingProblem(world, entry) !== undefined) return { ...row, active: 0, avail: 0, total: 0, used: 0 }
  const used = usedBytes(host, entry)
  return { ...row, active: 1, total: entry.totalBytes, used, avail: Math.max(0, entry.totalBytes - used) }
}

/** An entry is looked into before it is written down, unless it is switched off. Some kinds are believed without. */
function create(call: Call): Thing {
  const { world, params } = call
  const id = param(call, 'storage')
  const type = param(call, 'type')
  checkNew(call, type)
  const kind = STORAGE_TYPES[type]
  const refuse = (text: string) => failed(`create storage failed: ${text}`)
  if (world.storages.has(id)) throw refuse(`storage ID '${id}' already defined`)
  const answer = keyAnswer(call, type, 'create')
  const entry: StorageEntry = {
    ...blankEntry(id, type),
    path: params.path ?? (kind?.mounted ? `/mnt/pve/${id}` : ''),
    content: contentFor(type, params.content ?? kind?.defaultContent ?? 'images'),
    shared: params.shared === '1' || kind?.shared === true,
    nodes: listed(params.nodes),
    disabled: params.disable === '1',
    options: { ...ownOptions(call), ...optionsOf(call, type) },
  }
  const objection = addProblem(call, type)
  if (objection !== undefined) throw refuse(objection)
  // A folder is made for each kind of content; there is none for nothing.
  if (entry.files && !entry.disabled && entry.content.includes('none')) throw refuse("unknown vtype 'none'")
  const problem = entry.disabled || BELIEVED.has(type) ? undefined : backingProblem(world, entry)
  if (problem !== undefined) throw refuse(problem)
  addStorage(world, entry)
  return { storage: id, type, ...answer }
}

const UNWRITTEN_LOCAL = {
  path: '/var/lib/vz',
  content: ['backup', 'images', 'iso', 'rootdir', 'snippets', 'vztmpl'],
  options: { priority: 0, 'prune-backups': 'keep-all=1' },
  backed: true,
}

const BELIEVED = new Set(['lvm', 'rbd', 'cephfs', 'iscsi', 'iscsidirect', 'zfs'])

function blankEntry(id: string, type: string): StorageEntry {
  const files = ['dir', 'nfs', 'cifs', 'btrfs', 'cephfs'].includes(type)
  const empty = { path: '', content: [], shared: false, nodes: undefined, disabled: false, options: {} }
  return { ...empty, id, type, files, totalBytes: 500 * GIB, baseUsedBytes: 0, backed: false }
}

function listed(text: string | undefined): string[] | undefined {
  const names = text?.split(/[,;\s]+/).filter((name) => name !== '')
  return names === undefined || names.length === 0 ? undefined : names
}

function update(call: Call): Thing {
  const { params } = call
  const entry = needEntry(call, 'update storage failed: ')
  if (params.digest !== undefined && params.digest !== String(configRow(entry).digest)) {
    throw failed(`update storage failed: ${STALE}`)
  }
  const drop = deletions(call)
  checkChange(call, entry)
  const content = params.content === undefined ? entry.content : changedContent(entry.type, params.content)
  checkRemoval(call, entry, drop)
  const answer = keyAnswer(call, entry.type, 'update')
  entry.content = content
  if (params.shared !== undefined) entry.shared = params.shared === '1'
  if (params.nodes !== undefined) entry.nodes = listed(params.nodes)
  if (params.disable !== undefined) entry.disabled = params.disable === '1'
  Object.assign(entry.options, optionsOf(call, entry.type))
  if (entry.shared) delete entry.options.shared
  for (const key of drop) {
    if (key === 'nodes') entry.nodes = undefined
    else if (key === 'disable') entry.disabled = false
    else if (key === 'shared') {
      entry.shared = false
      delete entry.options.shared
    } else if (key === 'content')
      entry.content = contentFor(entry.type, STORAGE_TYPES[entry.type]?.defaultContent ?? '')
    else delete entry.options[key]
  }
  return { storage: entry.id, type: entry.type, ...answer }
}

function changedContent(type: string, text: string): string[] {
  try {
    return contentFor(type, text)
  } catch (error) {
    throw failed(`update storage failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The entry goes; what lies on the disks stays. A host is never without `local`: unwritten, it is this. */
function remove(call: Call): null {
  const { id } = needEntry(call, 'delete storage failed: ')
  const isBase = [...call.world.storages.values()].some(({ options }) =>
    String(options.base ?? '').startsWith(`${id}:`),
  )
  if (isBase) throw failed("delete storage failed: can't remove storage - storage is used as base of another storage")
  call.world.storages.delete(id)
  if (id === 'local') addStorage(call.world, { ...blankEntry(id, 'dir'), ...UNWRITTEN_LOCAL })
  return null
}
