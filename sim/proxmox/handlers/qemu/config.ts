import { defined } from '../../../../src/lib/defined.ts'
import { configDigest, isUnused } from '../../../world/guest-config.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest, World } from '../../../world/types.ts'
import { badParameter, badParameters, failed } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, type Routes, vmidOf } from '../../call.ts'
import { findOperation } from '../../validate/operations.ts'
import { refuseSkipLock, withConfigLock } from '../guest/config-lock.ts'
import { type ConfigChange, refuseEarly, refuseProtected, updateConfig } from '../guest/config-update.ts'
import { shownConfig, shownPending } from '../guest/config-view.ts'
import { hookProblem } from '../guest/hook-script.ts'
import {
  BY_VALUE,
  refuseRootOnly,
  requireBridgeRights,
  requireOptionRights,
  requireSlotRights,
} from '../guest/option-rights.ts'
import { shownSnapshot } from '../guest/snapshots.ts'
import { checkKeys, decodedKeys } from '../guest/ssh-keys.ts'
import { requireTagRights } from '../guest/tags.ts'
import { checkDriveAccess, checkDriveTexts } from './drive-check.ts'

export const qemuConfigRoutes: Routes = {
  'GET /nodes/{node}/qemu/{vmid}/config': readConfig,
  'PUT /nodes/{node}/qemu/{vmid}/config': writeConfig,
  'POST /nodes/{node}/qemu/{vmid}/config': writeConfigInBackground,
  'GET /nodes/{node}/qemu/{vmid}/pending': (call) => shownPending(guestOf(call)),
  'PUT /nodes/{node}/qemu/{vmid}/unlink': unlink,
}

const NOT_CONFIG = new Set([
  'node',
  'vmid',
  'digest',
  'delete',
  'revert',
  'skiplock',
  'force',
  'background_delay',
  'import-working-storage',
])

/** Lines of a configuration that no call sets by their name. */
const KEPT_BESIDE = /^(parent|snaptime|vmstate|running-nets-host-mtu|runningmachine|runningcpu|meta)$/

function readConfig(call: Call): Record<string, unknown> {
  const guest = guestOf(call)
  const name = call.params.snapshot
  if (name !== undefined && call.params.current !== undefined) {
    const text = "cannot use 'snapshot' parameter with 'current'"
    throw badParameters({ snapshot: text, current: text })
  }
  if (name === undefined) return shownConfig(guest, flag(call, 'current'))
  const snapshot = guest.snapshots.get(name)
  if (snapshot === undefined) throw failed(`snapshot '${name}' does not exist`)
  return { ...shownSnapshot(guest, snapshot), digest: configDigest(guest) }
}

async function writeConfig(call: Call): Promise<null> {
  const change = requested(call)
  const guest = guestOf(call)
  const { world } = call
  const host = hostOf(call)
  // Whom the guest refuses anyway does not wait for the lock.
  refuseEarly(guest, change)
  await withConfigLock(world, host, guest.vmid, () => {
    refuseEarly(guest, change)
    requireValueRights(call, guest, change)
    return updateConfig(world, host, guest, change, inForeground(world))
  })
  return null
}

function writeConfigInBackground(call: Call): Promise<string | null> {
  const change = requested(call)
  const guest = guestOf(call)
  const { world } = call
  const host = hostOf(call)
  refuseEarly(guest, change)
  const upid = startTask(world, host, 'qmconfig', `${guest.vmid}`, call.who.id, async (work) => {
    await withConfigLock(world, host, guest.vmid, () => {
      refuseEarly(guest, change)
      work.log(updateLine(call))
      requireValueRights(call, guest, change)
      return updateConfig(world, host, guest, change, work)
    })
    if ([...change.set].some(([, value]) => value.includes('cloudinit'))) work.log('generating cloud-init ISO')
    await work.pass(world.timing.shortTaskMs)
  })
  return settled(call, upid)
}

/** What is asked for, as the logs say it. */
function updateLine(call: Call): string {
  const asked = Object.entries(call.params)
    .filter(([key]) => !NOT_LOGGED.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `-${key} ${key === 'cipassword' ? '<hidden>' : value}`)
  return `update VM ${vmidOf(call)}: ${asked.join(' ')}`
}

const NOT_LOGGED = new Set(['node', 'vmid', 'digest', 'background_delay', 'import-working-storage'])

