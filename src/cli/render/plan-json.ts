import { defined } from '../../lib/defined.ts'
import { maskChange } from '../../model/masked/masked-change.ts'
import type { Action, Doing, Plan, PlanEntry, Preview } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { savedStep } from '../../model/shown-step.ts'
import type { Step } from '../../model/step.ts'
import { forecast } from '../../plan/clusters/forecast.ts'
import { shownParams } from './plan.ts'
import { SENSITIVE, summarise } from './plan-summary.ts'
import { problemsJson } from './problems.ts'

export const API_VERSION = 'croft.dev/v1alpha1'

/** Returns the plan for programs. Fields are only ever added. Unchanged resources are counted, not listed. */
export function planJson(plan: Plan, revision: string): unknown {
  return {
    apiVersion: API_VERSION,
    kind: 'Plan',
    revision,
    summary: summarise(plan),
    entries: plan.entries.filter((entry) => entry.action.do !== 'nothing').map(entryJson),
    ...clustersOf(plan),
    ...defined({ waiting: plan.waiting }),
    ...remarksOf(plan),
    notes: plan.notes,
    problems: problemsJson(plan.problems),
  }
}

/** Returns the target and the next steps of each cluster; nothing if none is declared. */
function clustersOf(plan: Plan): object {
  if (plan.clusters === undefined) return {}
  return {
    clusters: plan.clusters.map((look) => ({
      key: look.declaration.key,
      version: look.declaration.spec.version,
      forecast: forecast(look),
      ...look.decision,
      steps: look.decision.steps.map((step) => savedStep(step)),
    })),
  }
}

/** Returns remarks about single resources, unlisted ones too; nothing if there are none. */
function remarksOf(plan: Plan): object {
  const remarks = plan.entries.flatMap(({ key, notes }) => (notes ?? []).map((message) => ({ key, message })))
  return remarks.length === 0 ? {} : { remarks }
}

function entryJson(entry: PlanEntry): unknown {
  return {
    key: entry.key,
    uid: entry.uid,
    connection: entry.connection,
    type: entry.type,
    ...defined({ externalId: entry.externalId, host: entry.host, origin: entry.origin }),
    action: actionJson(entry.action),
    ...(entry.preview === undefined ? {} : { preview: previewJson(entry.preview) }),
  }
}

function actionJson(action: Action): unknown {
  if (action.do === 'hold') return { ...action, held: doingJson(action.held) }
  if (action.do === 'wait' && action.next !== undefined) return { ...action, next: doingJson(action.next) }
  return 'steps' in action ? doingJson(action) : action
}

function doingJson(doing: Doing): unknown {
  return {
    ...doing,
    ...('changes' in doing ? { changes: doing.changes.map(changeJson) } : {}),
    steps: doing.steps.map(stepJson),
  }
}

function previewJson(preview: Preview): Preview {
  const { changes, chart } = preview
  const objects = chart?.objects.map((one) => ({ ...one, changes: one.changes.map(maskChange) }))
  return {
    ...preview,
    changes: changes.map(maskChange),
    ...(chart === undefined || objects === undefined ? {} : { chart: { ...chart, objects } }),
  }
}

function changeJson(change: Change): unknown {
  const masked = maskChange(change)
  if (masked.secret !== true) return masked
  const hidden = (value: unknown) => (value === undefined || value === null ? value : SENSITIVE)
  return { ...masked, from: hidden(masked.from), to: hidden(masked.to) }
}

function stepJson(step: Step): unknown {
  return savedStep(step, shownParams(step))
}
