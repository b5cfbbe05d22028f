import type { Origin } from './declaration.ts'

/** A thing that exists before croft starts, and its place in the description. Without a place every site has it. */
export interface SitePart {
  readonly name: string
  readonly from?: Origin
}

export interface SiteHost extends SitePart {
  readonly address?: string
  readonly cpus?: number
  readonly memoryBytes?: number
  readonly bridges: readonly SitePart[]
  /** Network cards, without the one that the host itself uses. */
  readonly cards: readonly SitePart[]
  readonly pci: readonly SiteDevice[]
  readonly usb: readonly SiteDevice[]
}

/** A device of a host: its name is the slot (`0000:01:00`) or the port (`1-2`). */
export interface SiteDevice extends SitePart {
  /** `10de:2484`. */
  readonly id: string
}

export interface SiteStorage extends SitePart {
  readonly type: string
  /** Its allowed content. Absent: the default of its type. */
  readonly content?: readonly string[]
  readonly bytes?: number
  readonly shared?: boolean
  /** Hosts that have it. Absent: all. */
  readonly hosts?: readonly string[]
}

export interface SiteGuest extends SitePart {
  readonly vmid: number
  readonly type: 'qemu' | 'lxc'
  readonly host: string
  readonly template?: boolean
  readonly running?: boolean
  /** Lines of its configuration, without name and disks. */
  readonly config: Readonly<Record<string, string>>
  /** By configuration line: `scsi0`, `rootfs`. */
  readonly disks: Readonly<Record<string, { readonly storage: string; readonly gib: number }>>
}

/** A file on a storage of a host; its name is `import/noble.qcow2`. */
export interface SiteFile extends SitePart {
  readonly storage: string
  readonly host: string
}

/** The description of a datacentre, from which the simulator is filled. */
export interface Site {
  readonly hosts: readonly SiteHost[]
  readonly storages: readonly SiteStorage[]
  readonly pools: readonly SitePart[]
  readonly guests: readonly SiteGuest[]
  readonly files: readonly SiteFile[]
}
