/** Runs `work` over all items with at most `width` at once. The first rejection is passed on after all have stopped. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const failures: unknown[] = []
  const lane = async () => {
    while (next < items.length && failures.length === 0) {
      const item = items[next++] as T
      try {
        await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(Math.max(1, width), items.length) }, lane))
  if (failures.length > 0) throw failures[0]
}
