import { inlineKeys } from '../shape.ts'
import { CPU_FLAGS, CPU_TYPES } from './cpu-types.ts'
import type { Formats, Known } from './format.ts'

const HEX = { like: '0x[0-9a-fA-F]{4}' } as const
const BASE64 = { like: '[A-Za-z0-9+/]+={0,2}' } as const
const PCI_ADDRESS = '(?:[0-9a-fA-F]{4,}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\\.[0-9a-fA-F])?'
const UUID = '[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}'

const DISK_SIZE = { as: 'disk-size' } as const
const YES_NO = { is: 'boolean' } as const
const COUNT = { is: 'integer' } as const
const SPEED = { is: 'number' } as const
const LENGTH = { is: 'integer', from: 1 } as const

/** Hardware of a VM whose keys the schema only names. */
export const MACHINE_FORMATS: Formats = {
  'pve-vm-cpu-conf': {
    keys: inlineKeys({
      'cputype?=': {},
      'flags?': { like: '(?:[+-][a-zA-Z0-9\\-_.]+)(?:;[+-][a-zA-Z0-9\\-_.]+)*' },
      'guest-phys-bits?': { is: 'integer', from: 32, to: 64 },
      'hidden?': YES_NO,
      'hv-vendor-id?': { like: '[a-zA-Z0-9]{1,12}' },
      'level?': { is: 'integer', from: 1, to: 32 },
      'phys-bits?': { as: 'pve-phys-bits' },
      'reported-model?': { in: CPU_TYPES.filter((type) => !type.startsWith('x86-64-v')) },
    }),
    together: cpuError,
  },
  'pve-qm-hostpci': {
    keys: inlineKeys({
      'host?=': { like: `${PCI_ADDRESS}(?:;${PCI_ADDRESS})*` },
      'device-id?': HEX,
      'driver?': { in: ['vfio', 'keep'] },
      'legacy-igd?': YES_NO,
      'mapping?': { as: 'pve-configid' },
      'mdev?': { like: '[^/\\.:]+' },
      'pcie?': YES_NO,
      'rombar?': YES_NO,
      'romfile?': { like: '[^,;]+' },
      'sub-device-id?': HEX,
      'sub-vendor-id?': HEX,
      'vendor-id?': HEX,
      'x-vga?': YES_NO,
    }),
  },
  'pve-qm-rng': {
    keys: inlineKeys({
      'source=': { in: ['/dev/urandom', '/dev/random', '/dev/hwrng'] },
      'max_bytes?': COUNT,
      'period?': COUNT,
    }),
  },
  'pve-qm-smbios1': {
    keys: inlineKeys({
      'base64?': YES_NO,
      'family?': BASE64,
      'manufacturer?': BASE64,
      'product?': BASE64,
      'serial?': BASE64,
      'sku?': BASE64,
      'uuid?': { like: UUID },
      'version?': BASE64,
    }),
  },
  'pve-qm-watchdog': {
    keys: inlineKeys({
      'model?=': { in: ['i6300esb', 'ib700'] },
      'action?': { in: ['reset', 'shutdown', 'poweroff', 'pause', 'debug', 'none'] },
    }),
  },
  'pve-qemu-sev-fmt': {
    keys: inlineKeys({
      'type=': { in: ['std', 'es', 'snp'], long: 3 },
      'allow-smt?': YES_NO,
      'kernel-hashes?': YES_NO,
      'no-debug?': YES_NO,
      'no-key-sharing?': YES_NO,
    }),
  },
  'pve-qemu-tdx-fmt': {
    keys: inlineKeys({
      'type=': { in: ['tdx'] },
      attestation: YES_NO,
      'vsock-cid?': { is: 'integer', from: 2 },
      'vsock-port?': { is: 'integer', from: 0 },
    }),
  },
  'pve-qm-ide': {
    keys: inlineKeys({
      'file=': { as: 'pve-volume-id-or-qm-path' },
      volume: 'file',
      'aio?': { in: ['native', 'threads', 'io_uring'] },
      'backup?': YES_NO,
      'bps?': COUNT,
      'bps_max_length?': LENGTH,
      'bps_rd?': COUNT,
      'bps_rd_max_length?': LENGTH,
      bps_rd_length: 'bps_rd_max_length',
      'bps_wr?': COUNT,
      'bps_wr_max_length?': LENGTH,
      bps_wr_length: 'bps_wr_max_length',
      'cache?': { in: ['none', 'writethrough', 'writeback', 'unsafe', 'directsync'] },
      'detect_zeroes?': YES_NO,
      'discard?': { in: ['ignore', 'on'] },
      'format?': { in: ['raw', 'qcow', 'qed', 'qcow2', 'vmdk', 'cloop'] },
      'iops?': COUNT,
      'iops_max?': COUNT,
      'iops_max_length?': LENGTH,
      'iops_rd?': COUNT,
      'iops_rd_max?': COUNT,
      'iops_rd_max_length?': LENGTH,
      iops_rd_length: 'iops_rd_max_length',
      'iops_wr?': COUNT,
      'iops_wr_max?': COUNT,
      'iops_wr_max_length?': LENGTH,
      iops_wr_length: 'iops_wr_max_length',
      'mbps?': SPEED,
      'mbps_max?': SPEED,
      'mbps_rd?': SPEED,
      'mbps_rd_max?': SPEED,
      'mbps_wr?': SPEED,
      'mbps_wr_max?': SPEED,
      'media?': { in: ['cdrom', 'disk'] },
      'model?': { as: 'urlencoded', long: 120 },
      'replicate?': YES_NO,
      'rerror?': { in: ['ignore', 'report', 'stop'] },
      'serial?': { as: 'urlencoded', long: 60 },
      'shared?': YES_NO,
      'size?': DISK_SIZE,
      'snapshot?': YES_NO,
      'ssd?': YES_NO,
      'werror?': { in: ['enospc', 'ignore', 'report', 'stop'] },
      'wwn?': { like: '(?:0x)[0-9a-fA-F]{16}' },
    }),
  },
}

/** "0" is false to the daemon, as if no type had been named. */
function cpuError(values: ReadonlyMap<string, string>, known: Known): string | undefined {
  const type = values.get('cputype')
  if (type === undefined || type === '0') return 'CPU is missing cputype'
  const custom = /^custom-(.*)$/.exec(type)?.[1]
  if (custom !== undefined && !known.cpuModels?.has(custom)) return `Custom cputype '${custom}' not found`
  if (custom === undefined && !CPU_TYPES.includes(type))
    return `Built-in cputype '${type}' is not defined (missing 'custom-' prefix?)`
  const flags = (values.get('flags') ?? '').split(';').filter((flag) => flag !== '')
  return flags.every((flag) => CPU_FLAGS.includes(flag.slice(1)))
    ? undefined
    : `VM-specific CPU flags must be a subset of: ${CPU_FLAGS.join(', ')}`
}
