import type { SecretReference } from './secret.ts'

/**
 * One declared detail of a host: a package, a file, a line, a user. Each is checked and applied separately and is
 * idempotent. `name` is unique among the items of its type on a host.
 */
export type HostItem =
  | TypedItem<'package', { readonly version?: string; readonly absent?: boolean }>
  | TypedItem<
      'apt-repository',
      {
        readonly uris: readonly string[]
        readonly suites: readonly string[]
        readonly components: readonly string[]
        readonly architectures?: readonly string[]
        /** The key in ASCII armour; by default the system's own keys. */
        readonly key?: string
      }
    >
  | TypedItem<'file', FileContent & FileRights & { readonly absent?: boolean; readonly restart?: readonly string[] }>
  /** `name` is the link to the download. */
  | TypedItem<
      'fetch',
      {
        readonly url: string
        readonly sha256: string
        /** Names its folder beside those of other versions; by default the checksum does. */
        readonly version?: string
        readonly mode?: number
        readonly archive?: boolean
        /** The archive's file for the link; by default the whole archive. */
        readonly member?: string
        readonly absent?: boolean
      }
    >
  | TypedItem<
      'command',
      {
        readonly run: readonly string[]
        readonly creates?: string
        readonly unless?: readonly string[]
        readonly directory?: string
        readonly timeoutSeconds?: number
      }
    >
  | TypedItem<'directory', FileRights & { readonly absent?: boolean }>
  /** `name` is path and line together; `match`: replaces a line with this prefix. */
  | TypedItem<
      'line',
      { readonly path: string; readonly line: string; readonly match?: string; readonly absent?: boolean }
    >
  | TypedItem<
      'block',
      { readonly path: string; readonly block: string; readonly content: string; readonly absent?: boolean }
    >
  | TypedItem<
      'user',
      {
        readonly uid?: number
        readonly groups: readonly string[]
        readonly shell?: string
        readonly home?: string
        readonly system?: boolean
        readonly keys?: readonly string[]
        readonly sudo?: boolean
        readonly absent?: boolean
      }
    >
  | TypedItem<'sshd', { readonly settings: Readonly<Record<string, string>> }>
  | TypedItem<'sysctl', { readonly value: string }>
  | TypedItem<'module', { readonly absent?: boolean; readonly options?: string }>
  | TypedItem<'kernel-args', { readonly args: readonly string[]; readonly remove: readonly string[] }>
  | TypedItem<'vfio', { readonly ids: readonly string[]; readonly blacklist: readonly string[] }>
  | TypedItem<'udev', { readonly rules: string }>
  | TypedItem<'coral', { readonly bus: 'usb' | 'pcie' }>
  | TypedItem<
      'unit',
      {
        readonly content?: string
        readonly dropIn?: string
        readonly enabled?: boolean
        readonly state?: 'started' | 'stopped'
        readonly masked?: boolean
      }
    >
  | TypedItem<
      'mount',
      {
        readonly device: string
        readonly fs: string
        readonly options: string
        readonly mounted: boolean
        readonly required?: true
      }
    >
  | TypedItem<
      'btrfs',
      { readonly device: string; readonly label?: string; readonly subvolumes: readonly string[] } & Destroys
    >
  | TypedItem<
      'zpool',
      {
        readonly vdevs: readonly {
          readonly type: 'disk' | 'mirror' | 'raidz1' | 'raidz2'
          readonly devices: readonly string[]
        }[]
        readonly properties: Readonly<Record<string, string>>
        readonly import?: boolean
      } & Destroys
    >
  | TypedItem<'zfs-dataset', { readonly properties: Readonly<Record<string, string>> }>
  | TypedItem<'ceph-disk', Destroys>
  | TypedItem<
      'network-address',
      {
        readonly manager: 'networkmanager' | 'netplan' | 'ifupdown'
        readonly interface: string
        readonly addresses: readonly string[]
        readonly gateway4?: string
        readonly gateway6?: string
        readonly dns: readonly string[]
        /** Must answer after the change, or the change is reverted. */
        readonly reach?: string
      }
    >
  | TypedItem<'hosts', { readonly entries: readonly { readonly address: string; readonly names: readonly string[] }[] }>
  | TypedItem<'dns', { readonly servers: readonly string[]; readonly search: readonly string[] }>
  | TypedItem<'time', { readonly timezone?: string; readonly servers: readonly string[] }>
  | TypedItem<'hostname', { readonly hostname: string }>
  | TypedItem<'node-exporter', { readonly listen: string; readonly collectors: readonly string[] }>

interface TypedItem<Type extends string, Spec> {
  readonly type: Type
  readonly name: string
  readonly spec: Spec
}

/** Erases the disk. croft never guesses which: the person declares its serial number. */
export interface Destroys {
  /** Serial numbers of the disks that may be erased, as `croft host devices` shows them. */
  readonly erase?: readonly string[]
}

export interface FileRights {
  readonly mode?: number
  readonly owner?: string
  readonly group?: string
}

/** The content of a file: text in Git, or a secret. */
export interface FileContent {
  readonly content?: string
  readonly secret?: SecretReference
}

export type HostItemType = HostItem['type']
export type HostItemOf<Type extends HostItemType> = Extract<HostItem, { readonly type: Type }>

/** An item on one host, with the host's permissions. */
export interface WantedItem {
  readonly host: string
  readonly item: HostItem
  /** Whether the host may be restarted if only that makes the item effective. */
  readonly reboot: 'allowed' | 'refused'
}

/** Returns an item's name on its host: `file:/etc/motd`. */
export function itemId(item: HostItem): string {
  return `${item.type}:${item.name}`
}

/**
 * The first lines of croft's programs for hosts, which identify them: for a person who sees one in a process list, and
 * for the simulator, which answers them instead of running them.
 */
export const HOST_PROGRAMS = {
  probe: '# croft: looks at this host',
  batch: '# croft: changes this host',
  arm: '# croft: takes a change back unless it is confirmed',
  disarm: '# croft: keeps a change',
  reboot: '# croft: restarts this host',
  edit: '# croft: changes lines of a file',
  keep: '# croft: copies files before it changes them',
  putBack: '# croft: puts files back',
  home: '# croft: writes below a home, as its user',
  login: '# croft: looks whether anybody can still log in',
} as const