/** Who gives the task some seconds hears of its end, if it comes in that time; else which task it is. */
async function settled(call: Call, upid: string): Promise<string | null> {
  const { world } = call
  const task = hostOf(call).tasksById.get(upid)
  const untilMs = world.clock.now() + 1000 * Number(call.params.background_delay ?? 0)
  while (task !== undefined && task.exit === undefined && world.clock.now() < untilMs) await world.clock.sleep(200)
  if (call.params.background_delay === undefined || task?.exit === undefined || untilMs === 0) return upid
  if (task.exit === 'OK' || task.exit.startsWith('WARNINGS: ')) return null
  throw failed(`failed to update VM ${vmidOf(call)}: ${task.exit}`)
}

/** The same as a change that deletes, by an older name. */
function unlink(call: Call): Promise<null> {
  const { node = '', vmid = '', idlist = '', force } = call.params
  return writeConfig({ ...call, params: { node, vmid, delete: idlist, ...defined({ force }) } })
}

/** Work inside a request: time passes, nothing is logged. */
function inForeground(world: World) {
  return { log: () => {}, pass: (ms: number) => (ms > 0 ? world.clock.sleep(ms) : Promise.resolve()) }
}

/** What the call asks for, refused where the daemon refuses it before it touches the guest. */
function requested(call: Call): ConfigChange {
  const { params } = call
  const vmid = vmidOf(call)
  refuseSkipLock(call)
  const set = new Map<string, string>()
  for (const [key, value] of Object.entries(params)) {
    // `cdrom` is an old name for the second IDE drive.
    if (!NOT_CONFIG.has(key)) set.set(key === 'cdrom' ? 'ide2' : key, key === 'cdrom' ? `${value},media=cdrom` : value)
  }
  const drop = listed(params.delete).map((key) => (key === 'cdrom' ? 'ide2' : key))
  const revert = listed(params.revert)
  if (set.size === 0 && !params.delete && !params.revert) throw failed('no options specified')
  for (const key of revert) {
    refuseUnknown(key, 'revert')
    if (set.has(key)) throw badParameter('delete', `you can't use '-${key}' and -revert ${key}' at the same time`)
  }
  for (const key of drop) {
    if (set.has(key)) throw badParameter('delete', `you can't use '-${key}' and -delete ${key}' at the same time`)
    if (revert.includes(key))
      throw badParameter('revert', `you can't use '-delete ${key}' and -revert ${key}' at the same time`)
    refuseUnknown(key)
  }
  checkKeys(decodedKeys(call))
  checkDriveTexts(call)
  checkHook(call, set.get('hookscript'))
  for (const [key, value] of [...drop.map((key) => [key, ''] as const), ...set]) {
    if (BY_VALUE.test(key)) continue
    refuseRootOnly(call, key, value)
    requireOptionRights(call, vmid, key, value)
  }
  checkDriveAccess(call)
  for (const [key, value] of set) requireBridgeRights(call, key, value)
  return { set, drop, revert, digest: params.digest, skipLock: flag(call, 'skiplock'), force: flag(call, 'force') }
}

/** Rights that depend on what the guest has: what goes comes first, and of what is replaced both. */
function requireValueRights(call: Call, guest: Guest, change: ConfigChange): void {
  const { vmid } = guest
  for (const key of change.drop) {
    const value = guest.config.get(key) ?? guest.pending.get(key)
    if (value === undefined) continue
    if (guest.config.get('protection') === '1') refuseProtected(key, value)
    if (key === 'tags') requireTagRights(call, vmid, value, '')
    else if (BY_VALUE.test(key)) requireSlotRights(call, vmid, key, value, { old: value, verb: 'delete' })
    else requireBridgeRights(call, key, value)
  }
  for (const [key, value] of change.set) {
    const old = guest.config.get(key)
    if (key === 'tags') requireTagRights(call, vmid, old ?? '', value)
    else if (!BY_VALUE.test(key)) requireBridgeRights(call, key, old ?? '')
    else {
      const verb = 'modify' as const
      if (old !== undefined && !isUnused(key)) requireSlotRights(call, vmid, key, old, { old, verb })
      if (!isUnused(key)) requireSlotRights(call, vmid, key, value, { ...defined({ old }), verb })
    }
  }
}

/** A script that Proxmox would run on the host must be a snippet that can be run. */
export function checkHook(call: Call, volid: string | undefined): void {
  const problem = volid === undefined ? undefined : hookProblem(call.world, hostOf(call), volid)
  if (problem !== undefined) throw badParameter('hookscript', `${problem}\n`)
}

function refuseUnknown(key: string, how: 'delete' | 'revert' = 'delete'): void {
  const known = findOperation('PUT', '/nodes/n/qemu/100/config')?.operation.parameters
  if (known !== undefined && (NOT_CONFIG.has(key) || !known.has(key)) && !KEPT_BESIDE.test(key))
    throw badParameter(how, `unknown option '${key}'`)
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((key) => key !== '')
}
