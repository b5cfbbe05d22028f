import type { SecretReference } from './secret.ts'

/** The common fields of a virtual machine and a container. An absent field is not declared. */
export interface GuestBasics {
  readonly host: string
  /** Why a guest on another host is moved to this one; absent: croft follows it there. */
  readonly moveHere?: MoveHere
  /** The hypervisor's number of it; if undeclared, chosen from the connection's range. */
  readonly vmid?: number
  readonly name: string
  readonly power?: 'running' | 'stopped'
  /** `never`: croft writes changes that need a restart, and waits until a person restarts the guest. */
  readonly restart?: 'never'
  readonly template?: boolean
  readonly onBoot?: boolean
  readonly startup?: { readonly order?: number; readonly upSeconds?: number; readonly downSeconds?: number }
  readonly protection?: boolean
  readonly pool?: string
  readonly tags?: readonly string[]
  readonly description?: string
  readonly osType?: string
}

/** Why a guest must move here, and what blocks the move. */
export interface MoveHere {
  readonly why: string
  /** A person requested it once; the declaration stays, and croft then follows the guest. */
  readonly once?: true
  readonly blocked?: { readonly message: string; readonly allow: string }
}

/** A value common to YAML and JSON. */
export type Tree = null | boolean | number | string | readonly Tree[] | TreeMap
export interface TreeMap {
  readonly [key: string]: Tree
}

/**
 * What a guest reads at its first boot, in the format of cloud-init's NoCloud source. A map with the one key
 * `valueFrom` refers to a secret: its value is inserted only when the image is built.
 */
export interface SeedDocument {
  readonly userData: TreeMap
  /** Contains `instance-id`: while it is unchanged, cloud-init does not run again. */
  readonly metaData: TreeMap
  readonly networkConfig?: TreeMap
}

/** A document for a machine's first boot, and how it gets there. */
export interface VmSeed {
  readonly document: SeedDocument
  /** Hash of the document with its references; a changed secret value does not change it. */
  readonly hash: string
  /** What a changed document does to a machine that has already read another one. */
  readonly onChange: 'ignore' | 'rerun' | 'replace'
  /** The drive for the image. */
  readonly slot: string
  /** Storage of the image until it was read; by default one of the host's. */
  readonly storage?: string
  /** Storages for the choice if none is declared, as a grant lists them. Absent: any of the host's. */
  readonly storages?: readonly string[]
  /** Without an agent the time of the read is unknown: the image is removed after this time. */
  readonly removeAfterSeconds: number
}

/** Returns the tree under `valueFrom` in a place that a secret fills. */
export function valueFrom(tree: Tree): Tree | undefined {
  if (tree === null || typeof tree !== 'object' || Array.isArray(tree)) return undefined
  const keys = Object.keys(tree)
  return keys.length === 1 && keys[0] === 'valueFrom' ? (tree as TreeMap).valueFrom : undefined
}

/**
 * A virtual machine as declared, the same for every hypervisor. An absent field is not declared and not compared: croft
 * changes what Git says and leaves the rest alone.
 */
export interface VmSpec extends GuestBasics {
  /** The guest to clone instead of creating an empty one. Used only at creation. */
  readonly clone?: VmClone
  readonly cpu?: VmCpu
  readonly memory?: VmMemory
  readonly machine?: string
  readonly bios?: 'seabios' | 'ovmf'
  readonly scsiHardware?: string
  readonly acpi?: boolean
  /** Devices that can be plugged while it runs: `disk,network,usb`, `1` for the default, `0` for none. */
  readonly hotplug?: string
  readonly tablet?: boolean
  readonly keyboard?: string
  readonly disks: readonly VmDisk[]
  readonly efiDisk?: VmEfiDisk
  readonly tpm?: { readonly storage: string; readonly version?: 'v1.2' | 'v2.0' }
  readonly cdrom?: readonly { readonly slot: string; readonly file: string }[]
  readonly nics: readonly VmNic[]
  readonly cloudInit?: VmCloudInit
  /** The document for its first boot, on a separate disc. Excludes `cloudInit`. */
  readonly seed?: VmSeed
  readonly agent?: { readonly enabled: boolean; readonly trim?: boolean; readonly type?: 'virtio' | 'isa' }
  readonly serial?: readonly { readonly slot: string; readonly device: string }[]
  readonly vga?: { readonly type?: string; readonly memoryMb?: number; readonly clipboard?: 'vnc' }
  /** `false`: must have none. */
  readonly audio?: VmAudio | false
  readonly rng?: VmRng
  readonly watchdog?: VmWatchdog | false
  readonly smbios?: VmSmbios
  readonly numaNodes?: readonly VmNumaNode[]
  readonly usb?: readonly VmUsb[]
  readonly pci?: readonly VmPci[]
  readonly virtiofs?: readonly VmVirtiofs[]
  readonly amdSev?: VmAmdSev
  readonly hookScript?: string
  /** In software, without the processor's help: slow, but runs everywhere. */
  readonly emulated?: boolean
  readonly bootOrder?: readonly string[]
}

export interface VmCpu {
  readonly cores?: number
  readonly sockets?: number
  readonly type?: string
  readonly flags?: readonly string[]
  readonly units?: number
  readonly limit?: number
  readonly numa?: boolean
  readonly hotplugged?: number
  /** Host processors that it may use: `0-3,8`. */
  readonly affinity?: string
  readonly architecture?: string
}

