import { defined } from '../../../../src/lib/defined.ts'
import { uuid } from '../../../world/chance.ts'
import {
  agentEnabled,
  configDigest,
  driveKeys,
  driveVolume,
  isCdrom,
  isDrive,
  touch,
} from '../../../world/guest-config.ts'
import { agentAnswers, powerOff, powerOn } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import { parseSize } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { filePath, findVolume, freeVolume, parseVolumeId } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, guestOf, guestOn, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { underMark, withConfigLock, withMigrationLock, withSnapshotLock } from '../guest/config-lock.ts'
import { requireRight } from '../guest/option-rights.ts'
import {
  describe,
  forget,
  needSnapshot,
  newSnapshot,
  passOrForget,
  refuseReserved,
  rollbackTo,
  shownSnapshot,
  wentBack,
} from '../guest/snapshots.ts'
import { type VolumeFeature, volumeHasFeature } from '../volume-features.ts'
import { startGuest } from './start.ts'
import { addStateVolume, stateKeys, stateStorageOf } from './state-volume.ts'

const AT = '/nodes/{node}/qemu/{vmid}/snapshot'

export const qemuSnapshotRoutes: Routes = {
  'GET /nodes/{node}/qemu/{vmid}/feature': feature,
  [`GET ${AT}`]: list,
  [`POST ${AT}`]: take,
  [`DELETE ${AT}/{snapname}`]: (call) =>
    inTask(call, 'qmdelsnapshot', (guest, host, work) =>
      withSnapshotLock(call, host, guest.vmid, () => {
        return remove(guest, host, work, call)
      }),
    ),
  [`POST ${AT}/{snapname}/rollback`]: (call) => {
    if (flag(call, 'start')) requireRight(call, `/vms/${param(call, 'vmid')}`, 'VM.PowerMgmt')
    return inTask(call, 'qmrollback', (guest, host, work) =>
      withMigrationLock(call.world, host, guest.vmid, () => {
        return rollback(guest, host, work, call)
      }),
    )
  },
  [`GET ${AT}/{snapname}/config`]: (call) => {
    const guest = guestOf(call)
    const snapshot = needSnapshot(guest, param(call, 'snapname'))
    return shownSnapshot(guest, snapshot)
  },
  [`GET ${AT}/{snapname}`]: () => ['rollback', 'config'].map((cmd) => ({ cmd })),
  [`PUT ${AT}/{snapname}/config`]: (call) => describe(call, 'qemu'),
}

function list(call: Call): unknown[] {
  const guest = guestOf(call)
  const parent = guest.config.get('parent')
  const rows: unknown[] = [...guest.snapshots].map(([name, snapshot]) => ({
    name,
    snaptime: snapshot.timeSeconds,
    description: snapshot.description ?? '',
    vmstate: snapshot.config.has('vmstate') ? 1 : 0,
    ...defined({ snapstate: snapshot.state, parent: snapshot.parent }),
  }))
  rows.push({
    name: 'current',
    description: 'You are here!',
    digest: configDigest(guest),
    running: guest.run.status === 'running' ? 1 : 0,
    ...defined({ parent }),
  })
  return rows
}

function take(call: Call): string {
  const name = param(call, 'snapname')
  refuseReserved(name, 'current')
  refuseReserved(name.toLowerCase(), 'pending')
  const { vmstate } = call.params
  const guest = guestOf(call)
  if (vmstate === '1') refuseUnsavable(guest)
  return inTask(call, 'qmsnapshot', async (_, host, work) => {
    if (guest.config.get('template') === '1') throw new Error("you can't take a snapshot if it's a template")
    const disks = driveKeys(guest.config).filter((key) => !isCdrom(guest.config.get(key) ?? ''))
    const prepare = () => {
      if (guest.snapshots.has(name)) throw new Error(`snapshot name '${name}' already used`)
      if (!hasFeature(call, guest.config, 'snapshot')) throw new Error('snapshot feature is not available')
      const snapshot = newSnapshot(call, guest)
      if (vmstate === '1' && guest.run.status === 'running') {
        const volid = addStateVolume(call.world, host, guest, stateStorageOf(call.world, guest), name)
        for (const [key, value] of stateKeys(volid)) snapshot.config.set(key, value)
      }
      guest.snapshots.set(name, snapshot)
    }
    const deed = async () => {
      const up = guest.run.status === 'running'
      if (up) tellState(call, host, guest, name, work)
      for (const key of disks) {
        const volid = driveVolume(guest.config.get(key) ?? '')
        work.log(`snapshotting 'drive-${key}' (${volid})`)
        if (up && findVolume(host, volid)?.format === 'qcow2') work.log('internal qemu snapshot')
      }
      await passOrForget(call, guest, name, work)
      guest.config.set('parent', name)
    }
    await underMark(call.world, host, guest, 'snapshot', deed, prepare)
  })
}

