import { type Driver, type DriverDeps, ObservationFailed, type Session } from '../drivers/port.ts'
import { cleanText } from '../lib/clean-text.ts'
import type { TerminalSize } from '../lib/remote-terminal.ts'
import type { Estate } from '../model/estate.ts'
import { guestIn, type Resource } from '../model/resource.ts'
import type { Consoles, OpenedConsole } from '../server/port.ts'

interface ConsoleDeps {
  /** The estate of the last pass. */
  estate(): Estate | undefined
  readonly drivers: readonly Driver[]
  readonly deps: DriverDeps
}

/**
 * Opens consoles of declared machines, each over a separate session: passes and people must not wait for each other.
 * The machine is found by its mark, as it is now; a name is no proof.
 */
export function createConsoles({ estate, drivers, deps }: ConsoleDeps): Consoles {
  const machine = (key: string): Resource | undefined =>
    estate()?.resources.find((one) => one.key === key && guestIn(one.desired) !== undefined)

  return {
    offers: (key) => machine(key) !== undefined,
    async open(key, size, signal) {
      const resource = machine(key)
      const connection = estate()?.connections.find(({ name }) => name === resource?.connection)
      const driver = drivers.find(({ name }) => name === resource?.driver)
      if (resource === undefined || connection === undefined || driver === undefined)
        return {
          ok: false,
          reason: 'not-found',
          message: `${key} is not declared, or nothing here speaks to its host.`,
        }
      const session = driver.connect(connection, deps)
      let stays = false
      try {
        const opened = await openIn(session, resource, size, signal)
        stays = opened.ok
        if (opened.ok) opened.terminal.stream.once('close', () => void session.close())
        return opened
      } finally {
        if (!stays) await session.close()
      }
    },
  }
}

async function openIn(
  session: Session,
  { key, uid, driver }: Resource,
  size: TerminalSize,
  signal: AbortSignal,
): Promise<OpenedConsole> {
  const { console: guests } = session
  if (guests === undefined) return refused('not-found', `The driver ${driver} has no console: ${key} has none.`)
  try {
    const { resources } = await session.survey(signal)
    const ours = resources.filter(({ mark }) => mark?.uid === uid)
    const [observed] = ours
    if (observed === undefined) return refused('refused', `${key} is not there yet: croft has not made it.`)
    if (ours.length > 1)
      return refused('refused', `${ours.length} guests carry the mark of ${key}. The plan names them.`)
    return { ok: true, terminal: await guests.open(observed, size, signal) }
  } catch (error) {
    if (signal.aborted) return refused('away', `The console of ${key} did not open in time.`)
    if (!(error instanceof ObservationFailed)) throw error
    return refused(error.refusal.meaning === 'stalled' ? 'refused' : 'away', cleanText(error.message))
  }
}

function refused(reason: 'not-found' | 'refused' | 'away', message: string): OpenedConsole {
  return { ok: false, reason, message }
}
