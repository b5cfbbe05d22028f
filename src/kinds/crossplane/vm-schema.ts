import { z } from 'zod'
import { ipAddress, ipv4, ipv4Setting, ipv6Gateway, ipv6Setting } from '../fields/address.ts'
import { block, blocks } from '../fields/block.ts'
import { gigabytes, megabytes, vlanId, vmid, whole } from '../fields/number.ts'
import {
  bridgeName,
  description,
  dnsName,
  hostName,
  line,
  macAddress,
  matching,
  objectName,
  poolName,
  sshKey,
  storageName,
  tag,
  userName,
  volumeName,
} from '../fields/text.ts'
import { deviceFields } from './vm-devices.ts'
import { unkeptFields } from './vm-unkept.ts'

const on = z.boolean().optional()

export const DISK_SLOT = /^(?:scsi(?:[0-9]|[12][0-9]|30)|virtio(?:[0-9]|1[0-5])|sata[0-5]|ide[0-3])$/
const diskSlot = matching(DISK_SLOT, 'a place like scsi0, virtio1, sata0 or ide0')
const bootDevice = matching(/^(?:scsi|virtio|sata|ide|net|hostpci|usb)[0-9]{1,2}$/, 'a device like scsi0 or net0')
const machineType = matching(
  /^(?:pc|q35|virt|pc(?:-i440fx|-q35)?-[0-9]+(?:\.[0-9]+)+(?:\+pve[0-9]+)?(?:\.pxe)?|virt-[0-9]+(?:\.[0-9]+)+)$/,
  'a machine type like pc, q35 or pc-q35-9.2',
  40,
)
const seconds = whole(0, 86_400)
const limit = whole(0, 10_000_000)

const OS_TYPES = 'other wxp w2k w2k3 w2k8 wvista win7 win8 win10 win11 l24 l26 solaris'.split(' ')
const SCSI = ['lsi', 'lsi53c810', 'virtio-scsi-pci', 'virtio-scsi-single', 'megasas', 'pvscsi']
const KEYBOARDS =
  'de de-ch da en-gb en-us es fi fr fr-be fr-ca fr-ch hu is it ja lt mk nl no pl pt pt-br sv sl tr'.split(' ')
const NIC_MODELS = 'virtio e1000 e1000e rtl8139 vmxnet3 e1000-82540em e1000-82544gc e1000-82545em'.split(' ')

const agent = z.strictObject({
  enabled: on,
  timeout: matching(/^(?:[0-9]{1,6}(?:ms|s|m|h))+$/, 'a duration like 15m').optional(),
  trim: on,
  type: z.enum(['virtio', 'isa']).optional(),
  waitForIp: block(z.strictObject({ disabled: on, ipv4: on, ipv6: on })),
})

const cpu = z.strictObject({
  affinity: matching(/^[0-9]+(?:[-,][0-9]+)*$/, 'CPU numbers like 0-3,8', 200).optional(),
  architecture: z.enum(['x86_64', 'aarch64']).optional(),
  cores: whole(1, 1024).optional(),
  flags: z
    .array(matching(/^[+-][a-z0-9][a-z0-9_.-]*$/, 'a flag like +aes or -pcid', 40))
    .max(50)
    .optional(),
  hotplugged: whole(0, 1024).optional(),
  limit: z.number().min(0).max(128).optional(),
  numa: on,
  sockets: whole(1, 16).optional(),
  type: matching(/^(?:custom-)?[a-zA-Z0-9][a-zA-Z0-9._-]*$/, 'a CPU type like host or x86-64-v2-AES', 60).optional(),
  units: whole(1, 262_144).optional(),
})

const memory = z.strictObject({
  dedicated: megabytes.optional(),
  floating: whole(0, 16 * 1024 * 1024).optional(),
  hugepages: z.enum(['2', '1024', 'any']).optional(),
  keepHugepages: on,
  shared: whole(0, 50_000).optional(),
})

const speed = z.strictObject({
  iopsRead: limit.optional(),
  iopsReadBurstable: limit.optional(),
  iopsWrite: limit.optional(),
  iopsWriteBurstable: limit.optional(),
  read: limit.optional(),
  readBurstable: limit.optional(),
  write: limit.optional(),
  writeBurstable: limit.optional(),
})

const disk = z.strictObject({
  aio: z.enum(['io_uring', 'native', 'threads']).optional(),
  backup: on,
  cache: z.enum(['none', 'directsync', 'writethrough', 'writeback', 'unsafe']).optional(),
  datastoreId: storageName.optional(),
  discard: z.enum(['on', 'ignore']).optional(),
  fileFormat: z.enum(['raw', 'qcow2', 'vmdk']).optional(),
  fileId: volumeName.optional(),
  importFrom: volumeName.optional(),
  interface: diskSlot,
  iothread: on,
  pathInDatastore: line.optional(),
  queues: whole(1, 64).optional(),
  replicate: on,
  serial: matching(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'a serial number of letters and digits', 20).optional(),
  size: gigabytes.optional(),
  speed: block(speed),
  ssd: on,
})

