import type { Settlement } from '../engine/engine.ts'
import type { Plan } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { heldIn } from './held.ts'
import { blindExit } from './plan-exit.ts'

/** 0 settled, as declared and ready, 1 failed or refused, 3 held or not ready (in time), 4 not authorized. */
export function applyExit(settled: Settlement, declared: readonly string[]): ExitCode {
  const { plan, records } = settled.last
  const blind = blindExit(plan)
  if (blind !== undefined) return blind
  const recordOf = new Map(records.map((record) => [record.key, record]))
  if (records.some((record) => conditionIs(record, 'Stalled', 'True')) || refusedIn(plan)) return EXIT.failed
  if (settled.outcome === 'deadline' || heldIn(plan).length > 0) return EXIT.timedOut
  const ready = declared.every((key) => conditionIs(recordOf.get(key), 'Ready', 'True'))
  return ready ? EXIT.ok : EXIT.timedOut
}

function conditionIs(record: ResourceRecord | undefined, type: string, status: string): boolean {
  return record?.conditions.some((one) => one.type === type && one.status === status) ?? false
}

function refusedIn(plan: Plan): boolean {
  return plan.entries.some((entry) => entry.action.do === 'refuse')
}
