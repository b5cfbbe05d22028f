import { trapIn } from '../../k3s/release-traps.ts'
import { etcdMayFollow, GATE_ETCD, laterRelease, RELEASES, type Release } from '../../k3s/releases.ts'
import { compareVersions, parseVersion } from '../../k3s/version.ts'
import type { YesNoUnknown } from '../../model/observed-cluster.ts'

export type HopPlan =
  /** The releases that every node will run in order, up to the declared one; empty once reached. */
  { readonly hops: readonly string[] } | { readonly refused: string; readonly allow: string }

/**
 * Returns the path from one release to another, each fully rolled out before the next: no minor is skipped and none is
 * a downgrade. If the membership of etcd ever changed (or may have), etcd 3.6 comes only after 3.5.26. The shortest
 * path; among equal ones with releases no newer than the target.
 */
export function planHops(
  from: string,
  to: string,
  membershipChanged: YesNoUnknown,
  releases: readonly Release[] = RELEASES,
): HopPlan {
  if (from === to) return { hops: [] }
  const [older, newer] = [parseVersion(from), parseVersion(to)]
  if (newer === undefined) return refused(`${to} is not an exact K3s release`, 'pin one like v1.34.3+k3s1')
  if (older === undefined) return refused(`servers run ${from}, which is not a K3s release`, 'replace these servers')
  if (compareVersions(to, from) < 0) {
    return refused(
      `${to} is older than ${from}: K3s cannot go back, its data may already be newer`,
      `pin ${from} or a later release; to go back, restore a snapshot that was taken with ${to}`,
    )
  }
  const find = (version: string) => releases.find((release) => release.version === version)
  const start = find(from) ?? laterRelease(from, 'start', releases)
  const target = find(to) ?? laterRelease(to, 'target', releases)
  if (start === undefined || target === undefined) {
    const missing = start === undefined ? from : to
    return refused(
      `${missing} is not in the table of releases, so croft knows neither its etcd nor a safe upgrade path`,
      'pin a release that croft knows or one that is later than those of its minor, or use a newer croft',
    )
  }
  const gated = membershipChanged !== 'no'
  const hops = shortestWay(start, target, gated, releases)
  if (hops === undefined) {
    const why =
      gated && !etcdMayFollow(start, target)
        ? `etcd ${start.etcd} must become ${GATE_ETCD} before ${target.etcd}, and no known release between ${from} and ${to} carries it`
        : `no known releases lead from ${from} to ${to} without skipping a minor`
    return refused(why, 'choose another release as the target')
  }
  return { hops: hops.map(({ version }) => version) }
}

function shortestWay(
  start: Release,
  target: Release,
  gated: boolean,
  releases: readonly Release[],
): readonly Release[] | undefined {
  // Skip a release with a trap, unless a person declared it.
  const known = releases.filter(
    ({ place, version }) => place > start.place && place < target.place && trapIn(version) === undefined,
  )
  const between = [...known, target]
  const leads = (a: Release, b: Release) =>
    a.place < b.place && b.minor - a.minor <= 1 && (!gated || etcdMayFollow(a, b))
  // Distance of each release to the target, found from the target backwards.
  const distance = new Map<Release, number>([[target, 0]])
  for (let steps = 1; steps <= releases.length; steps++) {
    const last = [...distance].filter(([, far]) => far === steps - 1).map(([release]) => release)
    if (last.length === 0) break
    for (const release of [start, ...between]) {
      if (!distance.has(release) && last.some((next) => leads(release, next))) distance.set(release, steps)
    }
  }
  const way: Release[] = []
  let at = start
  while (at !== target) {
    const far = distance.get(at)
    if (far === undefined) return undefined
    const here = at
    const next = between.filter((release) => distance.get(release) === far - 1 && leads(here, release))
    const best = next.sort((a, b) => preference(a, b, target))[0]
    if (best === undefined) return undefined
    way.push(best)
    at = best
  }
  return way
}

/** Prefers releases no newer than the target, newest first, so that no fix is lost. Otherwise the oldest. */
function preference(a: Release, b: Release, target: Release): number {
  const fits = (release: Release) => release.date <= target.date && release.etcdPlace <= target.etcdPlace
  if (fits(a) !== fits(b)) return fits(a) ? -1 : 1
  return fits(a) ? b.place - a.place : a.place - b.place
}

function refused(reason: string, allow: string): HopPlan {
  return { refused: reason, allow }
}
