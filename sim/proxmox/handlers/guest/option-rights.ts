import { may } from '../../../world/access.ts'
import { isCdrom, isDrive, isUnused } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import { failed, forbidden } from '../../api-error.ts'
import type { Call } from '../../call.ts'

/** A token is never root here, not even one of root's own. */
export function refuseRootOnly(
  call: Call,
  key: string,
  value: string | undefined,
  current?: string,
  deed: 'set' | 'modify' | 'delete' = 'set',
): void {
  if (call.who.id === 'root@pam') return
  if (!FOR_USERS.some((pattern) => pattern.test(key))) throw failed(`only root can set '${key}' config`)
  const text = value ?? current ?? ''
  if (/^hostpci\d+$/.test(key) && text !== '') {
    const { main, named } = parseProperties(text)
    if (main !== '' || named.has('host')) throw failed(`only root can set '${key}' config for non-mapped devices`)
    if (!named.has('mapping')) throw failed("either 'host' or 'mapping' must be set.")
  }
  if (/^usb\d+$/.test(key) && /(^|,)host=|^[0-9a-fA-F]{4}:|^\d+-/.test(text)) {
    throw failed(`only root can set '${key}' config for real devices`)
  }
  if (/^serial\d+$/.test(key) && [value, current].some((port) => port !== undefined && port !== 'socket')) {
    throw failed(`only root can ${deed} '${key}' config for real devices`)
  }
}

const PRIVILEGES: readonly (readonly [RegExp, string])[] = [
  [/^(cores|sockets|vcpus|cpu|runningcpu|cpulimit|cpuunits|numa\d*)$/, 'VM.Config.CPU'],
  [/^(memory|balloon|shares|allow-ksm)$/, 'VM.Config.Memory'],
  [/^(net\d+|running-nets-host-mtu)$/, 'VM.Config.Network'],
  [/^freeze$/, 'VM.PowerMgmt'],
  [/^(ci(user|password|custom|type|upgrade)|sshkeys|nameserver|searchdomain|ipconfig\d+)$/, 'VM.Config.Cloudinit'],
  [/^(boot|bootdisk|vmstatestorage|vmstate)$/, 'VM.Config.Disk'],
  [
    /^(agent|autostart|bios|description|keyboard|localtime|migrate_downtime|migrate_speed|name|onboot|ostype|protection|reboot|startdate|startup|tags|tdf|template)$/,
    'VM.Config.Options',
  ],
]

/** Options that users other than root may set with the privilege. Only root sets an option that is in no group. */
const FOR_USERS: readonly RegExp[] = [
  ...PRIVILEGES.map(([pattern]) => pattern),
  /^(acpi|hotplug|kvm|machine|runningmachine|scsihw|smbios1|tablet|vga|watchdog|audio0|rng0)$/,
  /^(cdrom|(ide|sata|scsi|virtio|efidisk|tpmstate|unused|serial|usb|hostpci|virtiofs)\d+)$/,
]

/** Options whose rights depend on what they hold or held: they are asked for once the guest is read. */
export const BY_VALUE =
  /^(?:cdrom|tags|(?:ide|sata|scsi|virtio|efidisk|tpmstate|unused|serial|usb|hostpci|virtiofs)\d+)$/

/** Every option needs the privilege of its group, on the guest or on the pool that it is made in. */
export function requireOptionRights(call: Call, vmid: number, key: string, value: string, pool?: string): void {
  const mapped = MAPPED.find(({ slot }) => slot.test(key))
  const { main, named } = parseProperties(value, mapped?.kind === 'dir' ? mapped.key : undefined)
  const said = mapped?.kind === 'dir' ? main : named.get('mapping')
  const requireMapping = () => {
    if (mapped !== undefined && said !== undefined) requireRight(call, `/mapping/${mapped.kind}/${said}`, 'Mapping.Use')
  }
  if (mapped?.kind === 'pci') requireMapping()
  requirePrivilege(call, vmid, key, value, pool)
  requireMapping()
  // What changes the host itself.
  if (key === 'startup') requireRight(call, '/', 'Sys.Modify')
  if (key === 'rng0' && /(^|,)(source=)?\/dev\/hwrng(,|$)/.test(value))
    requireRight(call, '/mapping/hwrng', 'Mapping.Use')
}

function requirePrivilege(call: Call, vmid: number, key: string, value: string, pool?: string): void {
  const { world, who } = call
  for (const enough of privilegesFor(key, value)) {
    const has = (path: string) => enough.some((privilege) => may(world, who, path, privilege))
    if (!has(`/vms/${vmid}`) && !(pool !== undefined && has(`/pool/${pool}`)))
      throw forbidden(`/vms/${vmid}, ${enough.join('|')}`)
  }
}

/** Rights on what a slot holds: root's own devices, and what is shared by name. */
export function requireSlotRights(
  call: Call,
  vmid: number,
  key: string,
  value: string,
  deed: { readonly old?: string; readonly verb: 'set' | 'modify' | 'delete'; readonly pool?: string },
): void {
  if (call.who.id === 'root@pam') return
  if (key.startsWith('usb')) requirePrivilege(call, vmid, key, value, deed.pool)
  refuseRootOnly(call, key, value, deed.old, deed.verb)
  requireOptionRights(call, vmid, key, value, deed.pool)
}

/** Slots that may hold something of the host by the name it was given. */
const MAPPED = [
  { slot: /^hostpci\d+$/, kind: 'pci', key: 'mapping' },
  { slot: /^usb\d+$/, kind: 'usb', key: 'mapping' },
  { slot: /^virtiofs\d+$/, kind: 'dir', key: 'dirid' },
] as const

export function requireRight(call: Call, path: string, privilege: string): void {
  if (!may(call.world, call.who, path, privilege)) throw forbidden(`${path}, ${privilege}`)
}

/** A card may only be put on a bridge that one may use. */
export function requireBridgeRights(call: Call, key: string, value: string): void {
  if (!/^net\d+$/.test(key)) return
  const { named } = parseProperties(value)
  const bridge = named.get('bridge')
  if (bridge === undefined) return
  const tag = named.get('tag')
  const path = `/sdn/zones/localnetwork/${bridge}${tag === undefined ? '' : `/${tag}`}`
  requireRight(call, path, 'SDN.Use')
}

/** One of each list is needed. */
function privilegesFor(key: string, value: string): readonly (readonly string[])[] {
  if (isDrive(key)) {
    if (/:cloudinit(,|$)|cloudinit\.[a-z0-9]+(,|$)|-cloudinit(,|$)/.test(value))
      return [['VM.Config.Cloudinit'], ['VM.Config.CDROM']]
    return [[isCdrom(value) ? 'VM.Config.CDROM' : 'VM.Config.Disk']]
  }
  if (isUnused(key) || /^virtiofs\d+$/.test(key)) return [['VM.Config.Disk']]
  if (key === 'vmstate') return [['VM.Config.Disk'], ['VM.PowerMgmt']]
  const privilege = PRIVILEGES.find(([pattern]) => pattern.test(key))?.[1] ?? 'VM.Config.HWType'
  return [privilege === 'VM.Config.Cloudinit' ? [privilege, 'VM.Config.Network'] : [privilege]]
}
