import { z } from 'zod'
import { labels } from '../cluster/node-schema.ts'
import { ipAddress } from '../fields/address.ts'
import { secretReference } from '../fields/ssh.ts'
import { dnsName, hostName, matching, objectName, sshKey } from '../fields/text.ts'
import * as field from './fields.ts'

const on = z.boolean().optional()
const most = 500
const list = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).max(most).default([])
const rights = { mode: field.mode.optional(), owner: field.account.optional(), group: field.account.optional() }
const erase = z.array(field.serial).max(50).optional()
const cidr = matching(/^[0-9a-fA-F.:]+\/[0-9]{1,3}$/, 'an address with its prefix, like fd12::2/64', 50)

/** Options of sshd with their values. Those that could lock everybody out are left out. */
const sshd = z.strictObject({
  passwordAuthentication: z.boolean().optional(),
  kbdInteractiveAuthentication: z.boolean().optional(),
  permitRootLogin: z.enum(['yes', 'no', 'prohibit-password']).optional(),
  allowUsers: z.array(field.account).max(100).optional(),
  x11Forwarding: z.boolean().optional(),
  allowTcpForwarding: z.boolean().optional(),
  allowAgentForwarding: z.boolean().optional(),
  maxAuthTries: z.int().min(1).max(20).optional(),
  loginGraceTime: z.int().min(5).max(600).optional(),
  clientAliveInterval: z.int().min(0).max(3600).optional(),
})

