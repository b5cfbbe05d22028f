import { macAddress } from '../../../world/chance.ts'
import { touch } from '../../../world/guest-config.ts'
import { newGuest, noteSeen } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import { GIB, parseSize } from '../../../world/sizes.ts'
import { startTask, toldInTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { filePath, findVolume, freeVolume, parseVolumeId, volumeAtPath } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, hostOf, param, vmidOf } from '../../call.ts'
import { withConfigLock, withNewId } from '../guest/config-lock.ts'
import { requireBridgeRights, requireRight } from '../guest/option-rights.ts'
import type { Workshop } from '../qemu/workshop.ts'
import { givenOptions } from './config.ts'
import { isMount, makeMount, refuseUnmountable } from './mounts.ts'

type Mounts = readonly (readonly [string, string])[]

/** Makes a container out of its backup, or puts one that is there back with `force`. */
export function restoreContainer(call: Call, mounts: Mounts, finish: (guest: Guest) => void): string | Promise<string> {
  const vmid = vmidOf(call)
  const id = { vmid, type: 'lxc', before: `unable to restore CT ${vmid} - ` } as const
  return withNewId(call.world, hostOf(call), id, () => beginRestore(call, mounts, finish))
}

function beginRestore(call: Call, mounts: Mounts, finish: (guest: Guest) => void): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const before = `unable to restore CT ${vmid} -`
  const old = world.guests.get(vmid)
  const lock = old?.config.get('lock')
  if (lock !== undefined) throw failed(`${before} CT is locked (${lock})`)
  const guest = old ?? newGuest(vmid, 'lxc', host.name, new Map())
  guest.config.set('lock', 'create')
  world.guests.set(vmid, guest)
  touch(guest)
  noteSeen(world, guest)
  return startTask(world, host, 'vzrestore', `${vmid}`, call.who.id, async (work) => {
    await withConfigLock(world, host, vmid, async () => {
      const shop: Workshop = { world, host, vmid, work, made: [] }
      // Until the first new disk is made, the container is as it was.
      const state = { begun: old === undefined }
      try {
        guest.config = await restored(call, shop, guest, mounts, work, state)
        guest.pending.clear()
        guest.snapshots.clear()
      } catch (error) {
        for (const volid of shop.made) freeVolume(host, volid)
        if (state.begun) world.guests.delete(vmid)
        else guest.config.delete('lock')
        throw new Error(`${before} ${toldInTask(error)}`)
      }
      touch(guest)
      noteSeen(world, guest)
    })
    finish(guest)
  })
}

async function restored(
  call: Call,
  shop: Workshop,
  guest: Guest,
  given: Mounts,
  work: Work,
  state: { begun: boolean },
): Promise<Map<string, string>> {
  const { world } = call
  const host = hostOf(call)
  const archive = param(call, 'ostemplate')
  work.log(`recovering backed-up configuration from '${archive}'`)
  const saved = savedIn(call, archive)
  for (const [key, card] of saved) if (call.params[key] === undefined) requireBridgeRights(call, key, card)
  const unprivileged = (call.params.unprivileged ?? saved.get('unprivileged')) === '1'
  const wasOpen = guest.config.size > 1 && guest.config.get('unprivileged') !== '1'
  if (!unprivileged && !wasOpen) requireRight(call, '/', 'Sys.Modify')
  const mounts = given.length > 0 ? given : savedMounts(call, saved)
  state.begun = true
  const made = new Map<string, string>()
  for (const [key, value] of mounts) made.set(key, await makeMount(shop, key, value))
  for (const [key, value] of guest.config)
    if (isMount(key) || /^unused\d+$/.test(key)) freeVolume(host, parseProperties(value, 'volume').main)
  refuseUnmountable(shop, made)
  work.log(`restoring '${archive}' now..`)
  const id = parseVolumeId(archive)
  const entry = world.storages.get(id?.storage ?? '')
  work.log(`extracting archive '${id && entry ? filePath(entry, id.name) : archive}'`)
  await work.pass(world.timing.shortTaskMs)
  work.log('merging backed-up and given configuration..')
  return merged(call, saved, made, unprivileged)
}

function savedIn(call: Call, archive: string): ReadonlyMap<string, string> {
  const host = hostOf(call)
  const volume = findVolume(host, volumeAtPath(call.world, host, archive) ?? archive)
  if (volume === undefined)
    throw new Error(archive.startsWith('/') ? `can't find file '${archive}'` : `volume '${archive}' does not exist`)
  if (volume.saved === undefined) throw new Error('ERROR: archive contains no configuration file')
  return volume.saved.config
}

/** The same disks, as large as they were, on the storage of the call. */
function savedMounts(call: Call, saved: ReadonlyMap<string, string>): Mounts {
  const { storage = 'local' } = call.params
  if (!saved.has('rootfs'))
    throw new Error('rootfs configuration could not be recovered, please check and specify manually!')
  return [...saved].flatMap(([key, value]) => {
    if (!isMount(key)) return []
    const { main, named } = parseProperties(value, 'volume')
    if (main.startsWith('/')) {
      const type = main.startsWith('/dev/') ? 'device' : 'bind'
      if (call.who.id !== 'root@pam') throw new Error(`restoring '${key}' to ${type} mount is only possible for root`)
      return [[key, value] as const]
    }
    const size = parseSize(named.get('size') ?? '')
    if (size === undefined) throw new Error(`unable to detect disk size - please specify ${key} (size)`)
    named.delete('size')
    const rest = [...named].map(([name, text]) => `,${name}=${text}`).join('')
    return [[key, `${storage}:${size / GIB}${rest}`] as const]
  })
}

const NOT_MERGED = /^(rootfs|mp\d+|unused\d+|unprivileged|parent|lock|template)$/

/** What the call says counts; the rest is as it was. */
function merged(
  call: Call,
  saved: ReadonlyMap<string, string>,
  mounts: ReadonlyMap<string, string>,
  unprivileged: boolean,
): Map<string, string> {
  const config = new Map<string, string>()
  const given = givenOptions(call)
  for (const [key, value] of saved) {
    if (NOT_MERGED.test(key)) continue
    if (key === 'features' && call.who.id !== 'root@pam' && !unprivileged && saved.get('unprivileged') === '1') continue
    const isNew = flag(call, 'unique') && /^net\d+$/.test(key)
    config.set(key, isNew ? value.replace(/hwaddr=[^,]*/, `hwaddr=${macAddress(call.world.random)}`) : value)
  }
  for (const [key, value] of given)
    if (!(flag(call, 'unique') && /^net\d+$/.test(key) && saved.has(key))) config.set(key, value)
  for (const [key, value] of mounts) config.set(key, value)
  if (unprivileged) config.set('unprivileged', '1')
  for (const [key, value] of [
    ['hostname', `CT${call.params.vmid}`],
    ['memory', '512'],
    ['swap', '512'],
  ] as const)
    if (!config.has(key)) config.set(key, value)
  if (saved.get('template') === '1') config.set('template', '1')
  return config
}
