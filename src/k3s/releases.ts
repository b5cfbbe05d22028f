import { RELEASE_TABLE } from './release-table.ts'
import { compareEtcd, compareVersions, parseVersion } from './version.ts'

export interface Release {
  readonly version: string
  readonly minor: number
  /** `2026-02-03`. */
  readonly date: string
  readonly etcd: string
  /** Place in the order of versions; for comparing many of them quickly. */
  readonly place: number
  /** Index of its etcd version. */
  readonly etcdPlace: number
}

const ETCDS = [...new Set(RELEASE_TABLE.map(([, , etcd]) => etcd))].sort(compareEtcd)

/** Oldest version first. */
export const RELEASES: readonly Release[] = [...RELEASE_TABLE]
  .sort(([a], [b]) => compareVersions(a, b))
  .map(([version, date, etcd], place) => ({
    version,
    minor: parseVersion(version)?.minor ?? 0,
    date,
    etcd,
    place,
    etcdPlace: ETCDS.indexOf(etcd),
  }))

const BY_VERSION = new Map(RELEASES.map((release) => [release.version, release]))

export function releaseOf(version: string): Release | undefined {
  return BY_VERSION.get(version)
}

/**
 * A release that came out after the table was written: later than every known one of its minor, or of the minor after
 * the newest. K3s never goes back to an older etcd, so a server that runs it has at least `least`; what it
 * brings as a target may be any etcd, so every rule for a newer one applies.
 */
export function laterRelease(version: string, as: 'start' | 'target', known = RELEASES): Release | undefined {
  const minor = parseVersion(version)?.minor
  const before = known.filter((release) => compareVersions(release.version, version) < 0)
  const newest = before.at(-1)
  if (minor === undefined || newest === undefined) return undefined
  const follows = newest.minor === minor || (newest.minor === minor - 1 && newest === known.at(-1))
  if (!follows || known.some((release) => release.minor === minor && compareVersions(release.version, version) >= 0))
    return undefined
  const place = newest.place + (as === 'start' ? 0.25 : 0.75)
  if (as === 'start') return { ...newest, version, minor, place }
  return { version, minor, date: '9999', etcd: `${newest.etcd} or later`, place, etcdPlace: ETCDS.length }
}

/**
 * From etcd 3.5 the only safe path to 3.6 is through 3.5.26, which repairs the member list when it starts: otherwise
 * removed members return as zombies. Minors do not show it: v1.33.11 has 3.6.
 */
export const GATE_ETCD = '3.5.26'

const GATE_PLACE = ETCDS.indexOf(GATE_ETCD)

/** Index of the first etcd 3.6. */
const NEXT_PLACE = ETCDS.findIndex((etcd) => compareEtcd(etcd, '3.6.0') >= 0)

export function isGate({ etcdPlace }: Release): boolean {
  return etcdPlace >= GATE_PLACE && etcdPlace < NEXT_PLACE
}

/** Reports whether a server can be upgraded directly from one release to the other, regarding etcd. */
export function etcdMayFollow(from: Release, to: Release): boolean {
  return to.etcdPlace < NEXT_PLACE || from.etcdPlace >= GATE_PLACE
}
