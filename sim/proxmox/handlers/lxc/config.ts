import { may } from '../../../world/access.ts'
import { macAddress } from '../../../world/chance.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import { touch } from '../../../world/guest-config.ts'
import { noteSeen } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'
import { contentOfName, freeVolume, parseVolumeId } from '../../../world/volumes.ts'
import { badParameter, failed, forbidden, onlyRootNamesPaths } from '../../api-error.ts'
import { type Call, hostOf } from '../../call.ts'
import { findOperation } from '../../validate/operations.ts'
import { requireBridgeRights, requireRight } from '../guest/option-rights.ts'
import { normalTags, requireTagRights, tagStyle } from '../guest/tags.ts'
import { requireVolume } from '../qemu/drive-check.ts'
import { detachMount, isMount, makeMount, NEW_MOUNT } from './mounts.ts'
import { checkValue } from './option-checks.ts'

const NOT_CONFIG = new Set(
  (
    'node vmid ostemplate storage password ssh-public-keys start pool force restore unique bwlimit ' +
    'ignore-unpack-errors delete revert digest ha-managed'
  ).split(' '),
)

const PRIVILEGES: readonly (readonly [RegExp, string])[] = [
  [/^(cores|cpulimit|cpuunits)$/, 'VM.Config.CPU'],
  [/^(memory|swap)$/, 'VM.Config.Memory'],
  [/^(net\d+|nameserver|searchdomain|hostname)$/, 'VM.Config.Network'],
  [/^(rootfs|mp\d+|unused\d+)$/, 'VM.Config.Disk'],
  [/^features$/, 'VM.Allocate'],
]

/** Options that are not there, and two wishes for the same one. */
export function refuseConflicts({ params }: Call): void {
  const parameters = findOperation('PUT', '/nodes/n/lxc/100/config')?.operation.parameters
  const isOption = (key: string) =>
    /^(parent|snaptime)$/.test(key) || (parameters?.has(key) && !/^(node|vmid|delete|revert|digest)$/.test(key))
  const revert = listed(params.revert)
  for (const key of revert) {
    if (!isOption(key)) throw badParameter('revert', `unknown option '${key}'`)
    if (params[key] !== undefined)
      throw badParameter('revert', `you can't use '-${key}' and '-revert ${key}' at the same time`)
  }
  for (const key of listed(params.delete)) {
    if (!isOption(key)) throw badParameter('delete', `unknown option '${key}'`)
    if (params[key] !== undefined)
      throw badParameter('delete', `you can't use '-${key}' and -delete ${key}' at the same time`)
    if (revert.includes(key))
      throw badParameter('delete', `you can't use '-delete ${key}' and '-revert ${key}' at the same time`)
  }
}

/** Refuses what this identity may not delete or take back. That comes before anybody asks whether there is such an option. */
export function checkDropped(call: Call, guest: Guest): void {
  for (const key of [...listed(call.params.delete), ...listed(call.params.revert)])
    checkOption(call, guest.vmid, key, undefined, guest)
}

/** Refuses what this identity may not set. */
export function checkOptions(call: Call, vmid: number, guest?: Guest, pool?: string): void {
  for (const [key, value] of Object.entries(call.params))
    if (!NOT_CONFIG.has(key)) checkOption(call, vmid, key, value, guest, pool)
}

/** Without a value: the option is deleted. Without a guest: there is none yet. */
function checkOption(
  call: Call,
  vmid: number,
  key: string,
  value: string | undefined,
  guest: Guest | undefined,
  pool?: string,
): void {
  if (call.who.id === 'root@pam') return
  const old = guest?.config.get(key)
  if (key === 'tags') {
    requireTagRights(call, old ?? '', value ?? '')
    return
  }
  refuseRootOnly(key, value, old, isUnprivileged(call, guest))
  if (key === 'features' && onlyNesting(value, old) === undefined) return
  const privilege = PRIVILEGES.find(([pattern]) => pattern.test(key))?.[1] ?? 'VM.Config.Options'
  const has = (path: string) => may(call.world, call.who, path, privilege)
  if (!has(`/vms/${vmid}`) && !(pool !== undefined && has(`/pool/${pool}`)))
    throw forbidden(`/vms/${vmid}, ${privilege}`)
  if (isMount(key) && value !== undefined) checkMountAccess(call, value)
  for (const card of [old, value]) if (card !== undefined) requireBridgeRights(call, key, card)
}

