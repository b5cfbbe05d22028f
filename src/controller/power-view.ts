import { wattsOf } from '../engine/power/energy.ts'
import { cleanText } from '../lib/clean-text.ts'
import type { PowerHold } from '../model/power-decision.ts'
import type { PowerLook } from '../model/power-look.ts'
import type { PowerView } from '../model/power-view.ts'
import { nextWord } from '../plan/power/schedule.ts'

/** What the page shows of a Power: its tiers as a timeline, what each waits for, and what it takes. */
export function powerViewOf(look: PowerLook, nowMs: number): PowerView {
  const { declaration, decision, energy } = look
  const { schedule, cluster } = declaration.spec
  const next = schedule === undefined ? undefined : nextWord(schedule, nowMs)
  const shown = (hold: PowerHold): PowerHold => ({
    ...hold,
    reason: cleanText(hold.reason),
    allow: cleanText(hold.allow),
  })
  return {
    key: declaration.key,
    name: declaration.name,
    ...(cluster === undefined ? {} : { cluster }),
    phase: decision.phase,
    wanted: { ...decision.wanted, why: cleanText(decision.wanted.why) },
    tiers: decision.tiers,
    waits: decision.waits.map((wait) => ({ ...wait, what: cleanText(wait.what) })),
    holds: decision.holds.map(shown),
    refusals: decision.refusals.map(shown),
    warnings: decision.warnings.map((warning) => cleanText(warning)),
    asleep: decision.asleep,
    doing: decision.steps.map(({ summary }) => cleanText(summary)),
    watts: wattsOf(look),
    ...(energy === undefined ? {} : { energy }),
    ...(next === undefined ? {} : { next }),
  }
}
