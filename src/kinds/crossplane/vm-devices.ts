import { z } from 'zod'
import { block, blocks } from '../fields/block.ts'
import { whole } from '../fields/number.ts'
import { fileName, hostName, matching, storageName, volumeName } from '../fields/text.ts'

const on = z.boolean().optional()
const CPUS = /^[0-9]+(?:-[0-9]+)?(?:;[0-9]+(?:-[0-9]+)?)*$/
const cpuList = matching(CPUS, 'numbers like 0-3 or 0;2', 200)
const PCI_ID = '(?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\\.[0-7])?'

/** The name of a resource mapping of the datacentre. */
const mapping = matching(
  /^[a-zA-Z][a-zA-Z0-9_-]+$/,
  'the name of a resource mapping: a letter, then letters, digits, _ or -',
  128,
)

/** A text for the firmware tables. */
const firmwareText = z
  .string()
  .max(256)
  // Sent in base64, so that a comma in it ends nothing.
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9 ._()+,-]*[A-Za-z0-9.)+])?$/, {
    error: 'letters, digits, spaces, dots, commas, brackets, dashes, plus signs or underscores',
  })
  .optional()

/** Devices and settings of the provider's EnvironmentVM that are one small block each. */
export const deviceFields = {
  acpi: on,
  amdSev: block(
    z.strictObject({
      allowSmt: on,
      kernelHashes: on,
      noDebug: on,
      noKeySharing: on,
      type: z.enum(['std', 'es', 'snp']).optional(),
    }),
  ),
  audioDevice: block(
    z.strictObject({
      device: z.enum(['AC97', 'ich9-intel-hda', 'intel-hda']).optional(),
      driver: z.enum(['spice', 'none']).optional(),
      enabled: on,
    }),
  ),
  clone: block(
    z.strictObject({
      datastoreId: storageName.optional(),
      full: on,
      nodeName: hostName.optional(),
      retries: whole(0, 1000).optional(),
      vmId: whole(100, 999_999_999),
    }),
  ),
  hookScriptFileId: volumeName.optional(),
  hostpci: blocks(
    z.strictObject({
      device: matching(/^hostpci(?:[0-9]|1[0-5])$/, 'a place like hostpci0'),
      id: matching(new RegExp(`^${PCI_ID}(?:;${PCI_ID})*$`), 'a PCI address like 0000:01:00.0', 200).optional(),
      mapping: mapping.optional(),
      mdev: matching(/^[a-zA-Z0-9][a-zA-Z0-9_-]*$/, 'the type of a mediated device like nvidia-63', 100).optional(),
      pcie: on,
      romFile: fileName.optional(),
      rombar: on,
      xvga: on,
    }),
    16,
  ),
  hotplug: matching(
    /^(?:[01]|(?:network|disk|usb|memory|cpu|cloudinit)(?:,(?:network|disk|usb|memory|cpu|cloudinit))*)$/,
    '0, 1, or a list like network,disk,usb,memory,cpu',
    60,
  ).optional(),
  numa: blocks(
    z.strictObject({
      cpus: cpuList,
      device: matching(/^numa[0-7]$/, 'a place like numa0'),
      hostnodes: cpuList.optional(),
      memory: whole(1, 16 * 1024 * 1024).optional(),
      policy: z.enum(['preferred', 'bind', 'interleave']).optional(),
    }),
    8,
  ),
  rebootAfterUpdate: on,
  rng: block(
    z.strictObject({
      maxBytes: whole(0, 1_000_000_000).optional(),
      period: whole(0, 86_400_000).optional(),
      source: z.enum(['/dev/urandom', '/dev/random', '/dev/hwrng']),
    }),
  ),
  smbios: block(
    z.strictObject({
      family: firmwareText,
      manufacturer: firmwareText,
      product: firmwareText,
      serial: firmwareText,
      sku: firmwareText,
      uuid: matching(/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'a UUID').optional(),
      version: firmwareText,
    }),
  ),
  tpmState: block(
    z.strictObject({ datastoreId: storageName.optional(), version: z.enum(['v1.2', 'v2.0']).optional() }),
  ),
  usb: blocks(
    z.strictObject({
      host: matching(
        /^(?:[0-9a-fA-F]{4}:[0-9a-fA-F]{4}|[0-9]+-[0-9]+(?:\.[0-9]+)*|spice)$/,
        'a USB device like 1234:5678, a port like 1-2, or spice',
        60,
      ).optional(),
      mapping: mapping.optional(),
      usb3: on,
    }),
    14,
  ),
  virtiofs: blocks(
    z.strictObject({
      cache: z.enum(['auto', 'always', 'metadata', 'never']).optional(),
      directIo: on,
      exposeAcl: on,
      exposeXattr: on,
      mapping,
    }),
    10,
  ),
  watchdog: block(
    z.strictObject({
      action: z.enum(['none', 'reset', 'shutdown', 'poweroff', 'pause', 'debug']).optional(),
      enabled: on,
      model: z.enum(['i6300esb', 'ib700']).optional(),
    }),
  ),
}
