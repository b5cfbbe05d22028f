import type { StorageEntry } from '../../../world/parts.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { MIB, printSize } from '../../../world/sizes.ts'
import type { Work } from '../../../world/tasks.ts'
import {
  allocate,
  filePath,
  findVolume,
  parseVolumeId,
  storageOn,
  storageProblem,
  unusable,
  volumeAtPath,
} from '../../../world/volumes.ts'
import { CopyFailed, copyDisk } from './copy-disk.ts'
import type { Workshop } from './workshop.ts'

const NEW_DISK = /^([^:\s]+):(\d+(?:\.\d+)?)$/
const EFI_BYTES = 528 * 1024
const TPM_BYTES = 4 * MIB

/** Makes or attaches what a drive's text asks for, and answers the text that the configuration keeps. */
export async function makeDrive(shop: Workshop, key: string, value: string): Promise<string> {
  const drive = parseProperties(value, 'file')
  const { main, named } = drive
  if (main === 'none' || main === 'cdrom') {
    named.set('media', 'cdrom')
    return printProperties(drive)
  }
  const id = parseVolumeId(main)
  if (id?.name === 'cloudinit') return makeCloudInit(shop, key, id.storage, named.get('format'))
  const fresh = NEW_DISK.exec(main)
  if (fresh === null) {
    drive.main = volumeAtPath(shop.world, shop.host, main) ?? main
    const place = parseVolumeId(drive.main)?.storage
    const off = place === undefined ? undefined : unusable(shop.world, shop.host, place)
    if (off !== undefined) throw new Error(off)
    const volume = findVolume(shop.host, drive.main)
    if (volume === undefined && main.startsWith('/')) throw new Error(`volume ${main} does not exist`)
    if (volume === undefined) throw new Error(`volume '${main}' does not exist`)
    // QEMU counts in whole sectors.
    named.set('size', printSize(Math.ceil(volume.sizeBytes / 512) * 512))
    return printProperties(drive)
  }
  const storage = needStorage(shop, fresh[1] ?? '')
  const source = named.get('import-from')
  const format = named.get('format')
  named.delete('import-from')
  named.delete('format')
  if (source !== undefined) {
    const made = await importDisk(shop, storage, source, format)
    named.set('size', printSize(made.sizeBytes))
    const text = printProperties({ main: made.volid, named })
    shop.work.log(`${key}: successfully created disk '${text}'`)
    return text
  }
  const sizeBytes = diskBytes(key, Number(fresh[2]), storage)
  const volid = await newDisk(shop, storage, storage.files ? (format ?? 'raw') : 'raw', sizeBytes, 'disk')
  named.set('size', printSize(sizeBytes))
  if (key.startsWith('efidisk') && named.get('pre-enrolled-keys') === '1') named.set('ms-cert', '2023k')
  const text = printProperties({ main: volid, named })
  shop.work.log(`${key}: successfully created disk '${text}'`)
  return text
}

/** Firmware and TPM state have a fixed size; the requested one is ignored. */
function diskBytes(key: string, gib: number, storage: StorageEntry): number {
  if (key.startsWith('efidisk')) return storage.files ? EFI_BYTES : MIB
  if (key.startsWith('tpmstate')) return TPM_BYTES
  // In whole KiB, rather more than less.
  return Math.ceil(gib * MIB) * 1024
}

async function makeCloudInit(
  shop: Workshop,
  key: string,
  storageId: string,
  format: string | undefined,
): Promise<string> {
  const storage = needStorage(shop, storageId)
  const volid = await newDisk(shop, storage, storage.files ? (format ?? 'qcow2') : 'raw', 4 * MIB, 'cloudinit')
  const text = `${volid},media=cdrom`
  shop.work.log(`${key}: successfully created disk '${text}'`)
  return text
}

export async function newDisk(
  shop: Workshop,
  storage: StorageEntry,
  format: string,
  sizeBytes: number,
  role: 'disk' | 'cloudinit' | 'subvol',
): Promise<string> {
  const volid = await allocate(shop.world, shop.host, shop.work as Work, {
    storage,
    vmid: shop.vmid,
    format,
    sizeBytes,
    role,
  })
  shop.made.push(volid)
  if (storage.files) {
    const path = filePath(storage, volid.slice(volid.indexOf(':') + 1))
    shop.work.log(
      format === 'qcow2'
        ? `Formatting '${path}', fmt=qcow2 cluster_size=65536 extended_l2=off preallocation=metadata compression_type=zlib size=${sizeBytes} lazy_refcounts=off refcount_bits=16`
        : `Formatting '${path}', fmt=${format} size=${sizeBytes} preallocation=off`,
    )
  }
  return volid
}

async function importDisk(
  shop: Workshop,
  storage: StorageEntry,
  source: string,
  wantedFormat: string | undefined,
): Promise<{ volid: string; sizeBytes: number }> {
  const known = volumeAtPath(shop.world, shop.host, source) ?? source
  const from = findVolume(shop.host, known)
  if (from === undefined && source.startsWith('/')) throw new Error(`can't find file '${source}'`)
  if (from === undefined) {
    const id = parseVolumeId(source)
    const entry = id && storageOn(shop.world, shop.host, id.storage)
    throw new Error(
      entry && id ? `failed to stat '${filePath(entry, id.name)}'` : `storage '${id?.storage}' does not exist`,
    )
  }
  const sizeBytes = from.virtualBytes ?? from.sizeBytes
  // A file that is named by its path is no volume whose format could be kept.
  const own = !source.startsWith('/') && /^(?:qcow2|vmdk)$/.test(from.format) ? from.format : 'raw'
  const format = storage.files ? (wantedFormat ?? own) : 'raw'
  shop.work.log(`create full clone of drive (${source})`)
  const volid = await newDisk(shop, storage, format, sizeBytes, 'disk')
  shop.work.log(`allocated target volume '${volid}'`)
  const to = { from: known, to: volid, bytesPerSecond: shop.world.timing.importBytesPerSecond }
  await copyDisk(shop, to).catch((error: unknown) => {
    if (error instanceof CopyFailed) error.message = `cannot import from '${source}' - ${error.message}`
    throw error
  })
  const made = findVolume(shop.host, volid)
  if (made !== undefined && from.system !== undefined) made.system = from.system
  return { volid, sizeBytes }
}

function needStorage(shop: Workshop, id: string): StorageEntry {
  const entry = storageOn(shop.world, shop.host, id)
  if (entry === undefined)
    throw new Error(storageProblem(shop.world, shop.host, id, 'images') ?? `storage '${id}' is gone`)
  return entry
}
