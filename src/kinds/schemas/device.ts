import { z } from 'zod'
import { whole } from '../fields/number.ts'
import { line, matching, objectName } from '../fields/text.ts'

const on = z.boolean().optional()
const hardwareId = matching(/^[0-9a-f]{4}:[0-9a-f]{4}$/, 'vendor and device, like 10de:2484')

export const deviceSchema = z.strictObject({
  description: line.optional(),
  /** The Host that it is plugged into. */
  host: objectName,
  /** A card: a GPU, a network card, a Coral with an M.2 plug. */
  pci: z
    .strictObject({
      /** Vendor and device, as `lspci -nn` shows them. */
      id: hardwareId,
      /** Where it sits; without the last digit all its functions go along. */
      address: matching(/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?$/, 'an address like 0000:01:00.0'),
      subsystemId: hardwareId.optional(),
      iommuGroup: whole(0, 65_535).optional(),
      /** Shown to the guest as PCI Express; needs machine q35. True where the machine is one. */
      pcie: on,
      /** The guest's first graphics card. */
      primaryGpu: on,
      /** Does it offer mediated devices? */
      mdev: on,
    })
    .optional(),
  /** Something at a USB port. */
  usb: z
    .strictObject({
      /** All that it is ever called: a Coral has another id once its firmware is loaded. */
      ids: z.array(hardwareId).min(1).max(4),
      /** The port it is in. With it the guest keeps the device when its id changes. */
      port: matching(/^[0-9]{1,3}-[0-9]{1,2}(?:\.[0-9]{1,2}){0,6}$/, 'a port like 1-2 or 2-1.4').optional(),
      usb3: on,
    })
    .optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Delete'),
})

export type DeviceSpec = z.output<typeof deviceSchema>
