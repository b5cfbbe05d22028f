import { RELEASE_TABLE } from './release-table.ts'
import { compareEtcd, compareVersions, parseVersion } from './version.ts'

export interface Release {
  readonly version: string
  readonly minor: number
  /** `2026-02-03`. */
  readonly date: string
  readonly etcd: string
}

/** Oldest version first. */
export const RELEASES: readonly Release[] = RELEASE_TABLE.map(([version, date, etcd]) => ({
  version,
  minor: parseVersion(version)?.minor ?? 0,
  date,
  etcd,
})).sort((a, b) => compareVersions(a.version, b.version))

const BY_VERSION = new Map(RELEASES.map((release) => [release.version, release]))

export function releaseOf(version: string): Release | undefined {
  return BY_VERSION.get(version)
}

/**
 * From etcd 3.5 the only safe way to 3.6 is over 3.5.26, which repairs the member list when it starts: else removed
 * members come back as zombies. Minors do not tell: v1.33.11 carries 3.6.
 */
export const GATE_ETCD = '3.5.26'

export function isGate(release: Release): boolean {
  return compareEtcd(release.etcd, GATE_ETCD) >= 0 && compareEtcd(release.etcd, '3.6.0') < 0
}

/** May a server go straight from one to the other, as far as etcd is concerned? */
export function etcdMayFollow(from: Release, to: Release): boolean {
  return compareEtcd(to.etcd, '3.6.0') < 0 || compareEtcd(from.etcd, GATE_ETCD) >= 0
}
