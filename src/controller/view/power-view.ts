import { wattsOf } from '../../engine/power/energy.ts'
import { actorName } from '../../lib/actor-name.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import type {
  OnDemandView,
  PowerHold,
  PowerHostView,
  PowerPlan,
  PowerPreview,
  PowerView,
  UpsView,
} from '../../model/observed-power.ts'
import { coordinatePower } from '../../plan/power/coordinate.ts'
import { nextWord } from '../../plan/power/schedule.ts'

/** Returns a Power for the page: its tiers as a timeline, with their waits and durations. */
export function powerViewOf(look: PowerPlan, nowMs: number): PowerView {
  const { declaration, decision, energy, requests } = look
  const { schedule, cluster, idleMs } = declaration.spec
  const next = schedule === undefined ? undefined : nextWord(schedule, nowMs)
  return {
    key: declaration.key,
    name: declaration.name,
    ...defined({ cluster }),
    phase: decision.phase,
    wanted: { ...decision.wanted, why: cleanText(decision.wanted.why) },
    tiers: decision.tiers,
    waits: decision.waits.map((wait) => ({ ...wait, what: cleanText(wait.what) })),
    holds: decision.holds.map(shownHold),
    refusals: decision.refusals.map(shownHold),
    warnings: decision.warnings.map((warning) => cleanText(warning)),
    asleep: decision.asleep,
    doing: decision.steps.map(({ summary }) => cleanText(summary)),
    watts: wattsOf(look),
    held: requests.holds
      .filter(({ untilMs }) => untilMs > nowMs)
      .map((hold) => ({ ...hold, by: cleanText(actorName(hold.by)), why: cleanText(hold.why) })),
    hosts: hostsOf(look),
    onDemand: onDemandOf(look),
    idleMs,
    ...upsOf(look),
    ...defined({ energy, schedule, next }),
  }
}

/** Returns what switching now would do, decided by the planner itself from the last observation. */
export function powerPreviewOf(look: PowerPlan, state: 'on' | 'off', nowMs: number): PowerPreview {
  const { declaration, observed, requests } = look
  const wanted = { state, by: '', why: 'only a plan', atMs: nowMs }
  const decision = coordinatePower(declaration.spec, observed, { ...requests, wanted }, undefined, nowMs)
  return {
    state,
    tiers: decision.tiers,
    holds: decision.holds.map(shownHold),
    refusals: decision.refusals.map(shownHold),
    warnings: decision.warnings.map((warning) => cleanText(warning)),
    first: decision.steps.map(({ summary }) => cleanText(summary)),
  }
}

function shownHold(hold: PowerHold): PowerHold {
  return { ...hold, reason: cleanText(hold.reason), allow: cleanText(hold.allow) }
}

function hostsOf({ declaration, observed }: PowerPlan): readonly PowerHostView[] {
  return declaration.spec.hosts.map(({ name, level, own, wake, bmc }) => {
    const seen = observed.hosts.find((host) => host.name === name)
    const guests = seen?.guests
    const wokenBy = bmc !== undefined ? 'management controller' : wake === undefined ? undefined : 'Wake-on-LAN'
    return {
      name,
      level,
      own,
      power: seen?.power ?? 'unknown',
      strangers: (guests === undefined || guests === 'unknown' ? [] : guests.undeclared).map((one) => cleanText(one)),
      ...defined({ wokenBy, watts: seen?.watts }),
    }
  })
}

function onDemandOf({ observed: { cluster } }: PowerPlan): readonly OnDemandView[] {
  if (cluster === undefined) return []
  return cluster.nodes
    .filter(({ onDemand }) => onDemand)
    .map(({ name, power }) => ({
      node: name,
      power,
      wanting: (cluster.wanting[name] ?? []).map((pod) => cleanText(pod)),
    }))
}

/** The UPS that is worst off, of all that feed a host. */
function upsOf({ declaration, observed }: PowerPlan): { readonly ups?: UpsView } {
  const { ups } = declaration.spec
  if (ups === undefined) return {}
  const all = Object.entries(observed.ups).map(([name, reading]): UpsView => {
    if (reading === 'unknown' || (reading.silentSinceMs !== undefined && !reading.onBattery))
      return { name, state: 'unknown', levels: ups.levels }
    const { onBattery, charge, low, watts } = reading
    return { name, state: onBattery ? 'battery' : 'mains', charge, low, levels: ups.levels, ...defined({ watts }) }
  })
  const order = (one: UpsView) => ['battery', 'unknown', 'mains'].indexOf(one.state)
  const [worst = { name: ups.name, state: 'unknown', levels: ups.levels }] = all.sort(
    (a, b) => order(a) - order(b) || (a.charge ?? 0) - (b.charge ?? 0),
  )
  return { ups: worst }
}
