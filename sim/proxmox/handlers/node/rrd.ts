import { failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'

export const rrdRoutes: Routes = {
  'GET /nodes/{node}/rrddata': (call) => {
    const { load } = hostOf(call)
    // Nothing was measured in the recordings; only an experiment has something to show.
    if (load === undefined) return rrdTimes(call)
    return rrdTimes(call).map(({ time }) => ({ time, cpu: time * 1000 > load.sinceMs ? load.value : IDLE }))
  },
  'GET /nodes/{node}/qemu/{vmid}/rrddata': ofGuest,
  'GET /nodes/{node}/lxc/{vmid}/rrddata': ofGuest,
}

const IDLE = 0.05

export const notMeasured = (file: string) =>
  failed(
    'RRD error: rrdcached@unix:/var/run/rrdcached.sock: rrd_fetch_r failed: ' +
      `opening '/var/lib/rrdcached/db/${file}': No such file or directory`,
  )

/** The file with what was measured of a guest. Nobody looks for the guest itself. */
export function guestFile(call: Call): string {
  const id = param(call, 'vmid')
  const file = `pve-vm-9.0/${id}`
  if (!call.world.guests.has(Number(id))) throw notMeasured(file)
  return file
}

function ofGuest(call: Call): unknown {
  guestFile(call)
  return rrdTimes(call)
}

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