/** Where the memory is not kept, the guest's own caches are to be on disk: that is for its agent. */
function tellState(call: Call, host: Host, guest: Guest, name: string, work: Work): void {
  const memory = guest.snapshots.get(name)?.config.get('vmstate')
  if (memory !== undefined) {
    const volume = findVolume(host, memory)
    const storage = call.world.storages.get(parseVolumeId(memory)?.storage ?? '')
    if (storage?.files && volume !== undefined)
      work.log(`Formatting '${filePath(storage, volume.name)}', fmt=raw size=${volume.sizeBytes} preallocation=off`)
    work.log(`saving VM state and RAM using storage '${storage?.id}'`)
    work.log('completed saving the VM state in 1s, saved 64.00 MiB')
    return
  }
  const freezes = parseProperties(guest.config.get('agent') ?? '', 'enabled').named.get('freeze-fs') !== '0'
  const why =
    !agentEnabled(guest.config) || !freezes
      ? 'disabled in VM options'
      : !agentAnswers(guest)
        ? 'agent configured but not running?'
        : guest.run.frozen
          ? 'already frozen'
          : undefined
  if (why !== undefined) work.log(`skipping guest filesystem freeze - ${why}`)
}

/** Memory that is shared with the host or encrypted cannot be written down. */
function refuseUnsavable(guest: Guest): void {
  const blockers = ['amd-sev', 'intel-tdx'].filter((key) => guest.config.has(key))
  if ([...guest.config.keys()].some((key) => /^virtiofs\d$/.test(key))) blockers.push('virtiofs')
  if (blockers.length > 0)
    throw failed(`Cannot live-migrate, snapshot (with RAM), or hibernate a VM with: ${blockers.join(', ')}`)
}

function feature(call: Call): Record<string, unknown> {
  const node = hostOf(call).name
  const guest = guestOn(call.world, node, vmidOf(call))
  if (guest === undefined) throw failed(`unable to find configuration file for VM ${vmidOf(call)} on node '${node}'`)
  const { snapname } = call.params
  const config = snapname === undefined ? guest.config : needSnapshot(guest, snapname).config
  const able = hasFeature(call, config, param(call, 'feature') as VolumeFeature, snapname !== undefined)
  return { hasFeature: able ? 1 : 0, nodes: [...call.world.hosts.keys()] }
}

/** What can be done with every disk can be done with the guest. Discs and the cloud-init drive do not count. */
function hasFeature(
  call: Call,
  config: ReadonlyMap<string, string>,
  feature: VolumeFeature,
  ofSnapshot = false,
): boolean {
  return driveKeys(config)
    .map((key) => config.get(key) ?? '')
    .filter((value) => !isCdrom(value))
    .every((value) => volumeHasFeature(call.world, hostOf(call), feature, driveVolume(value), ofSnapshot))
}

function inTask(
  call: Call,
  type: string,
  deed: (guest: Guest, host: Host, work: Work, call: Call) => Promise<void>,
): string {
  const { world } = call
  const host = hostOf(call)
  // That the guest is missing comes out in the task.
  return startTask(world, host, type, param(call, 'vmid'), call.who.id, (work) => deed(guestOf(call), host, work, call))
}

async function remove(guest: Guest, host: Host, work: Work, call: Call): Promise<void> {
  const name = param(call, 'snapname')
  // Whether it may go is asked with the lock in hand; whether it is there, only then.
  await withConfigLock(call.world, host, guest.vmid, () => {})
  const snapshot = needSnapshot(guest, name)
  await underMark(call.world, host, guest, 'snapshot-delete', async () => {
    if (guest.config.get('template') === '1') throw new Error("you can't delete a snapshot if vm is a template")
    snapshot.state = 'delete'
    touch(guest)
    await work.pass(call.world.timing.shortTaskMs)
    const memory = snapshot.config.get('vmstate')
    if (memory !== undefined) freeVolume(host, memory)
    forget(guest, name, snapshot)
  })
}

async function rollback(guest: Guest, host: Host, work: Work, call: Call): Promise<void> {
  const name = param(call, 'snapname')
  const snapshot = await rollbackTo(call, guest, name, isDrive)
  await underMark(call.world, host, guest, 'rollback', async () => {
    powerOff(call.world, guest)
    await work.pass(call.world.timing.shortTaskMs)
    guest.config = wentBack(guest, snapshot)
    for (const key of ['vmstate', 'runningmachine', 'runningcpu']) guest.config.delete(key)
    if (guest.config.has('vmgenid')) guest.config.set('vmgenid', uuid(call.world.random))
    guest.config.set('parent', name)
  })
  // Disks that were grown since are as small again as they were.
  for (const key of driveKeys(guest.config)) {
    const value = guest.config.get(key) ?? ''
    const volume = findVolume(host, driveVolume(value))
    const bytes = parseSize(/(?:^|,)size=([^,]+)/.exec(value)?.[1] ?? '')
    if (volume !== undefined && bytes !== undefined && !isCdrom(value)) volume.sizeBytes = bytes
  }
  // A snapshot with memory resumes by itself: the rollback starts the guest.
  if (snapshot.config.has('vmstate')) powerOn(call.world, host, guest)
  if (!flag(call, 'start') || guest.run.status === 'running') return
  startTask(call.world, host, 'qmstart', `${guest.vmid}`, call.who.id, (own) =>
    startGuest(call.world, host, guest, own),
  )
}
