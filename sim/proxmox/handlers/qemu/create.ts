import { defined } from '../../../../src/lib/defined.ts'
import { may } from '../../../world/access.ts'
import { uuid } from '../../../world/chance.ts'
import { defaultBootDevices, isDrive } from '../../../world/guest-config.ts'
import { newGuest, noteSeen } from '../../../world/guest-run.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { failed, forbidden, notSimulated } from '../../api-error.ts'
import { type Call, flag, hostOf, type Routes, vmidOf } from '../../call.ts'
import { withConfigLock, withNewId } from '../guest/config-lock.ts'
import { configured } from '../guest/creation.ts'
import {
  BY_VALUE,
  refuseRootOnly,
  requireBridgeRights,
  requireOptionRights,
  requireRight,
  requireSlotRights,
} from '../guest/option-rights.ts'
import { keptValue, pinnedMachine } from '../guest/option-values.ts'
import { checkKeys, decodedKeys } from '../guest/ssh-keys.ts'
import { requireTagRights } from '../guest/tags.ts'
import { shelf } from '../shelf.ts'
import { checkDriveAccess, checkDriveTexts } from './drive-check.ts'
import { makeDrive } from './drive-make.ts'
import { startAfterCreate } from './start-after-create.ts'

export const qemuCreateRoutes: Routes = { 'POST /nodes/{node}/qemu': createGuest }

/** Parameters of the call that are no part of the configuration. */
const NOT_CONFIG = new Set([
  'node',
  'vmid',
  'start',
  'pool',
  'storage',
  'unique',
  'force',
  'archive',
  'bwlimit',
  'live-restore',
  'ha-managed',
  'import-working-storage',
])

export const CREATION_QEMU = '10.0.13'

/**
 * The id is taken at once, with nothing in the configuration but `lock: create`; name, tags and all the rest appear
 * only when the task has made the disks. Until then the guest cannot be found by name.
 */
function createGuest(call: Call): string | Promise<string> {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const pool = call.params.pool
  if (pool !== undefined && !world.pools.has(pool)) throw forbidden(`pool '${pool}' does not exist`)
  const inPool = pool !== undefined && may(world, call.who, `/pool/${pool}`, 'VM.Allocate')
  if (!inPool && !may(world, call.who, `/vms/${vmid}`, 'VM.Allocate')) throw forbidden()
  if (call.params.archive !== undefined) throw notSimulated('to restore a VM from a backup')
  const wanted = Object.entries(call.params).filter(([key]) => !NOT_CONFIG.has(key))
  checkKeys(decodedKeys(call))
  checkDriveAccess(call, true)
  for (const [key, value] of wanted) {
    if (BY_VALUE.test(key)) continue
    refuseRootOnly(call, key, value)
    requireOptionRights(call, vmid, key, value, pool)
  }
  // Disks are asked for by their storages alone.
  for (const slot of ['serial', 'usb', 'hostpci', 'virtiofs'])
    for (const [key, value] of wanted)
      if (new RegExp(`^${slot}\\d+$`).test(key))
        requireSlotRights(call, vmid, key, value, { verb: 'set', ...defined({ pool }) })
  for (const [key, value] of wanted) requireBridgeRights(call, key, value)
  checkDriveTexts(call)
  if (flag(call, 'start') && !inPool) requireRight(call, `/vms/${vmid}`, 'VM.PowerMgmt')
  const unable = (problem: string) => failed(`unable to create VM ${vmid} - ${problem}`)
  const begin = () => {
    const taken = world.guests.get(vmid)
    if (taken === undefined) return beginCreate(call, wanted)
    throw unable(`${taken.type === 'qemu' ? 'VM' : 'CT'} ${vmid} already exists on node '${taken.node}'`)
  }
  return withNewId(world, host, { vmid, type: 'qemu', before: `unable to create VM ${vmid} - ` }, begin)
}

function beginCreate(call: Call, wanted: [string, string][]): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const pool = call.params.pool
  const guest = newGuest(vmid, 'qemu', host.name, new Map([['lock', 'create']]))
  world.guests.set(vmid, guest)
  noteSeen(world, guest)
  return startTask(world, host, 'qmcreate', `${vmid}`, call.who.id, async (work) => {
    await withConfigLock(world, host, vmid, () => build(call, guest, wanted, work))
    if (pool !== undefined) joinPool(call, pool, vmid)
    if (flag(call, 'ha-managed'))
      shelf(world, 'ha/resources').set(`vm:${vmid}`, { type: 'vm', state: flag(call, 'start') ? 'started' : 'stopped' })
    if (flag(call, 'start')) startAfterCreate(call, guest, work)
  })
}

async function build(call: Call, guest: Guest, wanted: [string, string][], work: Work): Promise<void> {
  const { world } = call
  const host = hostOf(call)
  const { vmid } = guest
  const shop = { world, host, vmid, work, made: [] as string[] }
  await configured(shop, guest, async () => {
    const config = new Map<string, string>()
    // A password that comes with a new guest is kept as it came; only a later one is hashed.
    for (const [key, value] of wanted)
      if (!isDrive(key)) config.set(key, key === 'cipassword' ? value : keptValue(world, key, value))
    const drives = new Map(wanted.filter(([key]) => isDrive(key)))
    for (const key of [...drives.keys()].sort()) config.set(key, await makeDrive(shop, key, drives.get(key) ?? ''))
    complete(call, config)
    // Asked last of all, and without the pool: it is no member yet.
    if (call.params.tags !== undefined) requireTagRights(call, vmid, '', call.params.tags)
    return config
  })
}

/** What Proxmox adds by itself. */
function complete(call: Call, config: Map<string, string>): void {
  const { world } = call
  if (!config.has('boot')) {
    const devices = defaultBootDevices(config)
    config.set('boot', devices.length > 0 ? `order=${devices.join(';')}` : ' ')
  }
  if (!config.has('vmgenid') && config.get('arch') !== 'aarch64') config.set('vmgenid', uuid(world.random))
  if (!config.has('smbios1')) config.set('smbios1', `uuid=${uuid(world.random)}`)
  const pinned = pinnedMachine(config.get('machine'), config.get('ostype'))
  if (pinned !== undefined) config.set('machine', pinned)
  config.set('meta', `creation-qemu=${CREATION_QEMU},ctime=${Math.floor(world.clock.now() / 1000)}`)
}

/** Last of all: until here a token that has rights on the pool only does not see its own guest. */
function joinPool(call: Call, pool: string, vmid: number): void {
  call.world.pools.get(pool)?.guests.add(vmid)
  call.world.access.version += 1
}
