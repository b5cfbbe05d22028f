/**
 * Reads a box's temperatures and power draw from its kernel, as a constant sh program without writes. One line each:
 * `temperature MILLIDEGREES SENSOR`, and `power MICROWATTS` of the whole box if it is measured, else `energy
 * MICROJOULES` of its processors since boot. `uptime` is the energy's time, since it is monotonic.
 */
export const SENSORS = `
for t in /sys/class/thermal/thermal_zone*; do
  { read -r v <"$t/temp"; } 2>/dev/null && { read -r s <"$t/type"; } 2>/dev/null && echo "temperature $v $s"
done
for h in /sys/class/hwmon/hwmon*; do
  { read -r s <"$h/name"; } 2>/dev/null || continue
  if [ "$s" = power_meter ] && { read -r v <"$h/power1_average"; } 2>/dev/null; then echo "power $v"; fi
  # Zones were shown above; they are listed here once more.
  [ -e "$h/device/temp" ] && continue
  for f in "$h"/temp*_input; do { read -r v <"$f"; } 2>/dev/null && echo "temperature $v $s"; done
done
e=; for p in /sys/class/powercap/intel-rapl:*; do
  { read -r s <"$p/name"; } 2>/dev/null || continue
  case $s in package-*) { read -r v <"$p/energy_uj"; } 2>/dev/null && e=$((\${e:-0} + v)) ;; esac
done
[ -n "$e" ] && echo "energy $e"
{ read -r v s </proc/uptime; } 2>/dev/null && echo "uptime $v"
`

export interface Sensors {
  readonly temperatures: readonly { readonly sensor: string; readonly celsius: number }[]
  readonly watts?: number
  /** The processors' energy since boot; two samples give watts. */
  readonly energy?: { readonly joules: number; readonly atSeconds: number }
}

/** Parses those lines, among any others. */
export function readSensors(lines: readonly string[]): Sensors {
  const rows = lines.map((line) => line.split(' '))
  const numbers = (name: string) => rows.filter(([key]) => key === name).map(([, value]) => Number(value))
  const temperatures = rows
    .filter(([key]) => key === 'temperature')
    .map(([, millis, ...sensor]) => ({ sensor: sensor.join(' '), celsius: Math.round(Number(millis) / 100) / 10 }))
    .filter(({ celsius }) => isTemperature(celsius))
  const [[power], [used], [atSeconds]] = [numbers('power'), numbers('energy'), numbers('uptime')]
  return {
    temperatures,
    ...(power === undefined || !(power > 0) ? {} : { watts: Math.round(power / 1e5) / 10 }),
    ...(used === undefined || atSeconds === undefined ? {} : { energy: { joules: used / 1e6, atSeconds } }),
  }
}

/** Unconnected sensors report nonsense: -128, 0 or 255 degrees. */
function isTemperature(celsius: number): boolean {
  return celsius > 0 && celsius < 150
}

/** Returns the hottest part in whole degrees, the one number that a summary of a box needs. */
export function hottest({ temperatures }: Sensors): number | undefined {
  return temperatures.length === 0 ? undefined : Math.round(Math.max(...temperatures.map(({ celsius }) => celsius)))
}

/** Returns the average draw between two samples. Undefined without two, or after a restart or an overflow. */
export function wattsBetween(before: Sensors | undefined, now: Sensors): number | undefined {
  if (now.watts !== undefined) return now.watts
  if (before?.energy === undefined || now.energy === undefined) return undefined
  const seconds = now.energy.atSeconds - before.energy.atSeconds
  const joules = now.energy.joules - before.energy.joules
  return seconds > 0 && joules >= 0 ? Math.round(joules / seconds) : undefined
}
