import { isRecord } from '../../../src/lib/is-record.ts'

/** Compares an answer with the recorded one: values where they mean something, kinds where they are born of the run. */

const BORN_OF_THE_RUN = new Set(
  (
    'digest upid pid pstart starttime endtime ctime vmgenid smbios1 meta uptime disk mem cpu avail used total used_fraction maxdisk maxmem maxcpu memhost ' +
    'value ticket CSRFPreventionToken netin netout diskread diskwrite pressurecpufull loadavg time localtime free rootfs swap memory ssl_fingerprint size fingerprint ' +
    'idle wait kversion cpuinfo current-kernel boot-info pveversion version repoid release saved n t level uid msg changes expire snaptime ' +
    'created recovery cert password image notbefore notafter tx-bytes tx-packets rx-bytes rx-packets'
  ).split(' '),
)

const UPID = /UPID:[^"\s/]+:/g

export function normal(text: string): string {
  return text
    .replace(UPID, 'UPID')
    .replace(/[0-9A-F]{2}(:[0-9A-F]{2}){5}/gi, 'MAC')
    .replace(/[0-9a-f]{40}/g, 'SHA')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replace(/\$5\$\S+/g, 'HASH')
    .replace(/ at \/\S+ line \d+\.?/g, '')
    .replace(/\b1[67]\d{8}\b/g, 'TIME')
    .trim()
}

/** What differs, one line each, with where. */
export function differences(want: unknown, got: unknown, at = ''): string[] {
  if (kindOf(want) !== kindOf(got)) return [`${at}: ${kindOf(want)} != ${kindOf(got)}`]
  if (Array.isArray(want) && Array.isArray(got)) return ofLists(want, got, at)
  if (isRecord(want) && isRecord(got)) return ofObjects(want, got, at)
  if (typeof want === 'string' && typeof got === 'string') return ofTexts(want, got, at)
  return want === got ? [] : [`${at}: ${String(want)} != ${String(got)}`]
}

function ofObjects(want: Record<string, unknown>, got: Record<string, unknown>, at: string): string[] {
  const found: string[] = []
  for (const [key, value] of Object.entries(want)) {
    const volatile = BORN_OF_THE_RUN.has(key)
    if (!Object.hasOwn(got, key)) {
      if (!volatile) found.push(`${at}.${key} missing`)
    } else if (volatile) {
      if (kindOf(value) !== kindOf(got[key])) found.push(`${at}.${key}: ${kindOf(value)} != ${kindOf(got[key])}`)
    } else found.push(...differences(value, got[key], `${at}.${key}`))
  }
  for (const key of Object.keys(got)) {
    if (!Object.hasOwn(want, key) && !BORN_OF_THE_RUN.has(key)) found.push(`${at}.${key} extra`)
  }
  return found
}

function ofLists(want: unknown[], got: unknown[], at: string): string[] {
  if (want.length !== got.length) return [`${at}: ${want.length} items != ${got.length}`]
  const sorted = (list: unknown[]) =>
    [...list].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0))
  const others = sorted(got)
  return sorted(want).flatMap((value, index) => differences(value, others[index], `${at}[${index}]`))
}

const NAMES = [
  'id',
  'macro',
  'filename',
  'realm',
  'volid',
  'sid',
  'key',
  'vmid',
  'iface',
  'name',
  'userid',
  'roleid',
  'storage',
]

function sortKey(value: unknown): string {
  if (!isRecord(value)) return JSON.stringify(value)
  for (const name of NAMES) if (value[name]) return normal(JSON.stringify(value[name]))
  return '""'
}

function ofTexts(want: string, got: string, at: string): string[] {
  const split = (text: string) => normal(text).split(/[,;]/).sort().join(',')
  const same = /[,;]/.test(want + got) ? split(want) === split(got) : normal(want) === normal(got)
  return same ? [] : [`${at}: ${want.slice(0, 90)} != ${got.slice(0, 90)}`]
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  return Array.isArray(value) ? 'list' : typeof value
}
