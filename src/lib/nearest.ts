/** Returns the most similar known word; undefined if more than a third of it differs. */
export function nearest(word: string, known: readonly string[], mostSlips?: number): string | undefined {
  const wanted = flat(word)
  let best: string | undefined
  let bestDistance = (mostSlips ?? Math.max(1, Math.floor(wanted.length / 3))) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, flat(candidate), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? known.find((candidate) => wanted.length >= 4 && flat(candidate).startsWith(wanted))
}

/** `network_device`, `NetworkDevice` and `networkDevice` are the same word to a person. */
function flat(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '')
}

/** Insertions, deletions, substitutions and swaps of neighbours; `limit` or more is all the same. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? limit
}
