import { defined } from '../../../lib/defined.ts'
import { parseSize } from '../property-string.ts'
import { formatOf, PARTS, storageOf } from '../vm/disks.ts'
import { block, type ConfigReading, type PartReading, partsOf, some, unless } from './reading.ts'

const GIB = 2 ** 30
const SLOT = /^(?:scsi|virtio|sata|ide)\d+$/
const CLOUD_INIT = /(?:^|[:/])(?:vm-\d+-)?cloudinit(?:\.\w+)?$/

/** The cloud-init drive. */
export interface CloudInitDrive {
  readonly slot: string
  readonly storage: string
}

/** Imports everything on a guest's buses. */
export function importDrives(from: ConfigReading) {
  const disk: unknown[] = []
  const cdrom: unknown[] = []
  let cloudInit: CloudInitDrive | undefined
  for (const slot of from.keys.filter((key) => SLOT.test(key))) {
    const parts = from.properties(slot, 'file')
    if (parts === undefined) continue
    const volume = parts.text('file') ?? parts.text('volume') ?? ''
    const storage = storageOf(volume)
    if (parts.text('media') === 'cdrom') {
      parts.ignore('size', 'format')
      if (storage !== undefined && CLOUD_INIT.test(volume) && cloudInit === undefined) cloudInit = { slot, storage }
      else cdrom.push({ interface: slot, fileId: volume })
    } else if (storage === undefined) {
      // A passed-through device of the host, without a storage.
      from.leave(slot)
    } else disk.push(importDisk(slot, volume, storage, parts, from))
  }
  return {
    fields: {
      disk: some(disk),
      efiDisk: efiDisk(from),
      tpmState: tpmState(from),
      cdrom: some(cdrom),
    },
    cloudInit,
  }
}

function importDisk(slot: string, volume: string, storage: string, parts: PartReading, from: ConfigReading) {
  parts.ignore('format')
  const written = parts.text('size')
  const size = (parseSize(written) ?? 0) / GIB
  const whole = Number.isInteger(size) && size > 0
  if (written !== undefined && !whole)
    from.note(`the size of ${slot} (${written}) is not a whole number of GiB: not declared`)
  return defined({
    interface: slot,
    datastoreId: storage,
    size: whole ? size : undefined,
    fileFormat: unless('raw', formatOf(volume)),
    ...partsOf(parts, PARTS),
    speed: block({
      read: parts.count('mbps_rd'),
      readBurstable: parts.count('mbps_rd_max'),
      write: parts.count('mbps_wr'),
      writeBurstable: parts.count('mbps_wr_max'),
      iopsRead: parts.count('iops_rd'),
      iopsReadBurstable: parts.count('iops_rd_max'),
      iopsWrite: parts.count('iops_wr'),
      iopsWriteBurstable: parts.count('iops_wr_max'),
    }),
  })
}

function efiDisk(from: ConfigReading) {
  const parts = from.properties('efidisk0', 'file')
  const storage = parts && storageOf(parts.text('file') ?? parts.text('volume'))
  if (storage === undefined) return undefined
  // Its certificates follow from its creation.
  parts?.ignore('size', 'format', 'ms-cert')
  return block({
    datastoreId: storage,
    type: unless('2m', parts?.text('efitype')),
    preEnrolledKeys: unless(false, parts?.flag('pre-enrolled-keys')),
  })
}

function tpmState(from: ConfigReading) {
  const parts = from.properties('tpmstate0', 'file')
  const storage = parts && storageOf(parts.text('file') ?? parts.text('volume'))
  if (storage === undefined) return undefined
  parts?.ignore('size', 'format')
  return block({ datastoreId: storage, version: unless('v1.2', parts?.text('version')) })
}
