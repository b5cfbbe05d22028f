import { z } from 'zod'
import { ipAddress, ipv6Setting } from '../fields/address.ts'
import { size, vmid, whole } from '../fields/number.ts'
import { logicalName, macAddress, matching, objectName } from '../fields/text.ts'
import { hardwareBlocks } from '../hypervisors/registry.ts'
import { cardAddress, disk, proxmoxHardware, someCpu } from '../machines/fields.ts'
import { freeText } from '../settings/field-schema.ts'

/** Key and value of a label as Kubernetes takes them. */
export const labelKey = matching(
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/,
  'a label like zone or example.com/zone',
  317,
)
const labelValue = matching(
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?)?$/,
  'the value of a label: letters, digits, dashes, dots and underscores, beginning and ending with a letter or digit',
  63,
)

export const labels = z.record(labelKey, labelValue)

export const taint = matching(
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?(?:=[a-zA-Z0-9._-]*)?:(?:NoSchedule|PreferNoSchedule|NoExecute)$/,
  'a taint like dedicated=gpu:NoSchedule, with NoSchedule, PreferNoSchedule or NoExecute behind the colon',
  400,
)

/** Text that reaches K3s as JSON in a file and is never read by a shell. */
export const freeLine = matching(
  /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/,
  'one line without control characters',
  2000,
).register(freeText, { free: true })

/** Further flags of K3s, by their names in config.yaml. */
export const flags = z.record(
  matching(/^[a-z0-9][a-z0-9-]*$/, 'the name of a flag, like kubelet-arg', 100),
  z.union([freeLine, z.number(), z.boolean(), z.array(freeLine).max(100)], {
    error: 'text, a number, true, false, or a list of texts',
  }),
)

/** A reference to an existing machine: `Machine/web-1`, `EnvironmentVM/k3s-1`, `Host/cow`. */
export const memberReference = matching(
  /^(?:Machine|EnvironmentVM|Host)\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  'Machine/…, EnvironmentVM/… or Host/…',
  300,
)

const fields = {
  name: logicalName.optional(),
  host: objectName.optional(),
  class: objectName.optional(),
  machine: memberReference.optional(),
  devices: z.array(objectName).max(16).optional(),
  address: cardAddress.optional(),
  ipv6: ipv6Setting.optional(),
  mac: macAddress.optional(),
  addresses: z.array(ipAddress).min(1).max(2).optional(),
  externalAddresses: z.array(ipAddress).min(1).max(2).optional(),
  labels: labels.optional(),
  taints: z.array(taint).max(50).optional(),
  power: z.enum(['always', 'onDemand']).default('always'),
  flags: flags.optional(),
  cpu: someCpu.optional(),
  memory: size.optional(),
  disks: z.array(disk).max(30).optional(),
  proxmox: z.strictObject({ vmid: vmid.optional(), ...proxmoxHardware }).optional(),
  ...hardwareBlocks,
}

export const serverFields = z.strictObject(fields)

/** An agent, or with `count` several that are alike. */
export const agentFields = z.strictObject({
  ...fields,
  count: whole(0, 500).optional(),
  spread: z.enum(['host']).optional(),
  hosts: z.array(objectName).min(1).max(100).optional(),
})

export type ServerFields = z.output<typeof serverFields>
export type AgentFields = z.output<typeof agentFields>
