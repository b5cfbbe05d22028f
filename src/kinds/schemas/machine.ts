import { z } from 'zod'
import { size, vmid } from '../fields/number.ts'
import { description, hostName, matching, objectName, sshKey, tag, userName } from '../fields/text.ts'
import { machineBlocks } from '../hypervisors/registry.ts'
import { cloudInit, disk, dns, nic, proxmoxHardware, someCpu, userData } from '../machines/fields.ts'

const on = z.boolean().optional()

const labelName = matching(
  /^[a-zA-Z0-9](?:[a-zA-Z0-9._/-]*[a-zA-Z0-9])?$/,
  'the name of a label, like disk or example.org/rack',
  253,
).refine((text) => !text.includes('..'), { error: 'the name of a label, without .. in it' })
const labelValue = matching(/^(?:[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?)?$/, 'the value of a label', 63).refine(
  (text) => !text.includes('..'),
  { error: 'the value of a label, without .. in it' },
)

/** Constraints on the host of a machine with `host: auto`. */
const placementFields = z.strictObject({
  labels: z.record(labelName, labelValue).optional(),
  spread: objectName.optional(),
  apart: objectName.optional(),
  connection: objectName.optional(),
})

export const machineSchema = z.strictObject({
  host: objectName,
  placement: placementFields.optional(),
  class: objectName.optional(),
  proxmox: z
    .strictObject({
      vmid: vmid.optional(),
      adopt: on,
      ...proxmoxHardware,
    })
    .optional(),
  ...machineBlocks,
  lxc: z
    .strictObject({
      unprivileged: on,
      nesting: on,
      swap: size.optional(),
    })
    .optional(),
  description: description.optional(),
  cpu: someCpu.optional(),
  memory: size.optional(),
  disks: z.array(disk).max(30).default([]),
  networks: z.array(nic).max(32).default([]),
  devices: z.array(objectName).max(16).optional(),
  user: userName.optional(),
  sshKeys: z.array(sshKey).max(100).optional(),
  hostname: hostName.optional(),
  userData: userData.optional(),
  cloudInit: cloudInit.optional(),
  dns: dns.optional(),
  /** `on` and `off` are true and false to older YAML readers, so both are read. */
  power: z
    .preprocess((value) => (value === true ? 'on' : value === false ? 'off' : value), z.enum(['on', 'off']))
    .default('on'),
  onBoot: on,
  agent: on,
  tags: z.array(tag).max(100).optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).optional(),
  protect: on,
})

/** A machine as it is written: a class may say the rest. */
export type WrittenMachine = z.output<typeof machineSchema>

/** A machine with everything that its class says. */
export type MachineSpec = Omit<WrittenMachine, 'cpu' | 'memory' | 'agent'> & {
  readonly cpu: { readonly cores: number; readonly type?: string | undefined }
  readonly memory: string
  readonly agent: boolean
}

/** A volume like `local:snippets/web.yaml`, as opposed to the user data itself. */
export function isVolume(userData: MachineSpec['userData']): userData is string {
  return typeof userData === 'string' && !userData.startsWith('#')
}
