import { inlineKeys } from '../shape.ts'
import { isAddress } from './addresses.ts'
import { type Formats, matching } from './format.ts'
import { isDnsName } from './names.ts'

const CONTENT_TYPES: ReadonlySet<string> = new Set([
  'images',
  'rootdir',
  'vztmpl',
  'iso',
  'backup',
  'snippets',
  'import',
  'none',
])

export function storageIdError(text: string): string | undefined {
  // Counted in bytes: one letter outside ASCII is long enough to be looked at.
  if (Buffer.byteLength(text) < 2) return `storage ID '${text}' cannot be shorter than 2 characters`
  return /^[a-z][a-z0-9\-_.]*[a-z0-9]$/i.test(text) ? undefined : `storage ID '${text}' contains illegal characters`
}

function contentError(text: string): string | undefined {
  return CONTENT_TYPES.has(text) ? undefined : `invalid content type '${text}'`
}

const KEEP = { is: 'integer' } as const

/** Storages, what they hold and how it is kept. */
export const STORAGE_FORMATS: Formats = {
  'pve-storage-id': { judge: storageIdError },
  'pve-storage-content': { judge: contentError },
  'pve-storage-path': matching(/^\/./, () => 'value does not look like a valid absolute path'),
  'pve-storage-path-in-property-string': matching(
    /^\/[^;,=()]+$/,
    () => 'Value does not look like a valid absolute path. These symbols are currently not allowed in path: ;,=()',
  ),
  'pve-storage-server': {
    judge: (text) =>
      text !== '0' && (isAddress(text) || isDnsName(text))
        ? undefined
        : 'value does not look like a valid server name or IP address',
  },
  'pve-storage-portal-dns': matching(
    /^(?:[a-zA-Z0-9.-]+|\[[a-fA-F0-9:.]+\]|[a-fA-F0-9:]+:[a-fA-F0-9:.]+)(?::\d+)?$/,
    () => 'value does not look like a valid portal address',
  ),
  'pve-storage-options': matching(/^\S+$/, (text) => `invalid options '${text}'`),
  'pve-storage-vgname': matching(
    /^[a-z0-9][a-z0-9\-_.]*[a-z0-9]$/i,
    (text) => `lvm name '${text}' contains illegal characters`,
  ),
  'pve-storage-zfs-blocksize': { judge: blockSizeError },
  'pve-dir-override': { judge: overrideError },
  'storage-pair': { judge: (text) => pairError(text, storageIdError) },
  'bridge-pair': {
    judge: (text) => pairError(text, (id) => (/^[-_.\w\d]+$/.test(id) ? undefined : `invalid bridge ID '${id}'`)),
  },
  'backup-fleecing': {
    keys: inlineKeys({ 'enabled?=': { is: 'boolean' }, 'storage?': { as: 'pve-storage-id' } }),
    together: (values) =>
      values.get('enabled') === '1' && !values.has('storage')
        ? "'storage' parameter is required when 'enabled' is set"
        : undefined,
  },
  'backup-performance': {
    keys: inlineKeys({
      'max-workers?': { is: 'integer', from: 1, to: 256 },
      'pbs-entries-max?': { is: 'integer', from: 1 },
    }),
  },
  'prune-backups': {
    keys: inlineKeys({
      'keep-all?': { is: 'boolean' },
      'keep-last?': KEEP,
      'keep-hourly?': KEEP,
      'keep-daily?': KEEP,
      'keep-weekly?': KEEP,
      'keep-monthly?': KEEP,
      'keep-yearly?': KEEP,
    }),
    together: (values) =>
      values.get('keep-all') === '1' && values.size > 1
        ? 'keep-all cannot be set together with other options.'
        : undefined,
  },
}

function blockSizeError(text: string): string | undefined {
  if (text === '') return undefined
  const [, digits = '', unit = ''] = /^([1-9]\d*)([km]?)$/i.exec(text) ?? []
  if (digits === '') {
    return `invalid ZFS blocksize format '${text}'. Use a positive number (no leading zeros) with an optional 'k' or 'm' suffix.`
  }
  const bytes = Number(digits) * (unit === '' ? 1 : unit.toLowerCase() === 'k' ? 1024 : 1024 * 1024)
  const power = Number.isInteger(Math.log2(bytes))
  if (power && bytes >= 512 && bytes <= 16 * 1024 * 1024) return undefined
  return `value '${text}' is not a valid ZFS blocksize. Must be a power of 2 between 512B and 16MiB (e.g., 4k, 8k, 16k, 64k, 1m).`
}

function overrideError(text: string): string | undefined {
  // No two dots follow each other: the folder stays below the storage's own.
  const [, type, path = ''] = /^([a-z]+)=([^.]*(?:\.?[^.]+)+)$/.exec(text) ?? []
  const tooLong = path.length >= 1023 || path.split('/').some((part) => part.length >= 255)
  return type === undefined || tooLong ? `invalid override '${text}'` : contentError(type)
}

/** `from:to`, or one name for both. The daemon's sentence about a bad one ends with two more newlines. */
function pairError(text: string, idError: (id: string) => string | undefined): string | undefined {
  if (text === '1') return undefined
  const [from = text, to] = /^[^:]+:[^:]+$/.test(text) ? text.split(':') : [text]
  const complaint = idError(from) ?? (to === undefined ? undefined : idError(to))
  return complaint === undefined ? undefined : `entry '${text}' contains invalid ID - ${complaint}\n\n`
}
