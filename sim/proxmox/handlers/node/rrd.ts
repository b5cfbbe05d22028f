import { type Call, hostOf, type Routes } from '../../call.ts'

export const rrdRoutes: Routes = {
  'GET /nodes/{node}/rrddata': (call) => {
    const { load } = hostOf(call)
    // Nothing was measured in the recordings; only an experiment has something to show.
    if (load === undefined) return rrdTimes(call)
    return rrdTimes(call).map(({ time }) => ({ time, cpu: time * 1000 > load.sinceMs ? load.value : IDLE }))
  },
}

const IDLE = 0.05

/** Seconds between two points, and how many points there are, for each span. */
const SPANS: Readonly<Record<string, readonly [number, number]>> = {
  hour: [60, 59],
  day: [60, 1439],
  week: [1800, 335],
  month: [1800, 1439],
  year: [21_600, 1459],
  decade: [604_800, 569],
}

/** The times of past measurements. What was measured is not kept here. */
export function rrdTimes(call: Call): { time: number }[] {
  const [step, count] = SPANS[call.params.timeframe ?? 'hour'] ?? [60, 59]
  const last = Math.floor(call.world.clock.now() / 1000 / step) * step
  return Array.from({ length: count }, (_, index) => ({ time: last - (count - index) * step }))
}