/** A new disk needs room on its storage; one that is there must be a disk that one may use. */
function checkMountAccess(call: Call, value: string): void {
  const { main } = parseProperties(value, 'volume')
  const id = parseVolumeId(main)
  // A number alone is a size on the storage that the call names elsewhere.
  if (id === undefined && !/^\d/.test(main) && call.who.id !== 'root@pam') throw onlyRootNamesPaths()
  if (id === undefined) return
  if (/^\d+(?:\.\d+)?$/.test(id.name)) {
    requireRight(call, `/storage/${id.storage}`, 'Datastore.AllocateSpace')
    return
  }
  const entry = call.world.storages.get(id.storage)
  if (entry === undefined) throw failed(`storage '${id.storage}' does not exist`)
  const unread = entry.files ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) throw failed(unread)
  const content = contentOfName(id.name)
  if (content !== 'images' && content !== 'rootdir')
    throw failed(`unable to use volume ${main} - content type needs to be 'rootdir'`)
  requireVolume(call, main)
}

function isUnprivileged(call: Call, guest: Guest | undefined): boolean {
  return guest === undefined ? call.params.unprivileged !== '0' : guest.config.get('unprivileged') === '1'
}

/** What reaches into the host is for root itself alone. */
function refuseRootOnly(key: string, value: string | undefined, old: string | undefined, unprivileged: boolean): void {
  const only = (what: string) => forbidden(`${what} is only allowed for root@pam`)
  if (/^dev\d+$/.test(key)) throw only('configuring device passthrough')
  if (key === 'hookscript') throw only('changing the hookscript')
  if (isMount(key) && value?.startsWith('/dev/')) throw only('mount point type device')
  if (isMount(key) && value?.startsWith('/')) throw only('mount point type bind')
  if (key !== 'features') return
  if (!unprivileged) throw only('changing feature flags for privileged container')
  if (onlyNesting(value, old) === false) throw only('changing feature flags (except nesting)')
}

/** Undefined: no flag changes. */
function onlyNesting(value: string | undefined, old: string | undefined): boolean | undefined {
  const before = parseProperties(old ?? '').named
  const after = parseProperties(value ?? '').named
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  )
  return changed.length === 0 ? undefined : changed.every((name) => name === 'nesting')
}

/** The configuration of a new container, without its disks. */
export function newConfig(call: Call): Map<string, string> {
  const config = new Map([
    ['arch', 'amd64'],
    ['ostype', 'debian'],
    ['memory', '512'],
    ['swap', '512'],
    ['hostname', `CT${call.params.vmid}`],
    ['unprivileged', '1'],
  ])
  for (const [key, value] of Object.entries(call.params)) {
    if (!NOT_CONFIG.has(key) && !isMount(key)) config.set(key, kept(call, key, value))
  }
  if (config.get('unprivileged') === '0') config.delete('unprivileged')
  return config
}

