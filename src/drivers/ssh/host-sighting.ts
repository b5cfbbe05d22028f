import { defined } from '../../lib/defined.ts'
import { hottest, readSensors, type Sensors, wattsBetween } from '../../model/host-sensors.ts'
import type { HostSighting } from '../../model/survey.ts'
import type { Probed } from './probe.ts'

export function sensorsOf({ host }: Probed): Sensors {
  return readSensors((host.sensors ?? '').split('\n'))
}

/** The box itself, as one look shows it; `before` is what its sensors said at the look before. */
export function hostOf(name: string, { host }: Probed, now: Sensors, before: Sensors | undefined): HostSighting {
  const bytes = (kib: string | undefined) => Number(kib ?? 0) * 1024
  const cpus = Number(host.cpus ?? 0)
  const temperatureC = hottest(now)
  const watts = wattsBetween(before, now)
  return {
    name,
    online: true,
    cpus,
    memoryBytes: bytes(host.memory),
    memoryUsedBytes: bytes(host.memory) - bytes(host.free),
    // More may wait than there are processors: then all of them are busy.
    ...(host.load === undefined || cpus === 0 ? {} : { load: Math.min(1, Number(host.load) / cpus) }),
    ...defined({ temperatureC, watts }),
  }
}