const networkDevice = z.strictObject({
  bridge: bridgeName.optional(),
  disconnected: on,
  enabled: on,
  firewall: on,
  macAddress: macAddress.optional(),
  model: z.enum(NIC_MODELS).optional(),
  mtu: whole(0, 65_520).optional(),
  queues: whole(0, 64).optional(),
  rateLimit: z.number().min(0).max(100_000).optional(),
  trunks: matching(/^[0-9]{1,4}(?:;[0-9]{1,4})*$/, 'VLAN numbers like 10;20;30', 500).optional(),
  /** The provider writes 0 for none. */
  vlanId: z.union([vlanId, z.literal(0)], { error: 'a VLAN number from 1 to 4094' }).optional(),
})

const initialization = z.strictObject({
  datastoreId: storageName.optional(),
  dns: block(z.strictObject({ domain: dnsName.optional(), servers: z.array(ipAddress).max(10).optional() })),
  fileFormat: z.enum(['raw', 'qcow2', 'vmdk']).optional(),
  interface: diskSlot.optional(),
  ipConfig: blocks(
    z.strictObject({
      ipv4: block(z.strictObject({ address: ipv4Setting.optional(), gateway: ipv4.optional() })),
      ipv6: block(z.strictObject({ address: ipv6Setting.optional(), gateway: ipv6Gateway.optional() })),
    }),
    32,
  ),
  metaDataFileId: volumeName.optional(),
  networkDataFileId: volumeName.optional(),
  type: z.enum(['nocloud', 'configdrive2', 'opennebula', 'cloud-init']).optional(),
  upgrade: on,
  userAccount: block(
    z.strictObject({
      keys: z.array(sshKey).max(100).optional(),
      passwordSecretRef: z.strictObject({ key: line, name: objectName, namespace: objectName.optional() }).optional(),
      username: userName.optional(),
    }),
  ),
  userDataFileId: volumeName.optional(),
  vendorDataFileId: volumeName.optional(),
})

/** Every field of the provider's EnvironmentVM. What croft only reads is in vm-unkept.ts. */
export const vmFields = {
  ...unkeptFields,
  ...deviceFields,
  agent: block(agent),
  bios: z.enum(['seabios', 'ovmf']).optional(),
  bootOrder: z.array(bootDevice).max(20).optional(),
  cdrom: blocks(
    z.strictObject({
      enabled: on,
      fileId: z
        .union([z.literal('none'), z.literal('cdrom'), volumeName], {
          error: 'none, or a volume like local:iso/debian.iso',
        })
        .optional(),
      interface: diskSlot.optional(),
    }),
    4,
  ),
  cpu: block(cpu),
  description: description.optional(),
  disk: blocks(disk, 64),
  efiDisk: block(
    z.strictObject({
      datastoreId: storageName.optional(),
      fileFormat: z.enum(['raw', 'qcow2']).optional(),
      preEnrolledKeys: on,
      type: z.enum(['2m', '4m']).optional(),
    }),
  ),
  initialization: block(initialization),
  keyboardLayout: z.enum(KEYBOARDS).optional(),
  machine: machineType.optional(),
  memory: block(memory),
  name: dnsName.optional(),
  networkDevice: blocks(networkDevice, 32),
  nodeName: hostName.optional(),
  onBoot: on,
  operatingSystem: block(z.strictObject({ type: z.enum(OS_TYPES).optional() })),
  poolId: poolName.optional(),
  protection: on,
  scsiHardware: z.enum(SCSI).optional(),
  serialDevice: blocks(
    z.strictObject({
      device: matching(/^(?:socket|\/dev\/[A-Za-z0-9]+)$/, 'socket, or a device like /dev/ttyS0').optional(),
    }),
    4,
  ),
  started: on,
  startup: block(
    z.strictObject({ downDelay: seconds.optional(), order: whole(0, 100_000).optional(), upDelay: seconds.optional() }),
  ),
  tabletDevice: on,
  tags: z.array(tag).max(100).optional(),
  template: on,
  vga: block(
    z.strictObject({
      clipboard: z.enum(['vnc']).optional(),
      memory: whole(4, 512).optional(),
      type: z
        .enum('std cirrus vmware qxl qxl2 qxl3 qxl4 none serial0 serial1 serial2 serial3 virtio virtio-gl'.split(' '))
        .optional(),
    }),
  ),
  vmId: vmid.optional(),
}

export type VmFields = z.output<z.ZodObject<typeof vmFields>>
