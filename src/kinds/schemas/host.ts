import { z } from 'zod'
import { ipAddress } from '../fields/address.ts'
import { vlanId } from '../fields/number.ts'
import { secretReference, sshFields } from '../fields/ssh.ts'
import {
  bridgeName,
  dnsName,
  hostName,
  line,
  logicalName,
  macAddress,
  matching,
  objectName,
  storageName,
  userName,
} from '../fields/text.ts'

/** Names in one order, so that reordering them in the file is no change. */
function named<Schema extends z.ZodType>(schema: Schema) {
  return z
    .record(logicalName, schema)
    .overwrite((entries) => Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1))) as never)
    .default({})
}

export const hostSchema = z.strictObject({
  connection: objectName.optional(),
  node: hostName.optional(),
  description: line.optional(),
  estate: logicalName.default('default'),
  bindings: z
    .strictObject({
      networks: named(z.strictObject({ bridge: bridgeName, vlan: vlanId.optional() })),
      storages: named(storageName),
    })
    .default({ networks: {}, storages: {} }),
  placement: z
    .strictObject({
      closed: z.boolean().optional(),
      busyAbove: z.int().min(1).max(100).default(90),
      busyForMinutes: z.int().min(1).max(60).default(10),
    })
    .optional(),
  ssh: sshFields.optional(),
  local: z.boolean().optional(),
  wake: z
    .strictObject({
      mac: macAddress,
      broadcast: ipAddress.default('255.255.255.255'),
      port: z.int().min(1).max(65_535).default(9),
    })
    .optional(),
  /** The management controller, accessed by Redfish. */
  bmc: z
    .strictObject({
      address: z.union([ipAddress, dnsName], { error: 'a DNS name or an IP address' }),
      port: z.int().min(1).max(65_535).default(443),
      user: userName.default('root'),
      password: secretReference,
      fingerprint: matching(
        /^[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){31}$/,
        'the SHA-256 fingerprint of the certificate: 32 pairs of digits, AA:BB:…',
      ).optional(),
      system: matching(
        /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
        'the id of a Redfish system, like 1 or System.Embedded.1',
        64,
      ).optional(),
    })
    .optional(),
  ups: matching(
    /^[A-Za-z0-9][A-Za-z0-9_.-]*(?:@[A-Za-z0-9][A-Za-z0-9.:-]*)?$/,
    'a UPS like rack@192.168.4.2',
    200,
  ).optional(),
})

export type HostSpec = z.output<typeof hostSchema>
