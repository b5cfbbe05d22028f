import { between } from '../../../world/chance.ts'
import { driveKeys, driveVolume, isCdrom } from '../../../world/guest-config.ts'
import { powerOn } from '../../../world/guest-run.ts'
import { mappedDeviceProblem } from '../../../world/hardware.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { filePath, findVolume, parseVolumeId, storageProblem } from '../../../world/volumes.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { forgetState } from './suspend.ts'

/** Starts the process of a guest, or says why it cannot be started. Runs inside a task. */
export function startGuest(world: World, host: Host, guest: Guest, work: Work, skipLock = false): Promise<void> {
  return withConfigLock(world, host, guest.vmid, () => startLocked(world, host, guest, work, skipLock))
}

/** The same for a caller that already holds the guest's lock. */
export async function startLocked(world: World, host: Host, guest: Guest, work: Work, skipLock = false): Promise<void> {
  if (guest.config.get('template') === '1') throw new Error("you can't start a vm if it's a template")
  // The process that a backup reads from is there already: its guest goes on in it.
  if (guest.config.get('lock') === 'backup' && guest.run.status === 'running') {
    guest.run.paused = false
    return
  }
  const asleep = guest.config.get('lock') === 'suspended'
  if (!asleep && !skipLock) refuseLocked(guest)
  if (guest.run.status === 'running') throw new Error(`VM ${guest.vmid} already running`)
  const config = new Map(guest.config)
  for (const key of guest.pendingDelete) config.delete(key)
  for (const [key, value] of guest.pending) config.set(key, value)
  const unfit = mappedDeviceProblem(world, host, config)
  if (unfit !== undefined) throw new Error(unfit)
  checkParts(world, host, guest.vmid, config, work)
  if (asleep) work.log('Resuming suspended VM')
  await work.pass(between(world.random, world.timing.startMs))
  if (world.guests.get(guest.vmid) !== guest) throw new Error(`VM ${guest.vmid} is gone`)
  powerOn(world, host, guest)
  if (asleep) {
    work.log('Resumed VM, removing state')
    forgetState({ world }, guest)
  }
}

/** All that must be there before the process can run: cloud-init files, disks, bridges. */
function checkParts(world: World, host: Host, vmid: number, config: ReadonlyMap<string, string>, work: Work): void {
  const drives = driveKeys(config)
  if (drives.some((key) => (config.get(key) ?? '').includes('cloudinit'))) {
    for (const volid of parseProperties(config.get('cicustom') ?? '').named.values()) {
      if (findVolume(host, volid) === undefined) throw new Error(`volume '${volid}' does not exist`)
    }
    work.log('generating cloud-init ISO')
  }
  const hook = config.get('hookscript')
  const script = hook === undefined ? undefined : findVolume(host, hook)
  if (hook !== undefined && script?.script !== undefined && script.script.exit !== 0) {
    const entry = world.storages.get(parseVolumeId(hook)?.storage ?? '')
    const path = entry === undefined ? hook : filePath(entry, script.name)
    throw new Error(
      `hookscript error for ${vmid} on pre-start: command '${path} ${vmid} pre-start' failed: exit code ${script.script.exit} `,
    )
  }
  for (const key of drives) {
    const value = config.get(key) ?? ''
    const volid = driveVolume(value)
    const id = parseVolumeId(volid)
    const content = isCdrom(value) && !/cloudinit/.test(volid) ? 'iso' : 'images'
    const problem = id === undefined ? undefined : storageProblem(world, host, id.storage, content)
    if (problem !== undefined) throw new Error(problem)
    if (volid !== '' && findVolume(host, volid) === undefined) throw new Error(`volume '${volid}' does not exist`)
  }
  for (const [key, value] of config) {
    const bridge = /^net\d+$/.test(key) ? parseProperties(value).named.get('bridge') : undefined
    if (bridge === undefined) continue
    const found = host.interfaces.get(bridge)
    if (found === undefined) throw new Error(`bridge '${bridge}' does not exist`)
    if (parseProperties(value).named.has('trunks') && Number(found.bridge_vlan_aware ?? 0) !== 1) {
      work.log('vlan aware feature need to be enabled to use trunks')
      throw new Error('start failed: QEMU exited with code 1')
    }
  }
}
