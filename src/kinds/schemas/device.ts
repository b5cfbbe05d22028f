import { z } from 'zod'
import { whole } from '../fields/number.ts'
import { line, matching, objectName } from '../fields/text.ts'

const on = z.boolean().optional()
const hardwareId = matching(/^[0-9a-f]{4}:[0-9a-f]{4}$/, 'vendor and device, like 10de:2484')

export const deviceSchema = z.strictObject({
  description: line.optional(),
  host: objectName,
  pci: z
    .strictObject({
      id: hardwareId,
      address: matching(/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?$/, 'an address like 0000:01:00.0'),
      subsystemId: hardwareId.optional(),
      iommuGroup: whole(0, 65_535).optional(),
      pcie: on,
      primaryGpu: on,
      mdev: on,
    })
    .optional(),
  usb: z
    .strictObject({
      ids: z.array(hardwareId).min(1).max(4),
      port: matching(/^[0-9]{1,3}-[0-9]{1,2}(?:\.[0-9]{1,2}){0,6}$/, 'a port like 1-2 or 2-1.4').optional(),
      usb3: on,
    })
    .optional(),
  /** Device files below /dev of the host, for containers; several containers may share them. */
  files: z
    .array(
      z.strictObject({
        path: matching(/^\/dev(?:\/[a-zA-Z0-9_][a-zA-Z0-9._:+-]*)+$/, 'a device file like /dev/dri/renderD128', 250),
        mode: matching(/^0[0-7]{3}$/, 'four octal digits like 0660').optional(),
        uid: whole(0, 4_294_967_294).optional(),
        gid: whole(0, 4_294_967_294).optional(),
        readOnly: on,
      }),
    )
    .min(1)
    .max(16)
    .optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Delete'),
})

export type DeviceSpec = z.output<typeof deviceSchema>
