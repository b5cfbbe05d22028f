import type { Host } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, vmidOf } from '../../call.ts'
import { requireEnabled } from '../storage-check.ts'
import { requireRight } from './option-rights.ts'

/** On which storage of the other host the volumes of each storage come. */
export interface StorageMap {
  readonly identity: boolean
  to(storage: string): string
}

const AS_IT_IS: StorageMap = { identity: true, to: (storage) => storage }

/** What a migration says about storages, or the refusal. Undefined: nothing is said. */
export function storageMap(
  call: Call,
  name: 'targetstorage' | 'target-storage',
  target: Host,
  content: 'images' | 'rootdir',
): StorageMap | undefined {
  const text = call.params[name]
  if (text === undefined) return undefined
  const entries = new Map<string, string>()
  let other: string | undefined
  let identity = false
  const refuse = (why: string) => badParameter(name, `failed to parse storage map: ${why}\n`)
  for (const entry of text.split(/[,;\s]+/).filter((part) => part !== '')) {
    const [from = '', to] = entry.split(':')
    if (entry === '1') identity = true
    else if (to !== undefined) {
      if (entries.has(from)) throw refuse(`duplicate mapping for source '${from}'`)
      entries.set(from, to)
    } else if (other !== undefined) throw refuse('default target ID can only be provided once')
    else other = entry
  }
  if (identity && (other !== undefined || entries.size > 0))
    throw refuse('identity mapping cannot be combined with other mappings')
  if (identity) return AS_IT_IS
  requireRight(call, `/vms/${vmidOf(call)}`, 'VM.Config.Disk')
  for (const id of [...entries.values(), ...(other === undefined ? [] : [other])]) {
    const storage = requireEnabled(call.world, target.name, id)
    requireRight(call, `/storage/${id}`, 'Datastore.AllocateSpace')
    if (!storage.content.includes(content))
      throw failed(`storage '${id}' does not support ${content === 'images' ? 'vm images' : 'CT rootdirs'}`)
  }
  return { identity, to: (storage) => entries.get(storage) ?? other ?? storage }
}
