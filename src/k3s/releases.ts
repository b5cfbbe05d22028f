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
  /** The same for etcd. */
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
 * From etcd 3.5 the only safe way to 3.6 is over 3.5.26, which repairs the member list when it starts: else removed
 * members come back as zombies. Minors do not tell: v1.33.11 carries 3.6.
 */
export const GATE_ETCD = '3.5.26'

const GATE_PLACE = ETCDS.indexOf(GATE_ETCD)

/** Where etcd 3.6 begins. */
const NEXT_PLACE = ETCDS.findIndex((etcd) => compareEtcd(etcd, '3.6.0') >= 0)

export function isGate({ etcdPlace }: Release): boolean {
  return etcdPlace >= GATE_PLACE && etcdPlace < NEXT_PLACE
}

/** May a server go straight from one to the other, as far as etcd is concerned? */
export function etcdMayFollow(from: Release, to: Release): boolean {
  return to.etcdPlace < NEXT_PLACE || from.etcdPlace >= GATE_PLACE
}