/** Writes a change. A bridge that is not there is found out last, when all is written: it spoils every later change too. */
export async function changeContainer(call: Call, guest: Guest): Promise<void> {
  const { world, params } = call
  const host = hostOf(call)
  const wanted = Object.entries(params)
    .filter(([key]) => !NOT_CONFIG.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [key, value] of wanted) {
    if (key === 'unprivileged') throw failed("unable to modify read-only option: 'unprivileged'")
    if (isMount(key)) refuseMount(call, guest, key, value)
    checkValue(call, key, value)
  }
  for (const key of listed(params.revert)) {
    guest.pending.delete(key)
    guest.pendingDelete.delete(key)
  }
  for (const key of listed(params.delete)) drop(call, guest, key)
  const work = { log: () => {}, pass: (ms: number) => (ms > 0 ? world.clock.sleep(ms) : Promise.resolve()) }
  const shop = { world, host, vmid: guest.vmid, work, made: [] as string[] }
  for (const [key, value] of wanted) {
    // No new root is made for a container that has one: such a wish is written down as it came.
    const isDisk = isMount(key) && !(key === 'rootfs' && NEW_MOUNT.test(value))
    const text = isDisk ? await makeMount(shop, key, value) : kept(call, key, value)
    if (isDisk) {
      const volid = text.split(',')[0]
      const old = guest.config.get(key)
      // What another disk takes the place of stays, as one that is not used.
      if (old !== undefined && old.split(',')[0] !== volid && guest.run.status !== 'running') detachMount(guest, old)
      for (const [name, unused] of guest.config)
        if (/^unused\d+$/.test(name) && unused === volid) guest.config.delete(name)
    }
    guest.pendingDelete.delete(key)
    guest.pending.delete(key)
    if (changesLive(guest, key)) guest.config.set(key, text)
    else if (guest.config.get(key) !== text) guest.pending.set(key, text)
  }
  touch(guest)
  noteSeen(world, guest)
  for (const [key, value] of guest.config) {
    const bridge = /^net\d+$/.test(key) ? parseProperties(value).named.get('bridge') : undefined
    if (bridge !== undefined && !host.interfaces.has(bridge)) throw failed(`bridge '${bridge}' does not exist`)
  }
}

/** A disk stays as it is while its container is protected, and lies where containers may have theirs. */
function refuseMount(call: Call, guest: Guest, key: string, value: string): void {
  if (guest.config.get('protection') === '1')
    throw failed(`can't update CT ${guest.vmid} drive '${key}' - protection mode enabled`)
  const id = parseVolumeId(parseProperties(value, 'volume').main)?.storage
  if (id === undefined) return
  const entry = call.world.storages.get(id)
  if (entry === undefined) throw failed(`storage '${id}' does not exist`)
  if (!entry.content.includes('rootdir'))
    throw failed(`storage '${id}' does not allow content type 'rootdir' (Container)`)
}

/** What a running container takes over at once; everything else waits for its next start. */
const AT_ONCE =
  /^(description|onboot|startup|protection|hostname|hookscript|cores|tags|lock|memory|swap|cpulimit|cpuunits|net\d+|unused\d+|template)$/

function changesLive(guest: Guest, key: string): boolean {
  if (guest.run.status !== 'running' || AT_ONCE.test(key)) return true
  return /^mp\d+$/.test(key) && !guest.config.has(key)
}

function drop(call: Call, guest: Guest, key: string): void {
  const value = guest.config.get(key)
  if (/^(memory|rootfs|ostype)$/.test(key)) throw failed(`unable to delete required option '${key}'`)
  if (key === 'unprivileged') throw failed("unable to delete read-only option: 'unprivileged'")
  if (value === undefined) return
  const disk = isMount(key) || /^unused\d+$/.test(key)
  if (disk && guest.config.get('protection') === '1')
    throw failed(`can't remove CT ${guest.vmid} drive '${key}' - protection mode enabled`)
  guest.pending.delete(key)
  if (guest.run.status === 'running' && !AT_ONCE.test(key)) {
    guest.pendingDelete.add(key)
    return
  }
  guest.config.delete(key)
  if (isMount(key)) detachMount(guest, value)
  else if (disk) freeVolume(hostOf(call), value)
}

function kept(call: Call, key: string, value: string): string {
  if (key === 'tags') return normalTags(value, tagStyle(call.world))
  if (!/^net\d+$/.test(key)) return value
  const { named } = parseProperties(value)
  if (!named.has('hwaddr')) named.set('hwaddr', macAddress(call.world.random))
  named.set('type', 'veth')
  const name = named.get('name')
  named.delete('name')
  return [
    `name=${name}`,
    ...[...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([one, text]) => `${one}=${text}`),
  ].join(',')
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((key) => key !== '')
}
