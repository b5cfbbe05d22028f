import type { Clock } from '../../lib/clock.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import type { PowerEnergy } from '../../model/power.ts'
import type { Store } from '../../store/port.ts'
import type { PowerMemory } from './memory.ts'

const DAY_MS = 86_400_000
/** How often the count is stored: a crash loses at most this much. */
const WRITE_MS = 60_000

/** Returns the current draw: as declared for hosts that are on and off, and as measured by UPSs or controllers. */
export function wattsOf({ declaration, observed }: PowerPlan): {
  readonly estimated: number
  readonly measured?: number
} {
  const { hosts } = declaration.spec
  const estimated = hosts.reduce((sum, { name, watts }) => {
    const on = observed.hosts.find((host) => host.name === name)?.power !== 'off'
    return sum + (watts === undefined ? 0 : on ? watts.on : watts.off)
  }, 0)
  const readings = observed.hosts.flatMap(({ watts }) => watts ?? [])
  const all = Object.values(observed.ups)
  const byUps = all.flatMap((one) => (one === 'unknown' ? [] : (one.watts ?? [])))
  // If one UPS does not measure, the sum of the others says nothing.
  const measuring = byUps.length > 0 && byUps.length === all.length ? byUps : readings
  const measured = measuring.length === 0 ? undefined : measuring.reduce((sum, one) => sum + one, 0)
  return measured === undefined ? { estimated } : { estimated, measured }
}

/** Adds the usage since the last look to its day. A jump of the clock adds nothing. */
export function counted(
  before: PowerEnergy | undefined,
  watts: ReturnType<typeof wattsOf>,
  elapsedMs: number,
  nowMs: number,
): PowerEnergy {
  const dayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const same = before?.dayMs === dayMs
  const hours = Math.max(0, elapsedMs) / 3_600_000
  const measured = (same ? (before.measuredWh ?? 0) : 0) + (watts.measured ?? 0) * hours
  const known = watts.measured !== undefined || (same && before.measuredWh !== undefined)
  const yesterday = same ? before.yesterday : before === undefined ? undefined : dayOf(before)
  return {
    dayMs,
    estimatedWh: (same ? before.estimatedWh : 0) + watts.estimated * hours,
    ...(known ? { measuredWh: measured } : {}),
    ...(yesterday === undefined ? {} : { yesterday }),
  }
}

function dayOf({ dayMs, estimatedWh, measuredWh }: PowerEnergy): NonNullable<PowerEnergy['yesterday']> {
  return { dayMs, estimatedWh, ...(measuredWh === undefined ? {} : { measuredWh }) }
}

export async function noteEnergy(
  look: PowerPlan,
  { energy }: PowerMemory,
  { clock, store, epoch }: { readonly clock: Clock; readonly store: Store; readonly epoch: number },
): Promise<PowerEnergy> {
  const { name, key } = look.declaration
  const now = clock.monotonicMs()
  const kept = energy.get(key)
  const text = kept === undefined ? await store.getValue(`power-energy/${name}`) : undefined
  const before = kept?.energy ?? (text === undefined ? undefined : (JSON.parse(text) as PowerEnergy))
  const next = counted(before, wattsOf(look), kept === undefined ? 0 : now - kept.atMs, clock.now())
  const due = kept === undefined || now - kept.writtenMs >= WRITE_MS
  if (due) await store.putValue(epoch, `power-energy/${name}`, JSON.stringify(next))
  energy.set(key, { energy: next, atMs: now, writtenMs: due ? now : (kept?.writtenMs ?? now) })
  return next
}
