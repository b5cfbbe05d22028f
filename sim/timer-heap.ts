/** One thing to do at one moment. `fn` is undefined once it was called off. */
export interface Timer {
  readonly atMs: number
  readonly order: number
  fn: (() => void) | undefined
}

/** Timers by moment, then by the order in which they were asked for: that order is what makes a run repeatable. */
export interface TimerHeap {
  readonly size: () => number
  push(timer: Timer): void
  peek(): Timer | undefined
  pop(): Timer | undefined
}

export function createTimerHeap(): TimerHeap {
  const heap: Timer[] = []
  const before = (a: Timer, b: Timer) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

  function push(timer: Timer): void {
    let index = heap.length
    heap.push(timer)
    while (index > 0) {
      const up = (index - 1) >> 1
      const parent = heap[up]
      if (parent === undefined || !before(timer, parent)) break
      heap[index] = parent
      index = up
    }
    heap[index] = timer
  }

  function pop(): Timer | undefined {
    const top = heap[0]
    const last = heap.pop()
    if (last === undefined || last === top) return top
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      const left = heap[child]
      if (left === undefined) break
      const right = heap[child + 1]
      let smaller = left
      if (right !== undefined && before(right, left)) {
        smaller = right
        child += 1
      }
      if (!before(smaller, last)) break
      heap[index] = smaller
      index = child
    }
    heap[index] = last
    return top
  }

  return { size: () => heap.length, push, peek: () => heap[0], pop }
}
