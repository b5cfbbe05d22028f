import type { ObservedCluster } from '../../model/observed-cluster.ts'

/** A session reads the list of snapshots once a minute: longer than that. */
const MOST_LOOKS = 90

/** K3s lists a snapshot a moment after it took it: looks again until one is listed that was not there before. */
export async function untilListed<Look extends { readonly observed: Pick<ObservedCluster, 'snapshots'> }>(
  before: ObservedCluster['snapshots'],
  look: () => Promise<Look>,
  pause: () => Promise<void>,
): Promise<Look> {
  const known = new Set(before === 'unknown' ? [] : before.map(({ name }) => name))
  for (let looks = 1; ; looks++) {
    const seen = await look()
    const { snapshots } = seen.observed
    if (looks === MOST_LOOKS || (snapshots !== 'unknown' && snapshots.some(({ name }) => !known.has(name)))) return seen
    await pause()
  }
}
