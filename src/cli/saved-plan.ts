import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import type { WaitingRow } from '../model/estate-view.ts'
import type { ClusterDecision } from '../model/observed-cluster.ts'
import type { PowerDecision } from '../model/observed-power.ts'
import { type Action, type Doing, isDoing, type Plan } from '../model/plan.ts'
import { savedStep } from '../model/shown-step.ts'
import { forecast } from '../plan/clusters/forecast.ts'
import { closingLine, renderPlan } from './render/plan.ts'
import { API_VERSION, planJson } from './render/plan-json.ts'
import { hasSomethingToDo } from './render/plan-summary.ts'
import { PLAIN } from './render/text.ts'
import { CliError, UsageError } from './verb.ts'

/** An approved plan, and its fingerprint. */
export interface SavedPlan {
  readonly apiVersion: string
  readonly kind: 'SavedPlan'
  readonly directory: string
  /** Targets of the plan. Absent: everything. */
  readonly targets?: readonly string[]
  readonly fingerprint: string
  readonly plan: unknown
}

/**
 * Returns the hash by which a saved plan is known again: over everything that is declared of what it touches and over each
 * step with all of its parameters. Left out, each by its own path: the revision and places in files (another commit may
 * mean the same), how long a wait still lasts and its message (free memory, minutes), remarks on what is not touched.
 */
export function fingerprintOf(plan: Plan): string {
  const lasting = {
    entries: plan.entries.filter(({ action }) => action.do !== 'nothing').map(lastingEntry),
    clusters: plan.clusters?.map((look) => ({
      key: look.declaration.key,
      declared: look.declaration.generation,
      forecast: forecast(look),
      ...lastingDecision(look.decision),
      hops: look.decision.hops,
    })),
    powers: plan.powers?.map(({ declaration, decision }) => ({
      key: declaration.key,
      declared: declaration.generation,
      wanted: decision.wanted.state,
      machines: decision.machines,
      ...lastingDecision(decision),
    })),
    waiting: plan.waiting,
  }
  return createHash('sha256').update(JSON.stringify(lasting)).digest('hex')
}

function lastingEntry({ action, origin: _origin, notes: _notes, ...entry }: Plan['entries'][number]): object {
  return { ...entry, action: lastingAction(action) }
}

function lastingAction(action: Action): object {
  switch (action.do) {
    case 'wait': {
      const { message: _message, lookAgainMs: _lookAgainMs, missing: _missing, next, ...rest } = action
      return { ...rest, ...(next === undefined ? {} : { next: lastingDoing(next) }) }
    }
    case 'hold':
      return { ...action, held: lastingDoing(action.held) }
    default:
      return isDoing(action) ? lastingDoing(action) : action
  }
}

function lastingDoing<Done extends Doing>(doing: Done): object {
  return { ...doing, steps: doing.steps.map((step) => savedStep(step)) }
}

/** Removes waits, and the times of steps: both change every minute. */
function lastingDecision({ phase, steps, holds, refusals }: ClusterDecision | PowerDecision): object {
  return { phase, steps: steps.map((step) => withoutTimes(savedStep(step))), holds: holds.map(withoutTimes), refusals }
}

function withoutTimes(of: object): object {
  const { sinceMs: _sinceMs, untilMs: _untilMs, ...lasting } = of as Readonly<Record<string, unknown>>
  return lasting
}

/** Returns the plan for approval. */
export function shownPlan(plan: Plan) {
  return {
    hash: fingerprintOf(plan),
    changes: hasSomethingToDo(plan),
    summary: closingLine(plan, PLAIN).split('\n')[0] ?? '',
    text: renderPlan(plan, PLAIN),
    rows: [...rowsOf(plan)],
  }
}

/** Returns the unfinished entries, one line each, with the file that declares them. */
function* rowsOf(plan: Plan): Generator<WaitingRow> {
  for (const { key, action, origin } of plan.entries) {
    if (action.do === 'nothing') continue
    const next = action.do === 'hold' ? action.held.do : action.do === 'wait' ? action.next?.do : undefined
    const text = action.do === 'wait' ? action.message : action.reason
    yield { key, do: action.do, text, ...defined({ next, file: origin?.file }) }
  }
  for (const { declaration, decision } of plan.clusters ?? [])
    for (const { summary: text } of decision.steps)
      yield { key: declaration.key, do: 'update', text, file: declaration.origin.file }
}

export function savePlan(
  file: string,
  directory: string,
  plan: Plan,
  revision: string,
  targets: readonly string[] = [],
): void {
  const saved: SavedPlan = {
    apiVersion: API_VERSION,
    kind: 'SavedPlan',
    directory,
    ...(targets.length === 0 ? {} : { targets }),
    fingerprint: fingerprintOf(plan),
    plan: planJson(plan, revision),
  }
  writeFileSync(file, `${JSON.stringify(saved, undefined, 2)}\n`, { mode: 0o600 })
}

/** Reads a saved plan; undefined if the file has none. */
export function savedPlanAt(file: string): SavedPlan | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() !== true || found.size > LIMITS.savedPlanBytes) return undefined
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as Partial<SavedPlan>
    return read.kind === 'SavedPlan' && typeof read.directory === 'string' ? (read as SavedPlan) : undefined
  } catch {
    return undefined
  }
}

/** A plan belongs to the directory that it was made from, by its whole path. */
export function mustBeHere(file: string, { directory }: SavedPlan): void {
  if (statSync(directory, { throwIfNoEntry: false }) !== undefined) return
  throw new UsageError(
    `${file} is a plan of ${directory}, which is not there: the directory was moved or renamed, or the plan was saved on another computer. Nothing was done. Save the plan again where the directory is now: croft plan DIRECTORY --out ${file}.`,
  )
}

/** Throws unless the plan is still the approved one. */
export function mustBeSame(saved: SavedPlan, plan: Plan): void {
  if (saved.fingerprint === fingerprintOf(plan)) return
  throw new CliError(
    'Something changed since this plan was saved: the plan above is another one. Nothing was done. Look at it, then save it again with croft plan --out, or apply the directory.',
  )
}
