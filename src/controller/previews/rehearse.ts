import type { Engine, PassReport } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Estate } from '../../model/estate.ts'
import type { NewEvent } from '../../model/record.ts'
import type { RehearsalBudget } from './rehearsal-budget.ts'

/** A simulated copy of the estate with its own clock. */
export interface Twin {
  readonly clock: Clock
  /** Lets the twin's time pass until the promise is settled. */
  runUntil<T>(promise: Promise<T>): Promise<T>
  /** Names of the machines that run at this moment. */
  running(): readonly string[]
  /** Voting members of every etcd in it, by the node that they are on. */
  voters?(): readonly { readonly node: string; readonly up: boolean }[]
}

/** The result of performing a plan on a twin. */
export interface Rehearsed {
  /** `stopped`: nothing is known from there on; `why` says what kept it. */
  readonly outcome: 'settled' | 'deadline' | 'aborted' | 'stopped'
  readonly why?: string
  readonly tookMs: number
  readonly startedMs: number
  readonly events: readonly NewEvent[]
  readonly downtimes: readonly { readonly name: string; readonly ms: number }[]
  readonly margins: readonly { readonly cluster: string; readonly lowest: number | 'unknown' }[]
  readonly held: readonly { readonly key: string; readonly reason: string }[]
}

/** Performs the plan until nothing is left to do, and notes what was down and how near a cluster came to its end. */
export async function rehearse(
  engine: Engine,
  twin: Twin,
  estate: Estate,
  budget: RehearsalBudget,
): Promise<Rehearsed> {
  const { signal } = budget
  const startedMs = twin.clock.now()
  const events: NewEvent[] = []
  const ran = new Set(upNow(twin))
  const downMs = new Map<string, number>()
  const margins = new Map<string, number>()
  let lookedMs = startedMs
  let last: PassReport | undefined
  const sample = () => {
    const nowMs = twin.clock.now()
    budget.spend(PERFORMING, nowMs - startedMs)
    const up = new Set(upNow(twin))
    for (const name of ran) if (!up.has(name)) downMs.set(name, (downMs.get(name) ?? 0) + nowMs - lookedMs)
    for (const name of up) ran.add(name)
    lookedMs = nowMs
    for (const { name, spec } of estate.clusters ?? []) {
      const margin = marginOf(
        spec.servers.map((server) => server.name),
        twin.voters?.() ?? [],
      )
      if (margin !== undefined) margins.set(name, Math.min(margins.get(name) ?? margin, margin))
    }
  }
  // A restart is over between two passes: sample more often to see that the machine was down.
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      sample()
      await twin.clock.sleep(LIMITS.rehearsalSampleMs, over.signal)
    }
  })()
  const onPass = (report: PassReport) => {
    last = report
    events.push(...report.events)
    budget.spend(PERFORMING, twin.clock.now() - startedMs)
  }
  const settled = await twin.runUntil(engine.settle(estate, { signal, deadlineMs: LIMITS.rehearsalMs, onPass }))
  over.abort()
  await twin.runUntil(watching.catch(() => {}))
  const why = budget.spentOn()
  return {
    outcome: why === undefined ? settled.outcome : 'stopped',
    ...defined({ why }),
    tookMs: twin.clock.now() - startedMs,
    startedMs,
    events,
    downtimes: [...downMs].map(([name, ms]) => ({ name, ms })).sort((a, b) => b.ms - a.ms),
    margins: (estate.clusters ?? []).map(({ name }) => ({ cluster: name, lowest: margins.get(name) ?? 'unknown' })),
    held: (last?.plan.entries ?? []).flatMap(({ key, action }) =>
      action.do === 'hold' || action.do === 'refuse' ? [{ key, reason: action.reason }] : [],
    ),
  }
}

/** A rehearsal that ends before the plan starts: its twin differs from the real estate. */
export function stoppedBefore(startedMs: number, tookMs: number, why: string): Rehearsed {
  return { outcome: 'stopped', why, tookMs, startedMs, events: [], downtimes: [], margins: [], held: [] }
}

const PERFORMING = 'performing the plan'

/** Returns running machines, without those whose K3s votes and does not answer. */
function upNow(twin: Twin): readonly string[] {
  const away = new Set((twin.voters?.() ?? []).flatMap(({ node, up }) => (up ? [] : [node])))
  return twin.running().filter((name) => !away.has(name))
}

/** Voters of these servers that may still be lost. Undefined: they have none yet. Pure. */
export function marginOf(
  servers: readonly string[],
  voters: readonly { readonly node: string; readonly up: boolean }[],
): number | undefined {
  const own = voters.filter(({ node }) => servers.includes(node))
  if (own.length === 0) return undefined
  return own.filter(({ up }) => up).length - (Math.floor(own.length / 2) + 1)
}
