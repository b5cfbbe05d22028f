import { directoryNameProblem } from '../../../world/directory-name.ts'
import type { Host, World } from '../../../world/types.ts'
import { findVolume, parseVolumeId } from '../../../world/volumes.ts'

/** Why a script cannot be run on the host: it must be a snippet, and executable. Undefined when it can. */
export function hookProblem(world: World, host: Host, volid: string): string | undefined {
  const id = parseVolumeId(volid)
  const entry = id === undefined ? undefined : world.storages.get(id.storage)
  if (id === undefined || entry === undefined) return `storage '${id?.storage}' does not exist`
  const unread = entry.files ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) return unread
  if (!id.name.startsWith('snippets/')) return `'${volid}' is not in the snippets directory`
  const volume = findVolume(host, volid)
  if (volume === undefined) return `script '${volid}' does not exist`
  return volume.script === undefined ? `script '${volid}' is not executable` : undefined
}
