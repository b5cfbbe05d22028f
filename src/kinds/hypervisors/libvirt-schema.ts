import { z } from 'zod'
import { whole } from '../fields/number.ts'
import { hostKeys, secretReference, sudo } from '../fields/ssh.ts'
import { line, logicalName, matching, objectName } from '../fields/text.ts'

/** Hardware settings of libvirt. A connection may set them for all of its machines. */
export const libvirtHardware = {
  bios: z.enum(['seabios', 'ovmf']).optional(),
  machine: z.enum(['pc', 'q35']).optional(),
  /** The architecture. Default: the host's. An arm64 machine is a `virt` that boots by UEFI. */
  architecture: z.enum(['amd64', 'arm64']).optional(),
  disks: z.enum(['backing', 'copy']).optional(),
  bus: z.enum(['virtio', 'scsi', 'sata']).optional(),
  seed: z.enum(['disk', 'cdrom']).optional(),
  emulated: z.boolean().optional(),
}

/** The block `libvirt` of a machine. */
export const libvirtMachine = z.strictObject({
  uuid: matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'the UUID of a domain, in small letters').optional(),
  adopt: z.boolean().optional(),
  ...libvirtHardware,
})

/** A connection to libvirt. */
export const libvirtSchema = z.strictObject({
  description: line.optional(),
  host: objectName.optional(),
  endpoint: matching(
    /^(?:qemu:\/\/\/(?:system|session)|qemu\+ssh:\/\/(?:[a-z_][a-z0-9_-]{0,31}@)?(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[1-9][0-9]{0,4})?\/(?:system|session)|test:\/\/\/default)$/,
    'qemu:///system, or qemu+ssh://user@host/system',
    300,
  ).default('qemu:///system'),
  ssh: z
    .strictObject({
      hostKeys,
      key: secretReference.optional(),
      sudo,
    })
    .optional(),
  estate: logicalName.default('default'),
  machines: z.strictObject(libvirtHardware).default({}),
  limits: z
    .strictObject({
      perHost: whole(1, 20).default(8),
      perStorage: whole(1, 20).default(4),
      reads: whole(1, 20).default(4),
    })
    .default({ perHost: 8, perStorage: 4, reads: 4 }),
})

export type LibvirtSpec = z.output<typeof libvirtSchema>
