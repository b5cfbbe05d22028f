import { z } from 'zod'
import { ipAddress, ipv4, ipv6Setting } from './fields/address.ts'
import { annotatedPolicy, checkAnnotations, EXTERNAL_NAME } from './fields/annotations.ts'
import { show } from './fields/explain.ts'
import { mebibytes, size, vmid, whole } from './fields/number.ts'
import {
  cloudConfig,
  description,
  dnsName,
  hostName,
  logicalName,
  macAddress,
  objectName,
  poolName,
  sshKey,
  tag,
  userName,
  volumeName,
} from './fields/text.ts'
import type { FieldProblem, Kind, RawManifest } from './kind.ts'
import { checkContainerMachine } from './machines/container-machine.ts'
import { expandMachine } from './machines/machine-spec.ts'

const on = z.boolean().optional()

const disk = z.strictObject({
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
  path: z
    .string()
    .max(400)
    .regex(/^(?:\/[a-zA-Z0-9_][a-zA-Z0-9._-]*)+$/, { error: 'a path like /srv/data' })
    .optional(),
})

const nic = z.strictObject({
  /** Logical network; the host says which bridge it is there. */
  network: logicalName,
  /** `dhcp`, `pool`, or a fixed address; from the network's pool where it has one, else DHCP. */
  address: z
    .union([z.literal('dhcp'), z.literal('pool'), ipv4], { error: 'dhcp, pool, or an address like 192.168.4.20' })
    .optional(),
  /** `auto` (router advertisements), `dhcp`, or an address with its prefix. */
  ipv6: ipv6Setting.optional(),
  mac: macAddress.optional(),
  firewall: on,
})

const schema = z.strictObject({
  /** Name of the Host that it runs on. */
  host: objectName,
  /** What only Proxmox knows. */
  proxmox: z
    .strictObject({
      vmid: vmid.optional(),
      pool: poolName.optional(),
      /** Take over the existing VM with this vmid. */
      adopt: on,
      bios: z.enum(['seabios', 'ovmf']).optional(),
      machine: z.enum(['pc', 'q35']).optional(),
      scsiHardware: z.enum(['virtio-scsi-pci', 'virtio-scsi-single']).optional(),
      protection: on,
    })
    .optional(),
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
  cpu: z.strictObject({
    cores: whole(1, 1024),
    type: z
      .string()
      .max(60)
      .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/, { error: 'a CPU type like host or x86-64-v2-AES' })
      .optional(),
  }),
  memory: size,
  disks: z.array(disk).max(30).default([]),
  networks: z.array(nic).max(32).default([]),
  /** The user that cloud-init makes. */
  user: userName.optional(),
  sshKeys: z.array(sshKey).max(100).optional(),
  /** What the machine calls itself; its own name unless said otherwise. */
  hostname: hostName.optional(),
  /** A cloud-config, as a block or as text that begins with #cloud-config; or a volume like local:snippets/web.yaml. */
  userData: z
    .union([volumeName, cloudConfig, z.looseObject({})], {
      error: 'a cloud-config (a block of fields, or text that begins with #cloud-config), or a volume',
    })
    .optional(),
  /** How the machine gets its document, and what a changed one means. */
  cloudInit: z
    .strictObject({
      /** For a machine that has read another one: leave it, let it read the new one, or make it anew. */
      onChange: z.enum(['ignore', 'rerun', 'replace']).default('ignore'),
      /** Logical storage that holds the image until it was read; it must take ISO images. */
      storage: logicalName.optional(),
      /** The image is taken out after so long where no agent tells that it was read. */
      removeAfterSeconds: whole(30, 86_400).default(300),
    })
    .optional(),
  dns: z.strictObject({ servers: z.array(ipAddress).max(10).optional(), domain: dnsName.optional() }).optional(),
  /** `on` and `off` are true and false to older YAML readers, so both are read. */
  power: z
    .preprocess((value) => (value === true ? 'on' : value === false ? 'off' : value), z.enum(['on', 'off']))
    .default('on'),
  /** Start it when the host starts? */
  onBoot: on,
  /** Does the guest agent run inside? */
  agent: z.boolean().default(true),
  tags: z.array(tag).max(100).optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).optional(),
  protect: on,
})

export type MachineSpec = z.output<typeof schema>

/** A computer that we give to someone. */
export const machine: Kind<MachineSpec> = {
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
      deletion: spec.deletionPolicy ?? (adopt === undefined ? 'Delete' : 'Orphan'),
      ...(adopt === undefined ? {} : { adopt }),
    }
  },

  expand: expandMachine,
}

function adopted(spec: MachineSpec, manifest: RawManifest): string | undefined {
  if (spec.proxmox?.adopt === true && spec.proxmox.vmid !== undefined) return String(spec.proxmox.vmid)
  return manifest.metadata.annotations[EXTERNAL_NAME]
}

function checkMachine(spec: MachineSpec, manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = [...checkAnnotations(manifest), ...checkContainerMachine(spec, manifest)]
  const bad = (path: readonly (string | number)[], message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, ...(hint === undefined ? {} : { hint }) })

  if (!dnsName.safeParse(manifest.metadata.name).success)
    problems.push({
      code: 'bad-value',
      path: ['metadata', 'name'],
      message: 'metadata.name cannot be the name of a machine',
    })
  if ((mebibytes(spec.memory) ?? 0) < 16) bad(['memory'], `memory is ${spec.memory}; a machine needs 16Mi or more`)
  for (const [index, entry] of spec.disks.entries()) {
    if ((mebibytes(entry.size) ?? 0) % 1024 !== 0) {
      bad(['disks', index, 'size'], `size is ${entry.size}; disks grow in whole Gi`, 'write it in Gi')
    }
  }
  const vmidField = spec.proxmox?.vmid
  if (spec.proxmox?.adopt === true && vmidField === undefined) {
    bad(['proxmox', 'adopt'], 'adopt takes over an existing VM, and vmid does not say which', 'set proxmox.vmid')
  }
  const external = manifest.metadata.annotations[EXTERNAL_NAME]
  if (
    external !== undefined &&
    (!/^[1-9][0-9]{2,8}$/.test(external) || (vmidField !== undefined && String(vmidField) !== external))
  ) {
    problems.push({
      code: 'bad-value',
      path: ['metadata', 'annotations', EXTERNAL_NAME],
      message: `${EXTERNAL_NAME} is ${show(external)}; expected a VMID like "108", the same as proxmox.vmid`,
    })
  }
  return problems
}
