import type { ObservedCluster } from '../../model/observed-cluster.ts'

/** Looks are dear, and a list that does not change for so many has no new snapshot. */
const MOST_LOOKS = 20

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
