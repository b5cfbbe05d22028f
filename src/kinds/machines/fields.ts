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
  name: logicalName.optional(),
  size,
  image: objectName.optional(),
  storage: logicalName,
  ssd: on,
  discard: on,
  backup: on,
  path: matching(/^(?:\/[a-zA-Z0-9_][a-zA-Z0-9._-]*)+$/, 'a path like /srv/data', 400).optional(),
})

export const cardAddress = z.union([z.literal('dhcp'), z.literal('pool'), ipv4], {
  error: 'dhcp, pool, or an address like 192.168.4.20',
})

export const nic = z.strictObject({
  network: logicalName,
  address: cardAddress.optional(),
  ipv6: ipv6Setting.optional(),
  mac: macAddress.optional(),
  firewall: on,
})

const cpuType = matching(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/, 'a CPU type like host or x86-64-v2-AES', 60)

/** Optional fields: a class may set them. */
export const someCpu = z.strictObject({ cores: whole(1, 1024).optional(), type: cpuType.optional() })

/** How a machine gets its cloud-init document, and what a changed one does. */
export const cloudInit = z.strictObject({
  onChange: z.enum(['ignore', 'rerun', 'replace']).default('ignore'),
  storage: logicalName.optional(),
  removeAfterSeconds: whole(30, 86_400).default(300),
})

export const dns = z.strictObject({ servers: z.array(ipAddress).max(10).optional(), domain: dnsName.optional() })

/** Hardware settings of Proxmox. */
export const proxmoxHardware = {
  pool: poolName.optional(),
  bios: z.enum(['seabios', 'ovmf']).optional(),
  machine: z.enum(['pc', 'q35']).optional(),
  scsiHardware: z.enum(['virtio-scsi-pci', 'virtio-scsi-single']).optional(),
  /** Never false: removing the port could cut off a person who is logged in on it. */
  serialPort: z.literal(true).optional(),
  protection: on,
}

/** A cloud-config, as a block or as text that begins with #cloud-config; or a volume like local:snippets/web.yaml. */
export const userData = z
  .union([volumeName, cloudConfig, z.looseObject({})], {
    error: 'a cloud-config (a block of fields, or text that begins with #cloud-config), or a volume',
  })
  .refine((given) => isSmall(given), { error: `a cloud-config of at most ${LIMITS.userDataNodes} values` })

/** Limits the size, because the document is processed while other requests wait. */
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
