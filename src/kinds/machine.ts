import { z } from 'zod'
import { annotatedPolicy, checkAnnotations, EXTERNAL_NAME } from './fields/annotations.ts'
import { show } from './fields/explain.ts'
import { mebibytes, size, vmid } from './fields/number.ts'
import { description, dnsName, hostName, objectName, sshKey, tag, userName } from './fields/text.ts'
import { ALL_HYPERVISORS, machineBlocks } from './hypervisors/registry.ts'
import type { FieldProblem, Kind, RawManifest } from './kind.ts'
import { checkContainerMachine } from './machines/container-machine.ts'
import { cloudInit, disk, dns, nic, proxmoxHardware, someCpu, userData } from './machines/fields.ts'
import { expandMachine } from './machines/machine-spec.ts'
import { placementFields } from './machines/placement.ts'

const on = z.boolean().optional()

const schema = z.strictObject({
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
export type WrittenMachine = z.output<typeof schema>

/** A machine with everything that its class says. */
export type MachineSpec = Omit<WrittenMachine, 'cpu' | 'memory' | 'agent'> & {
  readonly cpu: { readonly cores: number; readonly type?: string | undefined }
  readonly memory: string
  readonly agent: boolean
}

/** A computer that we give to someone. */
export const machine: Kind<WrittenMachine> = {
  kind: 'Machine',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'machines',
  shortNames: ['m'],
  summary: 'A computer on a host, with logical networks and storages that the host binds.',
  schema,
  check: checkMachine,

  policy(spec, manifest) {
    const policy = annotatedPolicy(manifest)
    const adopt = adopted(spec, manifest)
    return {
      ...policy,
      protect: policy.protect || spec.protect === true || spec.proxmox?.protection === true,
      ...(spec.protect === false ? { dataMayGo: true as const } : {}),
      deletion: spec.deletionPolicy ?? (adopt === undefined ? 'Delete' : 'Orphan'),
      ...(adopt === undefined ? {} : { adopt }),
    }
  },

  expand: expandMachine,
}

function adopted(spec: WrittenMachine, manifest: RawManifest): string | undefined {
  const [id] = ALL_HYPERVISORS.flatMap((hypervisor) => hypervisor.adopted(spec) ?? [])
  return id ?? manifest.metadata.annotations[EXTERNAL_NAME]
}

function checkMachine(spec: WrittenMachine, manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = [
    ...checkAnnotations(manifest),
    ...checkContainerMachine(spec, manifest),
    ...ALL_HYPERVISORS.flatMap((hypervisor) => hypervisor.check(spec)),
  ]
  const bad = (path: readonly (string | number)[], message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, ...(hint === undefined ? {} : { hint }) })

  const missing = (field: string, message: string) =>
    problems.push({
      code: 'missing-field',
      path: ['spec', field],
      message,
      hint: 'say it here, or name a class that does',
    })

  if (!dnsName.safeParse(manifest.metadata.name).success)
    problems.push({
      code: 'bad-value',
      path: ['metadata', 'name'],
      message: 'metadata.name cannot be the name of a machine',
    })
  if (spec.class === undefined) {
    for (const field of ['cpu', 'memory'] as const) if (spec[field] === undefined) missing(field, `${field} is missing`)
    if (spec.cpu !== undefined && spec.cpu.cores === undefined) missing('cpu', 'cpu.cores is missing')
  }
  if (spec.memory !== undefined && (mebibytes(spec.memory) ?? 0) < 16)
    bad(['memory'], `memory is ${spec.memory}; a machine needs 16Mi or more`)
  for (const [index, entry] of spec.disks.entries()) {
    if ((mebibytes(entry.size) ?? 0) % 1024 !== 0) {
      bad(['disks', index, 'size'], `size is ${entry.size}; disks grow in whole Gi`, 'write it in Gi')
    }
  }
  const vmidField = spec.proxmox?.vmid
  const external = manifest.metadata.annotations[EXTERNAL_NAME]
  if (
    external !== undefined &&
    (!/^(?:[1-9][0-9]{2,8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(external) ||
      (vmidField !== undefined && String(vmidField) !== external))
  ) {
    problems.push({
      code: 'bad-value',
      path: ['metadata', 'annotations', EXTERNAL_NAME],
      message: `${EXTERNAL_NAME} is ${show(external)}; expected a VMID like "108", the same as proxmox.vmid, or the UUID of a domain`,
    })
  }
  return problems
}
