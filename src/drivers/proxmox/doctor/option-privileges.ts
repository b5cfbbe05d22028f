import { parseProperties } from '../property-string.ts'

const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^(?:cores|cpu|cpulimit|cpuunits|numa\d*|sockets|vcpus)$/, 'VM.Config.CPU'],
  [/^(?:memory|balloon|shares|allow-ksm)$/, 'VM.Config.Memory'],
  [
    /^(?:acpi|hotplug|kvm|machine|scsihw|smbios1|tablet|vga|watchdog|audio0|rng0|serial\d+|usb\d+|hostpci\d+)$/,
    'VM.Config.HWType',
  ],
  [
    /^(?:agent|autostart|bios|description|keyboard|localtime|migrate_\w+|name|onboot|ostype|protection|reboot|startdate|startup|tags|tdf|template)$/,
    'VM.Config.Options',
  ],
  [/^freeze$/, 'VM.PowerMgmt'],
  [/^(?:boot|bootdisk|vmstatestorage|virtiofs\d+|unused\d+)$/, 'VM.Config.Disk'],
  [/^net\d+$/, 'VM.Config.Network'],
]
const CLOUD_INIT = /^(?:ci(?:custom|password|type|user|upgrade)|nameserver|searchdomain|sshkeys|ipconfig\d+)$/
const DRIVE = /^(?:(?:ide|sata|scsi|virtio)\d+|efidisk0|tpmstate0)$/
const ROOT_ONLY =
  /^(?:args|affinity|hugepages|arch|hookscript|parallel\d+|spice_enhancements|vmgenid|ivshmem|amd-sev|lock)$/

/** The privileges that a VM option needs: one of each inner list. `guest` replaces the guest's own path. */
export interface OptionNeeds {
  /** Privileges on the guest, or on the pool for its creation. */
  readonly guest: readonly (readonly string[])[]
  /** Privileges elsewhere, as `/path Privilege`. */
  readonly elsewhere: readonly (readonly string[])[]
  readonly rootOnly?: true
}

/** Returns the privilege that lets a token write `name: value` into a VM's configuration, by the daemon's groups. */
export function needsOfOption(name: string, value: string, zoneOf: (bridge: string) => string): OptionNeeds {
  if (ROOT_ONLY.test(name) || isRawDevice(name, value)) return { guest: [], elsewhere: [], rootOnly: true }
  if (DRIVE.test(name)) return needsOfDrive(value)
  if (CLOUD_INIT.test(name)) {
    const files = name === 'cicustom' ? [...parseProperties(value, '').values()].flatMap(storageOf).map(sees) : []
    return { guest: [['VM.Config.Cloudinit', 'VM.Config.Network']], elsewhere: files }
  }
  const group = GROUPS.find(([pattern]) => pattern.test(name))?.[1]
  // An option that the table lacks counts as root's.
  if (group === undefined) return { guest: [], elsewhere: [], rootOnly: true }
  return { guest: [[group]], elsewhere: elsewhereOf(name, value, zoneOf) }
}

function elsewhereOf(name: string, value: string, zoneOf: (bridge: string) => string): (readonly string[])[] {
  // It changes the host's boot.
  if (name === 'startup') return [['/ Sys.Modify']]
  if (name === 'vmstatestorage') return [[`/storage/${value} Datastore.AllocateSpace`]]
  if (/^net\d+$/.test(name)) return bridgePaths(value, zoneOf).map((path) => [`${path} SDN.Use`])
  const mapping = /^(?:usb|hostpci)\d+$/.test(name) ? parseProperties(value, 'host').get('mapping') : undefined
  if (mapping !== undefined) return [[`/mapping/${name.startsWith('usb') ? 'usb' : 'pci'}/${mapping} Mapping.Use`]]
  const directory = name.startsWith('virtiofs') ? parseProperties(value, 'dirid').get('dirid') : undefined
  return directory === undefined ? [] : [[`/mapping/dir/${directory} Mapping.Use`]]
}

/** A card in one VLAN needs the right for that VLAN only; one with a trunk needs the whole bridge. */
export function bridgePaths(value: string, zoneOf: (bridge: string) => string): string[] {
  const card = parseProperties(value, 'model')
  const bridge = card.get('bridge')
  if (bridge === undefined) return []
  const path = `/sdn/zones/${zoneOf(bridge)}/${bridge}`
  const tag = card.get('tag')
  const trunks = (card.get('trunks') ?? '').split(';').filter((part) => part !== '')
  if (trunks.length > 0) return [path]
  return [tag === undefined ? path : `${path}/${tag}`]
}

function needsOfDrive(value: string): OptionNeeds {
  const drive = parseProperties(value, 'file')
  const file = drive.get('file') ?? ''
  const [storage] = storageOf(file)
  const cloudInit = /(?:^|:|\/)(?:vm-\d+-)?cloudinit(?:\.\w+)?$/.test(file)
  const fresh = /^[^:/]+:\d+(?:\.\d+)?$/.test(file) || file.endsWith(':cloudinit')
  const elsewhere: (readonly string[])[] = []
  if (storage !== undefined && fresh) elsewhere.push([`/storage/${storage} Datastore.AllocateSpace`])
  const media = drive.get('media') === 'cdrom'
  if (storage !== undefined && !fresh && media && !cloudInit) elsewhere.push(sees(storage))
  const source = drive.get('import-from')
  if (source !== undefined) elsewhere.push(...readsFrom(source))
  if (cloudInit) return { guest: [['VM.Config.Cloudinit'], ['VM.Config.CDROM']], elsewhere }
  return { guest: [[media ? 'VM.Config.CDROM' : 'VM.Config.Disk']], elsewhere }
}

function readsFrom(source: string): (readonly string[])[] {
  const owner = /(?:^|[:/])(?:vm|base)-(\d+)-/.exec(source)?.[1]
  if (owner !== undefined) return [[`/vms/${owner} VM.Clone`]]
  return storageOf(source).map(sees)
}

/** A user who may allocate on a storage may also see it. */
export function sees(storage: string): readonly string[] {
  return [`/storage/${storage} Datastore.Audit`, `/storage/${storage} Datastore.AllocateSpace`]
}

export function storageOf(volume: string): string[] {
  const colon = volume.indexOf(':')
  return colon > 0 ? [volume.slice(0, colon)] : []
}

/** Reports whether it is a host's device without a mapping. */
export function isRawDevice(name: string, value: string): boolean {
  if (/^hostpci\d+$/.test(name)) return parseProperties(value, 'host').get('mapping') === undefined
  if (/^usb\d+$/.test(name)) {
    const usb = parseProperties(value, 'host')
    return usb.get('mapping') === undefined && usb.get('host') !== 'spice'
  }
  return /^serial\d+$/.test(name) && value !== 'socket'
}
