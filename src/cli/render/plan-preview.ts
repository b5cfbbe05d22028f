import { maskChange } from '../../model/masked/masked-change.ts'
import type { Action, PlanEntry } from '../../model/plan.ts'
import { chartLines } from './plan-chart.ts'
import { changeLine, type PlanView } from './plan-summary.ts'
import { clean, cleanValue, type Style } from './text.ts'

/** Lines shown for a new thing, unless its calls are asked for. */
const MOST = 12

/**
 * Returns the outside system's own forecast of an entry: why it would refuse, the fields of a new thing, and the
 * undeclared fields that it would change by itself.
 */
export function previewLines({ action, preview }: PlanEntry, style: Style, view: PlanView): readonly string[] {
  if (preview === undefined) return []
  const refused =
    preview.refused === undefined ? [] : [style.paint('red', `would be refused: ${clean(preview.refused)}`)]
  const chart = chartLines(preview.chart, style, view)
  const declared = declaredPaths(action)
  if (declared === undefined) {
    const lines = preview.changes.map(maskChange).map(({ path, to }) => `${clean(path)}: ${cleanValue(to)}`)
    const most = view.calls === true ? lines.length : MOST
    const rest = lines.length - most
    return [
      ...refused,
      ...lines.slice(0, most),
      ...(rest > 0 ? [`… and ${rest} fields more (--calls shows all)`] : []),
      ...chart,
    ]
  }
  const besides = preview.changes.filter(({ path }) => !declared.has(path))
  return [...refused, ...besides.map((change) => `also ${changeLine(change)}`), ...chart]
}

/** The fields that the plan itself names as changed; undefined for something new. */
function declaredPaths(action: Action): ReadonlySet<string> | undefined {
  const doing = action.do === 'wait' ? action.next : action.do === 'hold' ? action.held : action
  if (doing === undefined || doing.do === 'create') return undefined
  return new Set('changes' in doing ? doing.changes.map(({ path }) => path) : [])
}
