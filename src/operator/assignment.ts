import { createHash } from 'node:crypto'

/** A shard as the assignment sees it. */
export interface Load {
  readonly name: string
  /** Its number of objects, as a measure of its cost. */
  readonly weight: number
  /** The replica that holds it now. */
  readonly holder?: string
}

/**
 * Assigns shards to replicas. Each replica computes this from what it sees; the Leases decide if two of them see
 * different things. A shard stays with its replica while that lives and has not much more than its share. While
 * replicas come and go (`keep`), no shard moves: each move costs a look at the whole connection. Pure.
 */
export function assign(loads: readonly Load[], replicas: readonly string[], keep = false): ReadonlyMap<string, string> {
  const names = [...new Set(replicas)].sort()
  const given = new Map<string, string>()
  if (names.length === 0) return given
  const sorted = [...loads].sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1))
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0)
  const share = total / names.length
  const carried = new Map(names.map((name) => [name, 0]))
  const give = (replica: string, { name, weight }: Load) => {
    given.set(name, replica)
    carried.set(replica, (carried.get(replica) ?? 0) + weight)
  }
  const left: Load[] = []
  for (const load of sorted) {
    const carries = load.holder === undefined ? undefined : carried.get(load.holder)
    if (load.holder !== undefined && carries !== undefined && (keep || carries < share)) give(load.holder, load)
    else left.push(load)
  }
  for (const load of left) {
    const [best = ''] = names.toSorted(
      (a, b) => (carried.get(a) ?? 0) - (carried.get(b) ?? 0) || (draw(load.name, a) < draw(load.name, b) ? -1 : 1),
    )
    give(best, load)
  }
  return given
}

/** Returns a hash that makes the same choice on all replicas, and another one per shard. */
function draw(shard: string, replica: string): string {
  return createHash('sha256').update(`${shard}\0${replica}`).digest('hex')
}
