import type { PowerDriver } from '../../drivers/power-port.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ObservedPower, PowerPlan, UpsReading } from '../../model/observed-power.ts'
import type { PowerSpec } from '../../model/power.ts'
import type { Store } from '../../store/port.ts'
import type { PowerObserveDeps } from './deps.ts'
import { fresh } from './kept-answers.ts'

/**
 * Reads each UPS that feeds a host. If one does not answer, returns its last reading, also an earlier process's: the
 * way to it may have lost power too. Unknown if it never answered.
 */
export async function readAllUps(
  { ups, hosts }: Pick<PowerSpec, 'ups' | 'hosts'>,
  power: string,
  driver: Pick<PowerDriver, 'readUps'>,
  { clock, powerMemory, store }: Pick<PowerObserveDeps, 'clock' | 'powerMemory' | 'store'>,
  signal: AbortSignal,
): Promise<ObservedPower['ups']> {
  if (ups === undefined) return {}
  const names = [...new Set([ups.name, ...hosts.flatMap(({ fedBy }) => fedBy ?? [])])]
  const ask = async (name: string): Promise<UpsReading | 'unknown'> => {
    const said = await driver.readUps(name, signal)
    if (said !== undefined) return said
    const last = powerMemory.ups.get(name)?.value ?? (await writtenReadings(store, power))[name]
    if (last === undefined || last === 'unknown') return 'unknown'
    return { ...last, silentSinceMs: last.silentSinceMs ?? clock.now() }
  }
  const readings = names.map(
    async (name) => [name, await fresh(powerMemory.ups, name, LIMITS.upsLookMs, clock, () => ask(name))] as const,
  )
  return Object.fromEntries(await Promise.all(readings))
}

/** Stores a UPS's reading when it changes between mains and battery, or its charge by some percent. */
export async function noteUps(
  { declaration: { name }, observed: { ups } }: PowerPlan,
  { store, epoch }: { readonly store: Store; readonly epoch: number },
): Promise<void> {
  if (Object.keys(ups).length === 0) return
  const written = await writtenReadings(store, name)
  const heard = Object.fromEntries(Object.entries(ups).filter(([, reading]) => reading !== 'unknown')) as Readings
  if (Object.entries(heard).every(([one, reading]) => isAlike(written[one], reading))) return
  await store.putValue(epoch, `power-ups/${name}`, JSON.stringify({ ...written, ...heard }))
}

type Readings = Readonly<Record<string, UpsReading>>

async function writtenReadings(store: Pick<Store, 'getValue'>, power: string): Promise<Readings> {
  const text = await store.getValue(`power-ups/${power}`)
  return text === undefined ? {} : (JSON.parse(text) as Readings)
}

function isAlike(a: UpsReading | undefined, b: UpsReading): boolean {
  if (a === undefined) return false
  const same = a.onBattery === b.onBattery && a.low === b.low && a.silentSinceMs === b.silentSinceMs
  return same && Math.abs(a.charge - b.charge) < LIMITS.upsChargeNoted
}
