import { at, type Foreign, isRecord, recordOf, textOf } from '../../../kubernetes/objects.ts'
import { cleanText } from '../../../lib/clean-text.ts'
import { recordIn } from '../../../lib/foreign-json.ts'
import { LIMITS } from '../../../lib/limits.ts'

/** One revision of a release, as Helm stores it in a Secret. */
export interface ReleaseRecord {
  readonly revision: number
  /** deployed, failed, pending-install, pending-upgrade, pending-rollback, uninstalling, uninstalled. */
  readonly status: string
  readonly description: string
  /** When this revision started. */
  readonly sinceMs: number
  readonly chart: { readonly name: string; readonly version: string }
  /** The values that a person gave, without the chart's defaults. */
  readonly values: Foreign
  readonly manifest: string
  /** Its objects were applied server-side: then Helm resets every field, also of custom resources. */
  readonly serverSide: boolean
}

/** Returns the release in one of Helm's Secrets; undefined for other content. */
export function readRecord(secret: Foreign): ReleaseRecord | undefined {
  const packed = at(secret, 'data', 'release')
  if (typeof packed !== 'string') return undefined
  const release = recordIn(unpacked(packed) ?? '')
  if (release === undefined) return undefined
  const info = recordOf(release.info)
  const metadata = at(release, 'chart', 'metadata')
  const since = Date.parse(textOf(info.last_deployed) ?? '')
  return {
    revision: typeof release.version === 'number' ? release.version : 0,
    status: cleanText(textOf(info.status) ?? 'unknown'),
    description: cleanText(textOf(info.description) ?? '', 400),
    sinceMs: Number.isNaN(since) ? 0 : since,
    chart: { name: textOf(at(metadata, 'name')) ?? '', version: textOf(at(metadata, 'version')) ?? '' },
    values: isRecord(release.config) ? release.config : {},
    manifest: typeof release.manifest === 'string' ? release.manifest : '',
    serverSide: release.apply_method === 'ssa',
  }
}

/** Helm packs JSON with gzip and writes it as base64; the API does so once more. */
function unpacked(text: string): string | undefined {
  try {
    const bytes = Buffer.from(Buffer.from(text, 'base64').toString('latin1'), 'base64')
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8')
    // Loaded only when a release is read.
    const { gunzipSync } = process.getBuiltinModule('node:zlib')
    return gunzipSync(bytes, { maxOutputLength: LIMITS.addonBytes }).toString('utf8')
  } catch {
    return undefined
  }
}

/** Status of an unreadable record: a release exists, but not which. */
export const UNREADABLE = 'unreadable'

export const UNREADABLE_RECORD: ReleaseRecord = {
  revision: 0,
  status: UNREADABLE,
  description: 'its record cannot be read',
  sinceMs: 0,
  chart: { name: '', version: '' },
  values: {},
  manifest: '',
  serverSide: false,
}

/** Returns the record of each release's newest revision, by their labels alone. */
export function newestRecords(metadata: readonly Foreign[]): readonly Foreign[] {
  const newest = new Map<string, Foreign>()
  for (const one of metadata) {
    const name = `${textOf(at(one, 'metadata', 'namespace')) ?? ''}/${textOf(at(one, 'metadata', 'labels', 'name')) ?? ''}`
    const before = newest.get(name)
    if (before === undefined || revisionOf(before) < revisionOf(one)) newest.set(name, one)
  }
  return [...newest.values()]
}

function revisionOf(one: Foreign): number {
  return Number(textOf(at(one, 'metadata', 'labels', 'version')) ?? 0)
}
