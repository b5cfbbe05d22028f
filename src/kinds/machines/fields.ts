import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { ipAddress, ipv4, ipv6Setting } from '../fields/address.ts'
import { size, whole } from '../fields/number.ts'
import {
  cloudConfig,
  dnsName,
  logicalName,
  macAddress,
  matching,
  objectName,
  poolName,
  volumeName,
} from '../fields/text.ts'

/** Fields that a machine, its class and a node of a cluster write alike. */

const on = z.boolean().optional()

export const disk = z.strictObject({
  /** What the disk is for; for people. */
  name: logicalName.optional(),
  size,
  /** Image that the disk is made from. */
  image: objectName.optional(),
  /** Logical storage; the host says what it is called there. */
  storage: logicalName,
  ssd: on,
  discard: on,
  backup: on,
  /** Where a container mounts it; its first disk is its root. */
  path: matching(/^(?:\/[a-zA-Z0-9_][a-zA-Z0-9._-]*)+$/, 'a path like /srv/data', 400).optional(),
})

export const cardAddress = z.union([z.literal('dhcp'), z.literal('pool'), ipv4], {
  error: 'dhcp, pool, or an address like 192.168.4.20',
})

export const nic = z.strictObject({
  /** Logical network; the host says which bridge it is there. */
  network: logicalName,
  /** `dhcp`, `pool`, or a fixed address; from the network's pool where it has one, else DHCP. */
  address: cardAddress.optional(),
  /** `auto` (router advertisements), `dhcp`, or an address with its prefix. */
  ipv6: ipv6Setting.optional(),
  mac: macAddress.optional(),
  firewall: on,
})

const cpuType = matching(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/, 'a CPU type like host or x86-64-v2-AES', 60)

/** A class may say what is not said here. */
export const someCpu = z.strictObject({ cores: whole(1, 1024).optional(), type: cpuType.optional() })

/** How a machine gets its document, and what a changed one means. */
export const cloudInit = z.strictObject({
  /** For a machine that has read another one: leave it, let it read the new one, or make it anew. */
  onChange: z.enum(['ignore', 'rerun', 'replace']).default('ignore'),
  /** Logical storage that holds the image until it was read; it must take ISO images. */
  storage: logicalName.optional(),
  /** The image is taken out after so long where no agent tells that it was read. */
  removeAfterSeconds: whole(30, 86_400).default(300),
})

export const dns = z.strictObject({ servers: z.array(ipAddress).max(10).optional(), domain: dnsName.optional() })

/** What Proxmox alone knows of a machine's hardware. */
export const proxmoxHardware = {
  pool: poolName.optional(),
  bios: z.enum(['seabios', 'ovmf']).optional(),
  machine: z.enum(['pc', 'q35']).optional(),
  scsiHardware: z.enum(['virtio-scsi-pci', 'virtio-scsi-single']).optional(),
  protection: on,
}

/** A cloud-config, as a block or as text that begins with #cloud-config; or a volume like local:snippets/web.yaml. */
export const userData = z
  .union([volumeName, cloudConfig, z.looseObject({})], {
    error: 'a cloud-config (a block of fields, or text that begins with #cloud-config), or a volume',
  })
  .refine((given) => isSmall(given), { error: `a cloud-config of at most ${LIMITS.userDataNodes} values` })

/** What becomes of it is made while others wait. */
function isSmall(given: unknown): boolean {
  let left: number = LIMITS.userDataNodes
  const count = (value: unknown): void => {
    left--
    if (left <= 0 || value === null || typeof value !== 'object') return
    for (const inner of Object.values(value)) count(inner)
  }
  count(given)
  return left > 0 && (typeof given === 'string' || JSON.stringify(given).length <= LIMITS.writtenFileLength)
}
