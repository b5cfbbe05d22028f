/** What the datacentre has served. */
export interface Stats {
  calls: number
  /** Calls that were meant to change something. */
  writes: number
  /** Bytes of bodies that were sent out. */
  bytes: number
  /** The most calls that were under way at once. */
  peak: number
  byPath: Record<string, number>
  /** For how long the lock of each storage was held, by host and storage. */
  storageBusyMs: Record<string, number>
}

export interface StatsKeeper {
  current(): Stats
  reset(): void
  begin(method: string, place: string): void
  end(bytes: number): void
}

/** These are sent as POST and change nothing. */
const NOT_WRITES = /\/access\/ticket$|\/agent\/ping$/

export function createStats(storageBusyMs: Map<string, number>): StatsKeeper {
  let stats = empty()
  let underWay = 0
  return {
    current: () => ({ ...stats, byPath: { ...stats.byPath }, storageBusyMs: Object.fromEntries(storageBusyMs) }),
    reset() {
      storageBusyMs.clear()
      stats = empty()
    },
    begin(method, place) {
      underWay += 1
      stats.calls += 1
      if (method !== 'GET' && method !== 'HEAD' && !NOT_WRITES.test(place)) stats.writes += 1
      if (underWay > stats.peak) stats.peak = underWay
      const key = `${method} ${place}`
      stats.byPath[key] = (stats.byPath[key] ?? 0) + 1
    },
    end(bytes) {
      underWay -= 1
      stats.bytes += bytes
    },
  }
}

function empty(): Stats {
  return { calls: 0, writes: 0, bytes: 0, peak: 0, byPath: {}, storageBusyMs: {} }
}
