/** Work that others have for the loop: done between two passes, never during one. */
export interface WorkQueue {
  /** Rejects when the loop ends before it is the work's turn. */
  do<T>(work: () => Promise<T>): Promise<T>
  /** Runs the waiting work in order of arrival. Errors go to the caller of `do`. */
  turn(): Promise<void>
  /** Stops, and rejects all waiting work. */
  end(): void
}

/** Runs passes and people's operations one at a time: they act on the same servers, and would disturb each other. */
export function createWorkQueue(wake: () => void): WorkQueue {
  let ended = false
  let waiting: { readonly run: () => Promise<void>; readonly drop: (error: Error) => void }[] = []
  return {
    do: (work) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(new Error(STOPPING))
        waiting.push({ run: () => work().then(resolve, reject), drop: reject })
        wake()
      }),
    async turn() {
      const now = waiting
      waiting = []
      for (const { run } of now) await run()
    },
    end() {
      ended = true
      for (const { drop } of waiting) drop(new Error(STOPPING))
      waiting = []
    },
  }
}

const STOPPING = 'the controller is stopping'
