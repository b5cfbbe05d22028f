import { z } from 'zod'
import { ipAddress, ipv4, ipv4Setting, ipv6Gateway, ipv6Setting } from '../fields/address.ts'
import { block, blocks } from '../fields/block.ts'
import { vlanId, vmid, whole } from '../fields/number.ts'
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
  volumeName,
} from '../fields/text.ts'

const on = z.boolean().optional()
const seconds = whole(0, 86_400)
const timeout = whole(0, 4_294_967_295).optional()
const gigabytes = whole(0, 131_072)

const ARCHITECTURES = ['amd64', 'i386', 'arm64', 'armhf', 'riscv32', 'riscv64']
const OS_TYPES = 'alpine archlinux centos debian devuan fedora gentoo nixos opensuse ubuntu unmanaged'.split(' ')

const mountOptions = z
  .array(z.enum(['discard', 'lazytime', 'noatime', 'nodev', 'noexec', 'nosuid']))
  .max(6)
  .optional()
/** A path inside a container or on the host: whole names only, none that lead upwards. */
const PATH = /^(?:\/[a-zA-Z0-9_][a-zA-Z0-9._-]*)+$/
const path = matching(PATH, 'a path like /srv/data', 400)
const interfaceName = matching(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, 'the name of a network card inside, like eth0', 15)

const volume = { acl: on, mountOptions, quota: on, replicate: on }

/** Fields of the provider that are read and checked for their type, and that croft does not keep. */
export const unkeptContainerFields = {
  clone: block(
    z.strictObject({
      datastoreId: storageName.optional(),
      full: on,
      nodeName: hostName.optional(),
      vmId: vmid.optional(),
    }),
  ),
  idmap: blocks(
    z.strictObject({
      containerId: whole(0, 4_294_967_295).optional(),
      hostId: whole(0, 4_294_967_295).optional(),
      size: whole(0, 4_294_967_295).optional(),
      type: z.enum(['uid', 'gid']).optional(),
    }),
    100,
  ),
  timeoutClone: timeout,
  timeoutCreate: timeout,
  timeoutDelete: timeout,
  timeoutStart: timeout,
  timeoutUpdate: timeout,
  waitForIp: block(z.strictObject({ ipv4: on, ipv6: on })),
}

/** Every field of the provider's EnvironmentContainer. */
export const containerFields = {
  ...unkeptContainerFields,
  console: block(
    z.strictObject({
      enabled: on,
      ttyCount: whole(0, 6).optional(),
      type: z.enum(['console', 'shell', 'tty']).optional(),
    }),
  ),
  cpu: block(
    z.strictObject({
      architecture: z.enum(ARCHITECTURES).optional(),
      cores: whole(1, 8192).optional(),
      limit: z.number().min(0).max(8192).optional(),
      units: whole(0, 500_000).optional(),
    }),
  ),
  description: description.optional(),
  devicePassthrough: blocks(
    z.strictObject({
      denyWrite: on,
      gid: whole(0, 4_294_967_295).optional(),
      mode: matching(/^0[0-7]{3}$/, 'four octal digits like 0660').optional(),
      path: matching(/^\/dev(?:\/[a-zA-Z0-9_][a-zA-Z0-9._-]*)+$/, 'a device like /dev/dri/renderD128', 200),
      uid: whole(0, 4_294_967_295).optional(),
    }),
    256,
  ),
  disk: block(z.strictObject({ ...volume, datastoreId: storageName.optional(), size: gigabytes.optional() })),
  environmentVariables: z
    .record(
      matching(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name like HTTP_PROXY', 200),
      matching(
        /^(?:[A-Za-z0-9][A-Za-z0-9 .:/@%+=_-]*)?$/,
        'a value of letters, digits and . : / @ % + = _ -',
        2000,
      ).refine((text) => !text.includes('..') && !/[,=].*=/.test(text), { error: 'a value without .. in it' }),
    )
    .optional(),
  features: block(
    z.strictObject({
      fuse: on,
      keyctl: on,
      mknod: on,
      mount: z
        .array(matching(/^[a-z0-9][a-z0-9_]*$/, 'a kind of file system like nfs', 40))
        .max(20)
        .optional(),
      nesting: on,
    }),
  ),
  hookScriptFileId: volumeName.optional(),
  initialization: block(
    z.strictObject({
      dns: block(
        z.strictObject({
          domain: dnsName.optional(),
          server: ipAddress.optional(),
          servers: z.array(ipAddress).max(10).optional(),
        }),
      ),
      entrypoint: matching(
        /^\/?[a-zA-Z0-9_][a-zA-Z0-9_.-]*(?:\/[a-zA-Z0-9_][a-zA-Z0-9_.-]*)*$/,
        'a program like /sbin/init, without arguments',
        400,
      ).optional(),
      hostname: dnsName.optional(),
      ipConfig: blocks(
        z.strictObject({
          ipv4: block(z.strictObject({ address: ipv4Setting.optional(), gateway: ipv4.optional() })),
          ipv6: block(z.strictObject({ address: ipv6Setting.optional(), gateway: ipv6Gateway.optional() })),
        }),
        32,
      ),
      userAccount: block(
        z.strictObject({
          keys: z.array(sshKey).max(100).optional(),
          passwordSecretRef: z
            .strictObject({ key: line, name: objectName, namespace: objectName.optional() })
            .optional(),
        }),
      ),
    }),
  ),
  memory: block(
    z.strictObject({ dedicated: whole(16, 16 * 1024 * 1024).optional(), swap: whole(0, 16 * 1024 * 1024).optional() }),
  ),
  mountPoint: blocks(
    z.strictObject({
      ...volume,
      backup: on,
      path,
      readOnly: on,
      shared: on,
      size: matching(/^[1-9][0-9]{0,5}G$/, 'a size like 8G').optional(),
      volume: z.union([storageName, volumeName, path], {
        error: 'a storage like local-zfs, a volume that exists, or a path of the host',
      }),
    }),
    256,
  ),
  networkInterface: blocks(
    z.strictObject({
      bridge: bridgeName.optional(),
      enabled: on,
      firewall: on,
      hostManaged: on,
      macAddress: macAddress.optional(),
      mtu: z
        .union([whole(64, 65_535), z.literal(0)], { error: 'a size from 64 to 65535, or 0 for that of the bridge' })
        .optional(),
      name: interfaceName,
      rateLimit: z.number().min(0).max(100_000).optional(),
      /** The provider writes 0 for none. */
      vlanId: z.union([vlanId, z.literal(0)], { error: 'a VLAN number from 1 to 4094' }).optional(),
    }),
    32,
  ),
  nodeName: hostName.optional(),
  operatingSystem: block(z.strictObject({ templateFileId: volumeName.optional(), type: z.enum(OS_TYPES).optional() })),
  poolId: poolName.optional(),
  protection: on,
  startOnBoot: on,
  started: on,
  startup: block(
    z.strictObject({ downDelay: seconds.optional(), order: whole(0, 100_000).optional(), upDelay: seconds.optional() }),
  ),
  tags: z.array(tag).max(100).optional(),
  template: on,
  unprivileged: on,
  vmId: vmid.optional(),
}
