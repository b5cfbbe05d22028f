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

/** What a machine with `host: auto` says about where it may go. */
const placementFields = z.strictObject({
  /** Only hosts that carry all of these labels. */
  labels: z.record(labelName, labelValue).optional(),
  /** Machines of the same group are spread over the hosts as evenly as they can be. */
  spread: objectName.optional(),
  /** Of the machines of the same group no two are on one host. */
  apart: objectName.optional(),
  /** Only hosts of this connection; needed where there are several. */
  connection: objectName.optional(),
})

export const machineSchema = z.strictObject({
  /** Name of the Host that it runs on, or `auto`: croft chooses one that has room, and keeps it there. */
  host: objectName,
  /** Where it may go when host is auto. */
  placement: placementFields.optional(),
  /** MachineClass that says what is not said here. */
  class: objectName.optional(),
  /** What only Proxmox knows. */
  proxmox: z
    .strictObject({
      vmid: vmid.optional(),
      /** Take over the existing VM with this vmid. */
      adopt: on,
      ...proxmoxHardware,
    })
    .optional(),
  ...machineBlocks,
  /** It is a container instead of a VM; its first disk is made from an Image with content vztmpl. */
  lxc: z
    .strictObject({
      /** Root inside is nobody outside; true unless said otherwise, and cannot be changed afterwards. */
      unprivileged: on,
      /** May it run containers itself? */
      nesting: on,
      swap: size.optional(),
    })
    .optional(),
  description: description.optional(),
  cpu: someCpu.optional(),
  memory: size.optional(),
  disks: z.array(disk).max(30).default([]),
  networks: z.array(nic).max(32).default([]),
  /** Devices that it is given, by the names of their Device objects. */
  devices: z.array(objectName).max(16).optional(),
  /** The user that cloud-init makes. */
  user: userName.optional(),
  sshKeys: z.array(sshKey).max(100).optional(),
  /** What the machine calls itself; its own name unless said otherwise. */
  hostname: hostName.optional(),
  userData: userData.optional(),
  cloudInit: cloudInit.optional(),
  dns: dns.optional(),
  /** `on` and `off` are true and false to older YAML readers, so both are read. */
  power: z
    .preprocess((value) => (value === true ? 'on' : value === false ? 'off' : value), z.enum(['on', 'off']))
    .default('on'),
  /** Start it when the host starts? */
  onBoot: on,
  /** Does the guest agent run inside? Yes, unless said otherwise here or in the class. */
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
