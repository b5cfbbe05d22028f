/** A fault of released K3s that croft keeps clear of. */
export interface ReleaseTrap {
  readonly releases: readonly string[]
  /** The defect, for people. */
  readonly what: string
  /** The first release of each minor without it. */
  readonly mendedIn: readonly string[]
  readonly source: string
}

/** Releases with a known defect, such as a removed first server that starts a new cluster. */
export const RELEASE_TRAPS: readonly ReleaseTrap[] = [
  {
    releases: ['v1.32.11+k3s3', 'v1.33.7+k3s3', 'v1.34.3+k3s3', 'v1.35.0+k3s3'],
    what: 'a first server that is removed from etcd empties its disk and starts again as a cluster of its own',
    mendedIn: ['v1.32.12+k3s1', 'v1.33.8+k3s1', 'v1.34.4+k3s1', 'v1.35.1+k3s1'],
    source: 'https://github.com/k3s-io/k3s/issues/13623',
  },
]

export function trapIn(version: string): ReleaseTrap | undefined {
  return RELEASE_TRAPS.find(({ releases }) => releases.includes(version))
}

/** `v1.34.4+k3s1` for `v1.34.3+k3s3`. */
export function mendedRelease(version: string): string | undefined {
  const trap = trapIn(version)
  return trap?.mendedIn[trap.releases.indexOf(version)]
}
