import type { SecretReference } from './secret.ts'
import type { GuestBasics } from './vm.ts'

/** A container that shares its host's kernel, as declared. An absent field is not declared and not compared. */
export interface ContainerSpec extends GuestBasics {
  /** The archive for its creation: `local:vztmpl/debian-12.tar.zst`. Not compared later. */
  readonly image?: string
  /** Root inside has no rights outside. Cannot be changed after creation. */
  readonly unprivileged?: boolean
  readonly cpu?: ContainerCpu
  readonly memory?: { readonly dedicatedMb?: number; readonly swapMb?: number }
  readonly rootDisk?: ContainerRootDisk
  readonly mounts: readonly ContainerMount[]
  readonly nics: readonly ContainerNic[]
  readonly dns?: { readonly servers?: readonly string[]; readonly domain?: string }
  readonly features?: ContainerFeatures
  readonly devices?: readonly ContainerDevice[]
  readonly console?: { readonly enabled?: boolean; readonly ttys?: number; readonly mode?: string }
  readonly entrypoint?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly hookScript?: string
  /** For root inside; can only be set at creation, and neither read nor changed later. */
  readonly sshKeys?: readonly string[]
  readonly password?: SecretReference
}

export interface ContainerCpu {
  /** Absent: all of the host's. */
  readonly cores?: number
  readonly limit?: number
  readonly units?: number
  readonly architecture?: string
}

/** Options of any volume that is mounted into a container. */
export interface ContainerVolume {
  readonly acl?: boolean
  readonly quota?: boolean
  readonly replicate?: boolean
  readonly mountOptions?: readonly string[]
}

export interface ContainerRootDisk extends ContainerVolume {
  readonly storage: string
  readonly sizeGb?: number
}

/** A mount at a path inside: a new volume on a storage, or a directory or device of the host. */
export interface ContainerMount extends ContainerVolume {
  /** `mp0`. */
  readonly slot: string
  readonly path: string
  /** Storage for a separate volume. */
  readonly storage?: string
  readonly sizeGb?: number
  /** A path of the host (`/srv/data`), or a volume that exists (`local:200/subvol-200-disk-1.subvol`). */
  readonly source?: string
  readonly backup?: boolean
  readonly readOnly?: boolean
  /** The host's path is the same on every host. */
  readonly shared?: boolean
}

export interface ContainerNic {
  /** `net0`. */
  readonly slot: string
  /** Its name inside the container: `eth0`. */
  readonly name: string
  readonly bridge: string
  /** Absent: the hypervisor's choice stays. */
  readonly mac?: string
  readonly vlan?: number
  readonly firewall?: boolean
  readonly disconnected?: boolean
  readonly mtu?: number
  readonly rateMBps?: number
  readonly hostManaged?: boolean
  /** `dhcp`, `manual`, or `192.168.4.20/24`. */
  readonly v4?: string
  readonly gateway4?: string
  readonly v6?: string
  readonly gateway6?: string
}

export interface ContainerFeatures {
  readonly nesting?: boolean
  readonly keyctl?: boolean
  readonly fuse?: boolean
  readonly mknod?: boolean
  /** Kinds of file system that may be mounted inside. */
  readonly mount?: readonly string[]
}

/** A device of the host. */
export interface ContainerDevice {
  /** `dev0`. */
  readonly slot: string
  readonly path: string
  readonly mode?: string
  readonly uid?: number
  readonly gid?: number
  readonly denyWrite?: boolean
}
