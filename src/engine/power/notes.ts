import {
  NO_POWER_REQUESTS,
  type PowerDone,
  type PowerHost,
  type PowerRequests,
  type PowerSpec,
} from '../../model/power.ts'
import { activeRequests, type Store } from '../../store/port.ts'

/** Notes about the current change of state. All else is observed in the world. */
export interface PowerNotes {
  readonly sinceMs: number
  readonly state: 'on' | 'off'
  /** Hosts that were told to go down, with the epoch of that process: nothing may be left to report them off. */
  readonly stopped: Readonly<Record<string, number>>
  /** The notes that croft's own host wrote at its shutdown have been read and reported. */
  readonly reported?: true
  readonly hooks: Readonly<Record<string, { readonly ok: boolean; readonly output: string }>>
}

/** Returns croft's own host if an earlier run switched it off and its notes were not read back yet. Pure. */
export function unreadHost(
  { hosts }: Pick<PowerSpec, 'hosts'>,
  notes: PowerNotes | undefined,
  epoch: number,
): PowerHost | undefined {
  const host = hosts.find(({ own }) => own)
  const stoppedBy = host === undefined ? undefined : notes?.stopped[host.name]
  const isDue = stoppedBy !== undefined && stoppedBy !== epoch && notes?.reported !== true
  return isDue ? host : undefined
}

export function powerRequestsName(power: string): `power-orders/${string}` {
  return `power-orders/${power}`
}

export async function readPowerRequests(store: Pick<Store, 'getValue'>, power: string): Promise<PowerRequests> {
  return activeRequests(store, powerRequestsName(power), NO_POWER_REQUESTS)
}

export async function readPowerDone(store: Pick<Store, 'getValue'>, power: string): Promise<PowerDone | undefined> {
  const text = await store.getValue(`power-done/${power}`)
  return text === undefined ? undefined : (JSON.parse(text) as PowerDone)
}

export async function writePowerDone(store: Store, epoch: number, power: string, done: PowerDone): Promise<void> {
  await store.putValue(epoch, `power-done/${power}`, JSON.stringify(done))
}

export async function readPowerNotes(store: Pick<Store, 'getValue'>, power: string): Promise<PowerNotes | undefined> {
  const text = await store.getValue(`power-notes/${power}`)
  return text === undefined ? undefined : (JSON.parse(text) as PowerNotes)
}

export async function writePowerNotes(store: Store, epoch: number, power: string, notes: PowerNotes): Promise<void> {
  await store.putValue(epoch, `power-notes/${power}`, JSON.stringify(notes))
}
