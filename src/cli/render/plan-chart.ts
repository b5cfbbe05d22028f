import type { ChartObjectPreview, ChartPreview, Plan } from '../../model/plan.ts'
import { changeLine, type PlanView } from './plan-summary.ts'
import { clean, type Style } from './text.ts'

/** Lines shown per chart, unless calls are asked for. */
const MOST = 30

const SIGNS = { added: '+', changed: '~', removed: '-' } as const
const PAINTS = { added: 'green', changed: 'yellow', removed: 'red' } as const

/** Lists the objects that a chart would create, and their fields if they change. */
export function chartLines(chart: ChartPreview | undefined, style: Style, view: PlanView): readonly string[] {
  if (chart === undefined) return []
  const { notRendered, objects, relabelled, unsteady } = chart
  // A missing Helm is reported once, at the end of the plan.
  if (notRendered !== undefined)
    return notRendered.why === 'no-helm' ? [] : [`its objects are not shown: ${clean(notRendered.message)}`]
  const lines = objects.flatMap((one) => objectLines(one, style))
  const most = view.calls === true ? lines.length : MOST
  const rest = lines.length - most
  return [
    `${chartSentence(chart)}${lines.length === 0 ? '' : ':'}`,
    ...lines.slice(0, most),
    ...(rest > 0 ? [`  … and ${rest} lines more (--calls shows all)`] : []),
    ...(relabelled > 0
      ? [`  ${counted(relabelled, 'object gets', 'objects get')} only the labels of the version`]
      : []),
    ...(unsteady.length > 0 ? [`  renders differently each time, and is not compared there: ${listed(unsteady)}`] : []),
  ]
}

/** `the chart changes 2, adds 1 and removes 0 of 24 objects` */
export function chartSentence({ objects, total }: ChartPreview): string {
  const count = (becomes: ChartObjectPreview['becomes']) => objects.filter((one) => one.becomes === becomes).length
  const [added, changed, removed] = [count('added'), count('changed'), count('removed')]
  if (objects.length === 0) return `the chart changes none of its ${counted(total, 'object', 'objects')}`
  if (added === total) return `the chart brings ${counted(total, 'object', 'objects')}`
  const parts = [
    ...(changed > 0 ? [`changes ${changed}`] : []),
    ...(added > 0 ? [`adds ${added}`] : []),
    ...(removed > 0 ? [`removes ${removed}`] : []),
  ]
  return `the chart ${parts.join(', ')} of ${counted(total, 'object', 'objects')}`
}

/** Returns remarks about charts, each of them once per plan. */
export function chartRemarks(plan: Plan): readonly string[] {
  const notRendered = plan.entries.flatMap(({ preview }) => preview?.chart?.notRendered ?? [])
  return [...new Set(notRendered.filter(({ why }) => why === 'no-helm').map(({ message }) => message))]
}

function objectLines({ id, becomes, changes }: ChartObjectPreview, style: Style): readonly string[] {
  const kept = changes.length === 0 && becomes === 'changed' ? ' (its values are not shown)' : ''
  return [
    `  ${style.paint(PAINTS[becomes], SIGNS[becomes])} ${clean(id)}${kept}`,
    ...changes.map((change) => `      ${changeLine(change)}`),
  ]
}

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, 5).map((id) => clean(id))
  return ids.length > shown.length ? `${shown.join(', ')} and ${ids.length - shown.length} more` : shown.join(', ')
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
