import { may } from '../../../world/access.ts'
import type { StorageEntry, Volume } from '../../../world/parts.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { volumesOf } from '../../../world/volumes.ts'
import { type Call, hostOf } from '../../call.ts'
import { backupName } from './backup-name.ts'
import { type Keep, marks } from './prune.ts'

/** Returns the retention of the call, else of the storage. Undefined: neither has one. */
export function keepOf(call: Call, entry: StorageEntry): Keep | undefined {
  const text = call.params['prune-backups'] ?? entry.options['prune-backups']
  if (text === undefined) return undefined
  return new Map([...parseProperties(String(text)).named].map(([key, value]) => [key, Number(value)]))
}

interface KeptBackup {
  readonly volume: Volume
  readonly seconds: number
}

function backupsOf(call: Call, entry: StorageEntry, guest: Guest): KeptBackup[] {
  return [...volumesOf(hostOf(call), entry.id).values()].flatMap((volume) => {
    const parts = volume.content === 'backup' ? backupName(volume.name) : undefined
    return parts?.vmid === guest.vmid && parts.type === guest.type ? [{ volume, seconds: parts.seconds }] : []
  })
}

/** Who removes nothing meets the number that is to stay; protected ones have a number of their own. */
export function refuseOneMore(call: Call, entry: StorageEntry, guest: Guest): void {
  const there = backupsOf(call, entry, guest)
  const isProtected = ({ volume }: KeptBackup) => volume.protected === true
  if (call.params.protected === '1') {
    const most = mostProtected(call, entry)
    if (most >= 0 && there.filter(isProtected).length >= most)
      throw new Error(`The number of protected backups per guest is limited to ${most} on storage '${entry.id}'`)
    return
  }
  const keep = keepOf(call, entry)
  if (keep === undefined || call.params.remove !== '0' || keep.get('keep-all') === 1) return
  const limit = [...keep.values()].reduce((sum, count) => sum + count, 0)
  if (limit > 0 && there.filter((one) => !isProtected(one)).length >= limit)
    throw new Error(
      `There is a max backup limit of ${limit} enforced by the target storage or the vzdump parameters.` +
        ' Either increase the limit or delete old backups.',
    )
}

function mostProtected({ world, who }: Call, entry: StorageEntry): number {
  const said = entry.options['max-protected-backups']
  if (said !== undefined) return Number(said)
  return may(world, who, `/storage/${entry.id}`, 'Datastore.Allocate') ? -1 : 5
}

/** A backup that is done makes old ones of its guest go. */
export function removeOld(call: Call, entry: StorageEntry, guest: Guest, work: Work): void {
  const keep = keepOf(call, entry)
  if (keep === undefined || call.params.remove === '0') return
  const there = backupsOf(call, entry, guest)
  const given = marks(
    there.map(({ seconds, volume }) => ({ seconds, protected: volume.protected === true })),
    keep,
  )
  for (const [index, { volume }] of there.entries()) {
    if (given[index] !== 'remove') continue
    work.log(`INFO: removing backup '${entry.id}:${volume.name}'`)
    volumesOf(hostOf(call), entry.id).delete(volume.name)
  }
}
