import { LookFailed } from '../drivers/port.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Estate } from '../model/estate.ts'
import type { LoadSample } from '../model/survey.ts'
import { place, unplaced } from '../plan/things/placement/place.ts'
import type { Ledger, World } from '../plan/things/world.ts'
import type { Looking } from './look.ts'

/** The estate with a host for every machine that leaves it to croft. Asks how busy hosts are only when one is to be chosen. */
export async function placeAll(
  estate: Estate,
  seen: { readonly worlds: ReadonlyMap<string, World>; readonly lookings: ReadonlyMap<string, Looking> },
  ledger: Ledger,
  nowMs: number,
  signal: AbortSignal,
): Promise<Estate> {
  const loads = new Map<string, readonly LoadSample[]>()
  for (const [connection, looking] of seen.lookings) {
    const open = unplaced(estate, { worlds: seen.worlds, ledger }).filter((one) => one.connection === connection)
    const nodes = new Set(open.flatMap(({ placement }) => placement?.candidates.map(({ node }) => node) ?? []))
    const { session, survey } = looking
    const here = survey.hosts.filter(({ name, online }) => online && nodes.has(name))
    await inParallel(here, looking.connection.limits.reads, async ({ name }) => {
      try {
        const samples = await session.hosts?.load(name, signal)
        if (samples !== undefined) loads.set(`${connection}/${name}`, samples)
      } catch (error) {
        // Without the right to see it nothing is known, and nothing speaks against the host.
        if (!(error instanceof LookFailed)) throw error
      }
    })
  }
  return place(estate, { worlds: seen.worlds, ledger, loads, nowMs })
}
