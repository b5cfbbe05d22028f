import type { SecretReference } from './secret.ts'

/**
 * A virtual machine as a person wants it, the same for every hypervisor. A field that is absent was not declared and
 * is not compared: croft changes what Git says and leaves the rest alone.
 */
export interface VmSpec {
  readonly host: string
  /** The number the hypervisor knows it by; chosen from the connection's range when not declared. */
  readonly vmid?: number
  readonly name: string
  readonly power?: 'running' | 'stopped'
  readonly template?: boolean
  readonly onBoot?: boolean
  readonly startup?: { readonly order?: number; readonly upSeconds?: number; readonly downSeconds?: number }
  readonly protection?: boolean
  readonly pool?: string
  readonly tags?: readonly string[]
  readonly description?: string
  readonly cpu?: VmCpu
  readonly memory?: VmMemory
  readonly machine?: string
  readonly bios?: 'seabios' | 'ovmf'
  readonly osType?: string
  readonly scsiHardware?: string
  readonly tablet?: boolean
  readonly keyboard?: string
  readonly disks: readonly VmDisk[]
  readonly efiDisk?: { readonly storage: string; readonly type?: '2m' | '4m'; readonly preEnrolledKeys?: boolean }
  readonly cdrom?: readonly { readonly slot: string; readonly file: string }[]
  readonly nics: readonly VmNic[]
  readonly cloudInit?: VmCloudInit
  readonly agent?: { readonly enabled: boolean; readonly trim?: boolean; readonly type?: 'virtio' | 'isa' }
  readonly serial?: readonly { readonly slot: string; readonly device: string }[]
  readonly vga?: { readonly type?: string; readonly memoryMb?: number }
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
}

export interface VmMemory {
  readonly dedicatedMb?: number
  /** The least the balloon may shrink to; 0 switches ballooning off. */
  readonly floatingMb?: number
  readonly shared?: number
}

export interface VmDisk {
  /** `scsi0`, `virtio1`, `sata0`, `ide0`. */
  readonly slot: string
  readonly storage: string
  readonly sizeGb?: number
  /** Volume that the disk is made from at creation, e.g. `local:import/noble.qcow2`. */
  readonly importFrom?: string
  readonly format?: 'raw' | 'qcow2' | 'vmdk'
  readonly cache?: string
  readonly aio?: string
  readonly iothread?: boolean
  readonly ssd?: boolean
  readonly discard?: 'on' | 'ignore'
  readonly backup?: boolean
  readonly replicate?: boolean
  readonly serial?: string
}

export interface VmNic {
  /** `net0`. */
  readonly slot: string
  readonly bridge: string
  readonly model: string
  /** Kept when absent: the hypervisor's own choice stays. */
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
  /** Drive that carries the cloud-init data, `ide2` unless declared. */
  readonly slot: string
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
