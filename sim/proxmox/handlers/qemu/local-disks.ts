import { driveVolume, isCdrom, isDrive, isUnused } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import { parseSize } from '../../../world/sizes.ts'
import type { Guest, World } from '../../../world/types.ts'
import { parseVolumeId } from '../../../world/volumes.ts'

type DiskRow = Record<string, unknown>

/**
 * The volumes that only this host has: those of the configuration, those that wait for the next start, and those that a
 * snapshot remembers. A volume is listed once, with all that is said of it anywhere.
 */
export function localDisks(world: World, guest: Guest): DiskRow[] {
  const rows = new Map<string, DiskRow>()
  read(rows, guest.config, { is_attached: true })
  read(rows, guest.pending, { referenced_in_pending: 1 })
  for (const [name, { config }] of guest.snapshots) read(rows, config, { snapshot: name })
  return [...rows.values()].filter(({ volid, shared }) => {
    const id = parseVolumeId(String(volid))
    return shared !== 1 && !(id !== undefined && world.storages.get(id.storage)?.shared === true)
  })
}

/** Where a drive is named. */
interface DiskPlace {
  readonly is_attached?: boolean
  readonly referenced_in_pending?: 1
  readonly snapshot?: string
}

function read(rows: Map<string, DiskRow>, config: ReadonlyMap<string, string>, place: DiskPlace): void {
  for (const [key, value] of [...config].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isDrive(key) && !isUnused(key) && key !== 'vmstate') continue
    const volid = driveVolume(value) || parseProperties(value, 'file').main
    if (volid === '' || volid === 'none') continue
    const row = rows.get(volid) ?? { ...NOTHING_SAID, volid }
    rows.set(volid, row)
    note(row, key, value, place)
  }
}

const NOTHING_SAID = {
  cdrom: 1,
  is_attached: 0,
  is_cloudinit: 0,
  is_tpmstate: 0,
  is_unused: 0,
  is_vmstate: 0,
  replicate: 0,
  shared: 0,
}

/** One place is enough for most of it; a volume is a CD where every place says so. */
function note(row: DiskRow, key: string, value: string, place: DiskPlace): void {
  const { named } = parseProperties(value, 'file')
  const say = (name: string, isSo: boolean) => {
    if (isSo) row[name] = 1
  }
  if (!isCdrom(value)) row.cdrom = 0
  say('is_cloudinit', /cloudinit/.test(String(row.volid)))
  say('replicate', named.get('replicate') !== '0')
  say('shared', named.get('shared') === '1')
  say('is_unused', isUnused(key))
  say('is_attached', place.is_attached === true && row.is_unused === 0)
  say('is_vmstate', key === 'vmstate')
  say('is_tpmstate', key === 'tpmstate0')
  say('referenced_in_pending', place.referenced_in_pending === 1)
  if (place.snapshot !== undefined)
    row.referenced_in_snapshot = { ...(row.referenced_in_snapshot as DiskRow | undefined), [place.snapshot]: 1 }
  const size = parseSize(named.get('size') ?? '')
  if (size !== undefined && size > 0) row.size ??= size
  if (isDrive(key)) row.drivename = key
}
