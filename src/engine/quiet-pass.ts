import { FAILED } from '../lib/failed-on.ts'
import type { Estate } from '../model/estate.ts'
import { type FactsByConnection, readMissing } from './connection-facts.ts'
import type { PassReport } from './engine.ts'
import type { StoredLedger } from './ledger.ts'
import type { Surveyed } from './observation.ts'
import type { Glance, Observed, ObserveOptions } from './observe.ts'
import type { PassDeps } from './pass-deps.ts'
import type { QuietGround } from './quiet.ts'

type QuietOptions = Pick<ObserveOptions, 'retryStalled' | 'unforeseen'> & { readonly only?: unknown }

/**
 * Ends a pass whose observation equals the last one: the plan is a pure function, so it would be the same. Reads as
 * much as a whole pass does: swept close looks and every list. Returns undefined if anything differs, and the pass
 * continues with what was read.
 */
export async function quietPass(
  inGit: Estate,
  { quiet: memory, clock }: Pick<PassDeps, 'quiet' | 'clock'>,
  options: QuietOptions,
  { surveyed, remembered, swept, startedMs }: Glance,
  signal: AbortSignal,
): Promise<PassReport | undefined> {
  const { last } = memory
  delete memory.last
  if (last === undefined || options.only !== undefined || options.retryStalled || signal.aborted) return undefined
  if ((options.unforeseen?.size ?? 0) > 0) return undefined
  const { quiet, report } = last
  const standing = standingOf(inGit, surveyed, remembered)
  const time = { nowMs: startedMs, steadyMs: clock.monotonicMs() }
  if (!memory.rules.sameGround(quiet, standing, time)) return undefined
  await readAgain(surveyed.factsByConnection, swept, quiet.standing, signal)
  if (signal.aborted || !memory.rules.sameLooks(quiet.standing, standing)) return undefined
  const { factsByConnection } = surveyed
  const unchanged: PassReport = {
    ...report,
    unchanged: true,
    surveys: [...factsByConnection.values()].map(({ survey }) => survey),
    looks: new Map([...factsByConnection].map(([name, { looks }]) => [name, looks])),
  }
  memory.last = { quiet: { ...quiet, standing }, report }
  return unchanged
}

/** Stores a pass after which the next one need not plan without a change. */
export function rememberQuiet(
  inGit: Estate,
  { quiet: memory, clock }: Pick<PassDeps, 'quiet' | 'clock'>,
  { surveyed, ledger, unsure, ended, fresh, observation }: Observed,
  report: PassReport,
): void {
  // What croft failed on may succeed next time.
  const failed = report.plan.problems.some(({ code }) => code === FAILED)
  const calm =
    !failed && report.settled && report.operated !== true && report.effects === 0 && report.events.length === 0
  if (!calm || fresh || ended.size > 0 || observation.later.size > 0) return
  const standing = standingOf(inGit, surveyed, { ledger, steps: unsure })
  const quiet = memory.rules.after(standing, report.plan, clock.monotonicMs())
  if (quiet !== undefined) memory.last = { quiet, report }
}

function standingOf(
  estate: Estate,
  { factsByConnection, unseen }: Surveyed,
  { ledger, steps }: Pick<StoredLedger, 'ledger' | 'steps'>,
): QuietGround {
  const inFlight = ledger.intentions.size + steps.length
  return { estate, seen: factsByConnection, unseen: unseen.size, records: ledger.records, inFlight }
}

/** Reads what a whole pass reads: dropped configurations, and lists, which are never cached. */
async function readAgain(
  factsByConnection: FactsByConnection,
  swept: Glance['swept'],
  before: QuietGround,
  signal: AbortSignal,
): Promise<void> {
  for (const [name, facts] of factsByConnection) {
    const guests = (swept.get(name) ?? []).map((externalId) => ({ look: 'config' as const, externalId }))
    const lists = [...(before.seen.get(name)?.lists.keys() ?? [])].map((list) => ({ look: 'list' as const, list }))
    await readMissing(facts, [...guests, ...lists], signal)
  }
}