export const schema = z.strictObject({
  hosts: z.union([
    z.array(objectName).min(1).max(most),
    z.strictObject({
      names: z.array(objectName).max(most).optional(),
      labels: labels.optional(),
    }),
  ]),
  reboot: z.enum(['allowed', 'refused']).default('refused'),
  aptRepositories: list(
    z.strictObject({
      name: field.plainName,
      uris: z.array(field.url).min(1).max(10),
      suites: z
        .array(field.plainName.or(z.literal('/')))
        .min(1)
        .max(10),
      components: z.array(field.plainName).max(10).default([]),
      architectures: z.array(field.plainName).max(10).optional(),
      key: field.armoured.optional(),
    }),
  ),
  packages: list(
    z.union([
      field.packageName,
      z.strictObject({ name: field.packageName, version: field.version.optional(), absent: on }),
    ]),
  ),
  users: list(
    z.strictObject({
      name: field.account,
      uid: z.int().min(0).max(60_000).optional(),
      groups: z.array(field.account).max(50).default([]),
      shell: field.path.optional(),
      home: field.path.optional(),
      system: on,
      keys: z.array(sshKey).max(100).optional(),
      sudo: on,
      absent: on,
    }),
  ),
  directories: list(z.strictObject({ path: field.path, ...rights, absent: on })),
  files: list(
    z
      .strictObject({
        path: field.path,
        content: field.fileText.optional(),
        secret: secretReference.optional(),
        ...rights,
        absent: on,
        /** Units that are restarted, if they run, when it has changed. */
        restart: z.array(field.unitName).max(10).optional(),
      })
      .refine(
        (one) =>
          [one.content, one.secret, one.absent === true ? true : undefined].filter((value) => value !== undefined)
            .length === 1,
        {
          error: 'one of content, secret and absent: true',
        },
      ),
  ),
  fetches: list(
    z
      .strictObject({
        path: field.path,
        url: field.fetchUrl,
        sha256: matching(/^[0-9a-f]{64}$/, 'the SHA-256 of what the address gives, in 64 hex digits', 64),
        version: field.plainName.optional(),
        mode: field.mode.optional(),
        archive: on,
        member: field.memberPath.optional(),
        absent: on,
      })
      .refine((one) => one.member === undefined || one.archive === true, {
        error: 'member names a file in an archive: write archive: true too',
        path: ['member'],
      }),
  ),
  commands: list(
    z
      .strictObject({
        name: field.plainName,
        run: z.array(field.oneLine).min(1).max(100),
        creates: field.path.optional(),
        unless: z.array(field.oneLine).min(1).max(100).optional(),
        directory: field.path.optional(),
        timeoutSeconds: z.int().min(1).max(3600).optional(),
      })
      .refine((one) => one.creates !== undefined || one.unless !== undefined, {
        error: 'creates or unless must say when there is nothing to do; without them it would run again and again',
      }),
  ),
  lines: list(z.strictObject({ path: field.path, line: field.oneLine, match: field.oneLine.optional(), absent: on })),
  blocks: list(
    z.strictObject({ path: field.path, name: field.plainName, content: field.fileText.default(''), absent: on }),
  ),
  sshd: sshd.optional(),
  sysctl: z.record(field.sysctlKey, z.union([field.sysctlValue, z.int()]).transform(String)).default({}),
  modules: list(
    z.union([
      field.moduleName,
      z.strictObject({ name: field.moduleName, options: field.oneLine.optional(), absent: on }),
    ]),
  ),
  kernel: z
    .strictObject({
      args: z.array(field.kernelArg).max(100).default([]),
      remove: z.array(field.kernelArg).max(100).default([]),
    })
    .optional(),
  vfio: z
    .strictObject({
      ids: z
        .array(matching(/^[0-9a-f]{4}:[0-9a-f]{4}$/, 'an id like 10de:2484'))
        .min(1)
        .max(32),
      blacklist: z.array(field.moduleName).max(32).default([]),
    })
    .optional(),
  udev: list(z.strictObject({ name: field.plainName, rules: field.fileText })),
  coral: z.enum(['usb', 'pcie']).optional(),
  units: list(
    z.strictObject({
      name: field.unitName,
      content: field.fileText.optional(),
      dropIn: field.fileText.optional(),
      enabled: on,
      state: z.enum(['started', 'stopped']).optional(),
      masked: on,
    }),
  ),
  mounts: list(
    z.strictObject({
      path: field.path,
      device: matching(
        /^(?!.*\.\.\/)(?:(?:UUID|LABEL|PARTUUID|PARTLABEL)=[A-Za-z0-9_.-]+|\/[A-Za-z0-9_@%+:=,./-]+|[A-Za-z0-9][A-Za-z0-9_.:/-]*|tmpfs)$/,
        'a device like UUID=… or /dev/disk/by-id/…, or a share',
        300,
      ),
      fs: field.plainName,
      options: matching(
        /^(?!.*\.\.\/)[A-Za-z0-9_][A-Za-z0-9_=,.:/@+-]*$/,
        'options with commas between them',
        500,
      ).default('defaults'),
      mounted: z.boolean().default(true),
      required: z.literal(true).optional(),
    }),
  ),
  btrfs: list(
    z.strictObject({
      path: field.path,
      device: field.diskById,
      label: field.plainName.optional(),
      subvolumes: z.array(field.plainName).max(50).default([]),
      erase,
    }),
  ),
  zpools: list(
    z.strictObject({
      name: field.plainName,
      vdevs: z
        .array(
          z.strictObject({
            type: z.enum(['disk', 'mirror', 'raidz1', 'raidz2']).default('disk'),
            devices: z.array(field.diskById).min(1).max(32),
          }),
        )
        .min(1)
        .max(32),
      properties: field.property.default({}),
      import: on,
      erase,
    }),
  ),
  datasets: list(
    z.strictObject({
      name: matching(
        /^(?!.*\.\.\/)[A-Za-z0-9][A-Za-z0-9_.:-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.:-]*)+$/,
        'a dataset like tank/media',
        255,
      ),
      properties: field.property.default({}),
    }),
  ),
  cephDisks: list(z.strictObject({ device: field.diskById, erase })),
  addresses: list(
    z.strictObject({
      interface: field.interfaceName,
      manager: z.enum(['networkmanager', 'netplan', 'ifupdown']),
      addresses: z.array(cidr).min(1).max(20),
      gateway4: ipAddress.optional(),
      gateway6: ipAddress.optional(),
      dns: z.array(ipAddress).max(5).default([]),
      /** Must answer afterwards, or everything is taken back. */
      reach: ipAddress.optional(),
    }),
  ),
  hostname: hostName.optional(),
  hostEntries: list(z.strictObject({ address: ipAddress, names: z.array(dnsName).min(1).max(20) })),
  dns: z
    .strictObject({ servers: z.array(ipAddress).min(1).max(5), search: z.array(dnsName).max(6).default([]) })
    .optional(),
  time: z
    .strictObject({
      timezone: matching(/^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)*$/, 'a time zone like Europe/Zurich', 60).optional(),
      servers: z
        .array(z.union([dnsName, ipAddress]))
        .max(10)
        .default([]),
    })
    .optional(),
  nodeExporter: z
    .strictObject({
      listen: matching(/^[0-9A-Za-z.:[\]-]*:[0-9]{1,5}$/, 'where it listens, like :9100', 100).default(':9100'),
      collectors: z.array(field.plainName).max(50).default([]),
    })
    .optional(),
})

export type HostConfigSpec = z.output<typeof schema>
