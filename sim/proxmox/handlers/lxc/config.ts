import { may } from '../../../world/access.ts'
import { macAddress } from '../../../world/chance.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import { touch } from '../../../world/guest-config.ts'
import { noteSeen } from '../../../world/guest-run.ts'
import { PowerLost } from '../../../world/locks.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'
import { contentOfName, findVolume, freeVolume, parseVolumeId } from '../../../world/volumes.ts'
import { badParameter, badParameters, failed, forbidden, onlyRootNamesPaths } from '../../api-error.ts'
import { type Call, hostOf } from '../../call.ts'
import { findOperation } from '../../validate/operations.ts'
import { requireBridgeRights, requireRight } from '../guest/option-rights.ts'
import { cpuShares } from '../guest/option-values.ts'
import { normalTags, requireTagRights, tagStyle } from '../guest/tags.ts'
import { requireVolume } from '../qemu/drive-check.ts'
import type { Workshop } from '../qemu/workshop.ts'
import { idMapProblem } from './id-map.ts'
import { detachMount, isMount, makeMount } from './mounts.ts'
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
  [/^(rootfs|mp\d+)$/, 'VM.Config.Disk'],
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
    requireTagRights(call, vmid, old ?? '', value ?? '')
    return
  }
  refuseRootOnly(key, value, old, isUnprivileged(call, guest))
  if (key === 'features' && onlyNesting(value, old) === undefined) return
  const privilege = PRIVILEGES.find(([pattern]) => pattern.test(key))?.[1] ?? 'VM.Config.Options'
  const has = (path: string) => may(call.world, call.who, path, privilege)
  if (!has(`/vms/${vmid}`) && !(pool !== undefined && has(`/pool/${pool}`)))
    throw forbidden(`/vms/${vmid}, ${privilege}`)
  if (isMount(key) && value !== undefined) {
    if (value.startsWith('/')) throw rootOnly(`mount point type ${value.startsWith('/dev/') ? 'device' : 'bind'}`)
    checkMountAccess(call, value)
  }
  for (const card of [old, value]) if (card !== undefined) requireBridgeRights(call, key, card)
}

/** A new disk needs room on its storage; one that is there must be a disk that one may use. */
function checkMountAccess(call: Call, value: string): void {
  const { main } = parseProperties(value, 'volume')
  const id = parseVolumeId(main)
  if (id === undefined) throw onlyRootNamesPaths()
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
  if (/^dev\d+$/.test(key)) throw rootOnly('configuring device passthrough')
  if (key === 'hookscript') throw rootOnly('changing the hookscript')
  if (key !== 'features') return
  if (!unprivileged) throw rootOnly('changing feature flags for privileged container')
  if (onlyNesting(value, old) === false) throw rootOnly('changing feature flags (except nesting)')
}

const rootOnly = (what: string) => forbidden(`${what} is only allowed for root@pam`)

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
    ...givenOptions(call),
  ])
  if (call.params.unprivileged === '0') config.delete('unprivileged')
  return config
}

/** Returns the options of a container in a call, without its disks. A new container has no unused volumes. */
export function givenOptions(call: Call): [string, string][] {
  return Object.entries(call.params).flatMap(([key, value]) => {
    const isLeftOut = NOT_CONFIG.has(key) || isMount(key) || key === 'unprivileged' || /^unused\d+$/.test(key)
    return isLeftOut ? [] : [[key, kept(call, key, value)] as [string, string]]
  })
}

