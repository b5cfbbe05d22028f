import { Session } from 'node:inspector/promises'

/**
 * How often functions of the product were called while `work` ran, by `file function`, as the engine that runs them
 * counts: nothing in the product knows that it is counted.
 */
export async function callCounts<T>(
  work: () => Promise<T>,
  wanted: readonly `${string}.ts ${string}`[],
): Promise<{ readonly result: T; readonly counts: Readonly<Record<string, number>> }> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await session.post('Profiler.takePreciseCoverage')
    const result = await work()
    const { result: scripts } = await session.post('Profiler.takePreciseCoverage')
    const counts = Object.fromEntries(wanted.map((name) => [name, 0]))
    for (const { url, functions } of scripts) {
      for (const { functionName, ranges } of functions) {
        const name = wanted.find((one) => {
          const [file = '', called = ''] = one.split(' ')
          return called === functionName && url.endsWith(`/${file}`)
        })
        if (name !== undefined) counts[name] = (counts[name] ?? 0) + (ranges[0]?.count ?? 0)
      }
    }
    return { result, counts }
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
  }
}
