import { driveKeys, driveVolume, isCdrom, isDrive, touch } from '../../../world/guest-config.ts'
import { newGuest, noteSeen } from '../../../world/guest-run.ts'
import { type LockMode, PowerLost } from '../../../world/locks.ts'
import type { Snapshot, StorageEntry } from '../../../world/parts.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { printSize } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { addVolume, findVolume, freeVolume, nextDiskName, parseVolumeId, storageOn } from '../../../world/volumes.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, guestOn, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { copyFirewall, forgetFirewall } from '../firewall/place.ts'
import { clonedConfig } from '../guest/clone-names.ts'
import { COPY_TIMEOUT_MS, refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { requireBridgeRights, requireRight } from '../guest/option-rights.ts'
import { copyLimit, rateUnder } from '../storage/bandwidth.ts'
import { requireEnabled, requireImages } from '../storage-check.ts'
import { volumeHasFeature } from '../volume-features.ts'
import { copyDisk } from './copy-disk.ts'
import { newDisk } from './drive-make.ts'
import type { Workshop } from './workshop.ts'

export const qemuCloneRoutes: Routes = { 'POST /nodes/{node}/qemu/{vmid}/clone': clone }

interface Plan {
  readonly source: Guest
  readonly config: ReadonlyMap<string, string>
  readonly snapshot: Snapshot | undefined
  readonly target: Guest
  readonly full: boolean
  readonly storage: StorageEntry | undefined
  readonly format: string | undefined
}

/**
 * The copy's configuration is at first nothing but `lock: clone` and a line that says so. The task carries the id of
 * the source, so the copy cannot be found by task or by name until the end.
 */
function clone(call: Call): string {
  const { world, params } = call
  const host = hostOf(call)
  const source = guestOn(world, host.name, vmidOf(call))
  const newid = Number(param(call, 'newid'))
  if (source === undefined)
    throw failed(`unable to find configuration file for VM ${vmidOf(call)} on node '${host.name}'`)
  if (params.pool !== undefined && !world.pools.has(params.pool))
    throw forbidden(`pool '${params.pool}' does not exist`)
  const elsewhere = isHere(host, params.target) ? undefined : params.target
  if (elsewhere !== undefined && !world.hosts.has(elsewhere)) throw failed(`no such cluster node '${elsewhere}'`)
  const storage = params.storage === undefined ? undefined : requireImages(world, host, params.storage)
  if (storage !== undefined && elsewhere !== undefined) {
    requireEnabled(world, elsewhere, storage.id)
    if (!storage.shared) throw failed(`can't clone to non-shared storage '${storage.id}'`)
  }
  refuseLocked(source)
  const snapshot = params.snapname === undefined ? undefined : source.snapshots.get(params.snapname)
  if (params.snapname !== undefined && snapshot === undefined)
    throw failed(`snapshot '${params.snapname}' does not exist`)
  const template = source.config.get('template') === '1'
  const full = params.full === undefined ? !template : params.full === '1'
  const config = snapshot?.config ?? source.config
  for (const name of ['storage', 'format']) {
    if (!full && params[name] !== undefined) throw failed(`parameter '${name}' not allowed for linked clones`)
  }
  const shared = requireParts(call, config, storage?.id)
  if (elsewhere !== undefined && !shared) throw failed(`can't clone VM to node '${elsewhere}' (VM uses local storage)`)
  refuseTaken(call, newid)
  refuseUncopyable(call, source, config, full)
  // Copies of a stopped guest share the source's lock; a change of the source waits for all of them.
  const mode = source.run.status === 'running' ? 'exclusive' : 'shared'
  // Between the answer and the file lie some milliseconds, and none here: only who must wait for a lock writes it later.
  const early = isFree(host, source.vmid, mode) && isFree(host, newid) ? temporary(call, newid) : undefined
  let begun = false
  const begin = (work: Work) => {
    begun = true
    if (early === undefined) {
      // Others may have been quicker since the call was answered.
      refuseLocked(source)
      refuseTaken(call, newid)
    }
    const target = early ?? temporary(call, newid)
    return copy(call, { source, config, snapshot, target, full, storage, format: params.format }, work)
  }
  const alone = (work: Work) => withConfigLock(world, host, newid, () => begin(work), 'exclusive', COPY_TIMEOUT_MS)
  return startTask(world, host, 'qmclone', `${source.vmid}`, call.who.id, async (work) => {
    try {
      await withConfigLock(world, host, source.vmid, () => alone(work), mode, COPY_TIMEOUT_MS)
    } catch (error) {
      if (!begun && early !== undefined && !(error instanceof PowerLost)) world.guests.delete(newid)
      throw error
    }
  })
}

function isFree(host: Host, vmid: number, mode: LockMode = 'exclusive'): boolean {
  const lock = host.locks.get(`lock-${vmid}`)
  return lock === undefined || (mode === 'shared' && lock.mode === 'shared' && lock.waiting.length === 0)
}

function refuseTaken({ world }: Call, newid: number): void {
  if (world.guests.has(newid)) throw failed(`unable to create VM ${newid}: config file already exists`)
}

function temporary(call: Call, newid: number): Guest {
  const config = new Map([
    ['lock', 'clone'],
    ['description', ' qmclone temporary file'],
  ])
  const target = newGuest(newid, 'qemu', hostOf(call).name, config)
  call.world.guests.set(newid, target)
  noteSeen(call.world, target)
  return target
}

/** A copy needs the same room and the same bridges as a new guest. Answers whether every volume is on a shared storage. */
function requireParts(call: Call, config: ReadonlyMap<string, string>, storage: string | undefined): boolean {
  let shared = true
  for (const key of driveKeys(config)) {
    const value = config.get(key) ?? ''
    const own = parseVolumeId(driveVolume(value))?.storage
    if (own === undefined) continue
    if (!call.world.storages.get(own)?.shared) shared = false
    if (!isCdrom(value)) requireRight(call, `/storage/${storage ?? own}`, 'Datastore.AllocateSpace')
  }
  for (const [key, value] of config) requireBridgeRights(call, key, value)
  return shared
}

function isHere(host: Host, node: string | undefined): boolean {
  return node === undefined || node === host.name || node === 'localhost'
}

/** The cloud-init drive and the TPM state are always copied whole. */
function refuseUncopyable(call: Call, source: Guest, config: ReadonlyMap<string, string>, full: boolean): void {
  const ofSnapshot = call.params.snapname !== undefined
  for (const key of driveKeys(config).sort()) {
    const value = config.get(key) ?? ''
    const volid = driveVolume(value)
    const isCloudInit = /cloudinit/.test(volid)
    if (volid === '' || (isCdrom(value) && !isCloudInit)) continue
    if (key === 'tpmstate0' && full && source.run.status === 'running' && !ofSnapshot)
      throw failed('cannot clone TPM state while VM is running')
    const whole = full || isCloudInit || key === 'tpmstate0'
    if (!volumeHasFeature(call.world, hostOf(call), whole ? 'copy' : 'clone', volid, ofSnapshot)) {
      const what = `${ofSnapshot ? ' a snapshot of' : ''} '${volid}' (${key})`
      throw failed(`${whole ? 'Full' : 'Linked'} clone feature is not supported for${what}`)
    }
  }
}

async function copy(call: Call, plan: Plan, work: Work): Promise<void> {
  const { world, params } = call
  const host = hostOf(call)
  const { source, target } = plan
  const shop: Workshop = { world, host, vmid: target.vmid, work, made: [] }
  try {
    work.log(`creating a clone of VM ${source.vmid} with ID ${target.vmid}`)
    copyFirewall(world, source, target)
    const config = clonedConfig(world, plan.config)
    for (const key of [...config.keys()].filter(isDrive).sort())
      config.set(key, await copyDrive(call, shop, plan, key, config.get(key) ?? ''))
    config.set('name', params.name ?? `Copy-of-VM-${source.config.get('name') ?? source.vmid}`)
    // A snapshot's own words go with a copy of it.
    const words = params.description ?? (plan.snapshot ? plan.snapshot.description : source.config.get('description'))
    if (words === undefined) config.delete('description')
    else config.set('description', words)
    target.config = config
    touch(target)
    noteSeen(world, target)
  } catch (error) {
    if (error instanceof PowerLost) throw error
    for (const volid of shop.made) freeVolume(host, volid)
    forgetFirewall(world, target)
    world.guests.delete(target.vmid)
    throw new Error(`clone failed: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (params.pool !== undefined) {
    world.pools.get(params.pool)?.guests.add(target.vmid)
    world.access.version += 1
  }
  if (!isHere(host, params.target)) target.node = params.target ?? host.name
}

async function copyDrive(call: Call, shop: Workshop, plan: Plan, key: string, value: string): Promise<string> {
  const volid = driveVolume(value)
  const volume = findVolume(shop.host, volid)
  if (volid === '' || volume === undefined || volume.content === 'iso') return value
  const drive = parseProperties(value, 'file')
  const isCloudInit = /cloudinit/.test(volid)
  const ownStorage = storageOn(shop.world, shop.host, parseVolumeId(volid)?.storage ?? '')
  const storage = plan.storage ?? ownStorage
  if (storage === undefined || ownStorage === undefined) throw new Error(`storage of '${volid}' does not exist`)
  if (plan.full || isCloudInit) {
    shop.work.log(`create full clone of drive ${key} (${volid})`)
    const format = storage.files ? (isCloudInit ? 'qcow2' : (plan.format ?? volume.format)) : 'raw'
    drive.main = await newDisk(shop, storage, format, volume.sizeBytes, isCloudInit ? 'cloudinit' : 'disk')
    shop.work.log(`allocated target volume '${drive.main}'`)
    if (!isCloudInit) {
      const limit = copyLimit(call, 'clone', [ownStorage.id, storage.id])
      const snapshot = call.params.snapname
      await copyDisk(shop, { from: volid, to: drive.main, bytesPerSecond: rateUnder(call, limit), limit, snapshot })
    }
    const made = findVolume(shop.host, drive.main)
    if (made !== undefined && volume.system !== undefined) made.system = volume.system
  } else {
    shop.work.log(`create linked clone of drive ${key} (${volid})`)
    drive.main = link(shop, ownStorage, volume.name)
  }
  drive.named.set('size', printSize(volume.sizeBytes))
  return printProperties(drive)
}

/** A volume that holds only what differs from its base. */
function link(shop: Workshop, storage: StorageEntry, base: string): string {
  const from = findVolume(shop.host, `${storage.id}:${base}`)
  const format = storage.files ? 'qcow2' : 'raw'
  const name = nextDiskName(shop.host, { storage, vmid: shop.vmid, format, sizeBytes: 0, role: 'disk' })
  addVolume(shop.world, shop.host, storage, {
    name,
    content: 'images',
    format,
    sizeBytes: from?.sizeBytes ?? 0,
    usedBytes: 0,
    vmid: shop.vmid,
    parent: base,
    ctimeSeconds: Math.floor(shop.world.clock.now() / 1000),
    ...(from?.system === undefined ? {} : { system: from.system }),
  })
  const volid = `${storage.id}:${base}/${name}`
  shop.made.push(volid)
  return volid
}