export interface VmMemory {
  readonly dedicatedMb?: number
  /** The minimum size of the balloon; 0 disables ballooning. */
  readonly floatingMb?: number
  readonly shared?: number
  /** Weight of this guest when several claim memory freed by ballooning. */
  readonly shares?: number
  readonly hugepages?: '2' | '1024' | 'any'
  readonly keepHugepages?: boolean
}

export interface VmClone {
  readonly vmid: number
  /** The source's host, if it is another one. */
  readonly host?: string
  /** Copies all disks; otherwise only the differences from the source are stored. */
  readonly full: boolean
  readonly storage?: string
}

export interface VmEfiDisk {
  readonly storage: string
  readonly type?: '2m' | '4m'
  readonly preEnrolledKeys?: boolean
  readonly format?: 'raw' | 'qcow2'
}

export interface VmAudio {
  readonly device: string
  readonly driver?: string
}

export interface VmRng {
  readonly source: string
  readonly maxBytes?: number
  readonly periodMs?: number
}

export interface VmWatchdog {
  readonly model?: string
  readonly action?: string
}

export interface VmSmbios {
  readonly uuid?: string
  readonly manufacturer?: string
  readonly product?: string
  readonly version?: string
  readonly serial?: string
  readonly sku?: string
  readonly family?: string
}

export interface VmNumaNode {
  /** `numa0`. */
  readonly slot: string
  /** `0-3` or `0;2`. */
  readonly cpus: string
  readonly memoryMb?: number
  readonly hostNodes?: string
  readonly policy?: string
}

/** A USB device: by its resource mapping, or of the host itself (`1234:5678`, `1-2`), or `spice`. */
export interface VmUsb {
  /** `usb0`. */
  readonly slot: string
  readonly mapping?: string
  readonly device?: string
  readonly usb3?: boolean
}

/** A PCI device: by its resource mapping, or of the host itself (`0000:01:00.0`). */
export interface VmPci {
  /** `hostpci0`. */
  readonly slot: string
  readonly mapping?: string
  readonly device?: string
  readonly mdev?: string
  readonly pcie?: boolean
  readonly romBar?: boolean
  readonly romFile?: string
  readonly primaryGpu?: boolean
}

/** A directory of the host, by its resource mapping. */
export interface VmVirtiofs {
  /** `virtiofs0`. */
  readonly slot: string
  readonly mapping: string
  readonly cache?: string
  readonly directIo?: boolean
  readonly exposeAcl?: boolean
  readonly exposeXattr?: boolean
}

export interface VmAmdSev {
  readonly type: string
  readonly allowSmt?: boolean
  readonly kernelHashes?: boolean
  readonly noDebug?: boolean
  readonly noKeySharing?: boolean
}

export interface VmDisk {
  /** `scsi0`, `virtio1`, `sata0`, `ide0`. */
  readonly slot: string
  readonly storage: string
  readonly sizeGb?: number
  /** Source volume at creation, e.g. `local:import/noble.qcow2`. */
  readonly importFrom?: string
  /** Uses the image as its backing file and stores only the differences, instead of a copy. */
  readonly backing?: boolean
  readonly format?: 'raw' | 'qcow2' | 'vmdk'
  readonly cache?: string
  readonly aio?: string
  readonly iothread?: boolean
  readonly ssd?: boolean
  readonly discard?: 'on' | 'ignore'
  readonly backup?: boolean
  readonly replicate?: boolean
  readonly serial?: string
  readonly queues?: number
  readonly speed?: VmDiskSpeed
}

/** Limits in MB and in operations per second, each for normal use and for bursts. */
export interface VmDiskSpeed {
  readonly read?: number
  readonly readBurst?: number
  readonly write?: number
  readonly writeBurst?: number
  readonly iopsRead?: number
  readonly iopsReadBurst?: number
  readonly iopsWrite?: number
  readonly iopsWriteBurst?: number
}

export interface VmNic {
  /** `net0`. */
  readonly slot: string
  readonly bridge: string
  readonly model: string
  /** Absent: the hypervisor's choice stays. */
  readonly mac?: string
  readonly vlan?: number
  readonly trunks?: readonly number[]
  readonly firewall?: boolean
  readonly disconnected?: boolean
  readonly mtu?: number
  readonly queues?: number
  readonly rateMBps?: number
}

export interface VmCloudInit {
  readonly storage: string
  /** The cloud-init drive, by default `ide2`. */
  readonly slot: string
  readonly format?: 'raw' | 'qcow2' | 'vmdk'
  readonly type?: 'nocloud' | 'configdrive2' | 'opennebula'
  readonly user?: string
  readonly password?: SecretReference
  readonly sshKeys?: readonly string[]
  readonly addresses?: readonly {
    readonly v4?: string
    readonly gateway4?: string
    readonly v6?: string
    readonly gateway6?: string
  }[]
  readonly dnsServers?: readonly string[]
  readonly dnsDomain?: string
  readonly upgrade?: boolean
  readonly userData?: string
  readonly networkData?: string
  readonly metaData?: string
  readonly vendorData?: string
}