/** Writes a change. A bridge that is not there is found out last, when all is written: it spoils every later change too. */
export async function changeContainer(call: Call, guest: Guest): Promise<void> {
  const { world, params } = call
  const host = hostOf(call)
  const wanted = Object.entries(params)
    .filter(([key]) => !NOT_CONFIG.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // Everything is asked before anything is written: what goes first, then what comes.
  const doomed = listed(params.delete).filter((key) => guest.config.has(key) || guest.pending.has(key))
  for (const key of doomed) refuseDrop(guest, key)
  for (const [key, value] of wanted) {
    if (key === 'unprivileged') throw failed("unable to modify read-only option: 'unprivileged'")
    if (isMount(key)) refuseMount(call, guest, key, value)
    checkValue(call, key, value)
  }
  const work = { log: () => {}, pass: (ms: number) => (ms > 0 ? world.clock.sleep(ms) : Promise.resolve()) }
  const shop = { world, host, vmid: guest.vmid, work, made: [] as string[] }
  const made = await madeMounts(shop, guest, wanted)
  for (const key of listed(params.revert)) {
    guest.pending.delete(key)
    guest.pendingDelete.delete(key)
  }
  for (const key of doomed) drop(call, guest, key)
  for (const [key, value] of wanted) {
    const mount = made.get(key)
    const text = mount ?? kept(call, key, value)
    if (mount !== undefined) {
      const volid = text.split(',')[0]
      const old = guest.config.get(key)
      // What another disk takes the place of stays, as one that is not used.
      if (old !== undefined && old.split(',')[0] !== volid && guest.run.status !== 'running') detachMount(guest, old)
      for (const [name, unused] of guest.config)
        if (/^unused\d+$/.test(name) && unused === volid) guest.config.delete(name)
    }
    guest.pendingDelete.delete(key)
    guest.pending.delete(key)
    if (takesAtOnce(guest, key)) setOrDrop(guest, key, text)
    else if (guest.config.get(key) !== text) guest.pending.set(key, text)
  }
  // A mounted volume is not unused, even if an entry lists it.
  for (const [key, value] of guest.config)
    if (/^unused\d+$/.test(key) && isMounted(guest.config, value)) guest.config.delete(key)
  touch(guest)
  noteSeen(world, guest)
  for (const [key, value] of guest.config) {
    // A card on no bridge is looked for on one without a name.
    const bridge = /^net\d+$/.test(key) ? (parseProperties(value).named.get('bridge') ?? '') : undefined
    if (bridge !== undefined && !host.interfaces.has(bridge)) throw failed(`bridge '${bridge}' does not exist`)
  }
}

/** Empty notes are no lines in the file. */
function setOrDrop(guest: Guest, key: string, text: string): void {
  if (key === 'description' && text === '') guest.config.delete(key)
  else guest.config.set(key, text)
}

/** New disks. One that cannot be made takes the whole change with it, and the others are thrown away again. */
async function madeMounts(
  shop: Workshop,
  guest: Guest,
  wanted: readonly (readonly [string, string])[],
): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, string>()
  const problems: Record<string, string> = {}
  for (const [key, value] of wanted) {
    // A new root disk is neither made nor checked: the value is stored as given.
    if (!isMount(key) || key === 'rootfs') continue
    // What is to take the place of a disk in use waits, as it came, for the next start.
    if (guest.run.status === 'running' && guest.config.has(key)) continue
    try {
      made.set(key, await makeMount(shop, key, value))
    } catch (error) {
      if (error instanceof PowerLost) throw error
      const why = `${error instanceof Error ? error.message : String(error)}\n`
      const running = guest.run.status === 'running'
      problems[key] = running ? `unable to hotplug ${key}: ${why}` : `unable to apply pending change ${key} : ${why}`
    }
  }
  if (Object.keys(problems).length === 0) return made
  for (const volid of shop.made) freeVolume(shop.host, volid)
  throw badParameters(problems)
}

/** A disk stays as it is while its container is protected, and lies where containers may have theirs. */
function refuseMount(call: Call, guest: Guest, key: string, value: string): void {
  if (guest.config.get('protection') === '1')
    throw failed(`can't update CT ${guest.vmid} drive '${key}' - protection mode enabled`)
  const id = parseVolumeId(parseProperties(value, 'volume').main)?.storage
  const entry = call.world.storages.get(id ?? '')
  if (id !== undefined && entry === undefined) throw failed(`storage '${id}' does not exist`)
  if (entry !== undefined && !entry.content.includes('rootdir'))
    throw failed(`storage '${id}' does not allow content type 'rootdir' (Container)`)
  const problem = idMapProblem(parseProperties(value, 'volume').named.get('idmap') ?? 'passthrough')
  if (problem !== undefined) throw failed(problem)
}

/** What a running container takes over at once; everything else waits for its next start. */
const AT_ONCE =
  /^(description|onboot|startup|protection|hostname|hookscript|cores|tags|lock|memory|swap|cpulimit|cpuunits|net\d+)$/
const GOES_AT_ONCE =
  /^(description|onboot|startup|protection|hostname|hookscript|cores|tags|lock|swap|cpulimit|cpuunits|net\d|unused\d+)$/

function takesAtOnce(guest: Guest, key: string): boolean {
  if (guest.run.status !== 'running' || AT_ONCE.test(key)) return true
  return /^(mp|dev)\d+$/.test(key) && !guest.config.has(key)
}

function refuseDrop(guest: Guest, key: string): void {
  if (/^(memory|rootfs|ostype)$/.test(key)) throw failed(`unable to delete required option '${key}'`)
  if (key === 'unprivileged') throw failed("unable to delete read-only option: 'unprivileged'")
  if (/^(mp|unused)\d+$/.test(key) && guest.config.get('protection') === '1')
    throw failed(`can't remove CT ${guest.vmid} drive '${key}' - protection mode enabled`)
}

function drop(call: Call, guest: Guest, key: string): void {
  const value = guest.config.get(key)
  guest.pending.delete(key)
  if (value === undefined) return
  if (guest.run.status === 'running' && !GOES_AT_ONCE.test(key)) {
    guest.pendingDelete.add(key)
    return
  }
  guest.config.delete(key)
  if (isMount(key)) detachMount(guest, value)
  else if (/^unused\d+$/.test(key) && !isUsed(guest, value)) freeOwn(call, guest, value)
}

/** Mounted now, at the next start or in an earlier state. */
function isUsed(guest: Guest, volid: string): boolean {
  const configs = [guest.config, guest.pending, ...[...guest.snapshots.values()].map(({ config }) => config)]
  return configs.some((config) => isMounted(config, volid))
}

function isMounted(config: ReadonlyMap<string, string>, volid: string): boolean {
  return [...config].some(([key, value]) => isMount(key) && parseProperties(value, 'volume').main === volid)
}

function freeOwn(call: Call, guest: Guest, volid: string): void {
  const volume = findVolume(hostOf(call), volid)
  if (volume?.vmid === guest.vmid) freeVolume(hostOf(call), volid)
}

function kept(call: Call, key: string, value: string): string {
  if (key === 'tags') return normalTags(value, tagStyle(call.world))
  if (key === 'nameserver' || key === 'searchdomain') return listed(value).join(' ')
  if (key === 'cpuunits') return cpuShares(value)
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
