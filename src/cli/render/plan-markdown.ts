import { maskChange } from '../../model/masked/masked-change.ts'
import type { ClusterHold, ClusterPlan } from '../../model/observed-cluster.ts'
import type { Action, ChartPreview, Disruption, Doing, Plan, PlanEntry } from '../../model/plan.ts'
import { forecast, type NodeForecast } from '../../plan/clusters/forecast.ts'
import { disruptionOf } from '../../plan/disruption.ts'
import { chartSentence } from './plan-chart.ts'
import { SENSITIVE } from './plan-summary.ts'
import { cleanValue } from './text.ts'

/** Marks our comment, to find and update it. */
export const PLAN_MARK = '<!-- croft-plan -->'

/**
 * Renders the changes of a pull request as markdown: actions at its head that its base would not do anyway. Actions
 * that happen with or without the merge are only counted.
 */
export function planMarkdown(base: Plan, head: Plan, names: { readonly base: string; readonly head: string }): string {
  const before = new Map(base.entries.map((entry) => [entry.key, fingerprint(entry)]))
  const doing = head.entries.filter(({ action }) => action.do !== 'nothing')
  const caused = doing.filter((entry) => before.get(entry.key) !== fingerprint(entry))
  const anyway = doing.length - caused.length
  const averted = base.entries.filter(
    ({ key, action }) => action.do !== 'nothing' && !doing.some((entry) => entry.key === key),
  )
  const lines = [PLAN_MARK, `### croft plan: ${md(names.base)} → ${md(names.head)}`, '']
  const errors = head.problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    lines.push(`**${errors.length} ${errors.length === 1 ? 'error' : 'errors'} in the manifests**`, '')
    for (const { origin, message } of errors.slice(0, MOST))
      lines.push(`- \`${md(origin.file)}:${origin.line}\` ${md(message)}`)
    lines.push('')
  }
  for (const { connection, code, message } of head.notes)
    lines.push(`> **${md(connection)} is ${code}**: ${md(message)}`, '')
  const rows = [...caused.map(row), ...(head.clusters ?? []).flatMap((look) => clusterRows(look, base))]
  if (rows.length === 0) lines.push('Merging this changes nothing.', '')
  else {
    lines.push('| | Resource | What | Why |', '|---|---|---|---|', ...rows.slice(0, MOST))
    if (rows.length > MOST) lines.push('', `… and ${rows.length - MOST} more.`)
    lines.push('')
  }
  const known = new Set(disruptionOf(base).items.map(said))
  const disruptions = disruptionOf(head).items.filter((one) => !known.has(said(one)))
  if (rows.length > 0) {
    lines.push(`**Disruption: ${(disruptions[0]?.worst ?? 'none').replace('-', ' ')}**`, '')
    for (const one of disruptions.slice(0, MOST)) lines.push(`- \`${md(one.subject)}\` ${md(one.text)}`)
    if (disruptions.length > 0) lines.push('')
  }
  if (anyway > 0)
    lines.push(`${anyway} ${anyway === 1 ? 'action waits' : 'actions wait'} whether or not this is merged.`)
  if (averted.length > 0)
    lines.push(
      `No longer done after merging: ${averted
        .slice(0, MOST)
        .map(({ key }) => `\`${md(key)}\``)
        .join(', ')}.`,
    )
  return `${lines.join('\n').trimEnd()}\n`
}

const MOST = 100

function said({ subject, text }: Disruption): string {
  return `${subject} ${text}`
}

/** Returns the changes of a cluster's nodes, and its obstacles, where the base differs. */
function clusterRows(look: ClusterPlan, base: Plan): readonly string[] {
  const before = base.clusters?.find(({ declaration }) => declaration.key === look.declaration.key)
  const known = new Set(before === undefined ? [] : clusterLines(before))
  return clusterLines(look).filter((line) => !known.has(line))
}

function clusterLines(look: ClusterPlan): readonly string[] {
  const { key } = look.declaration
  const nodes = forecast(look).filter(({ becomes }) => becomes !== 'nothing')
  const objections = (sign: string, found: readonly ClusterHold[]) =>
    found.map(({ reason, allow }) => `| ${sign} | \`${md(key)}\` | ${md(reason)} | ${md(allow)} |`)
  return [
    ...nodes.map(
      ({ name, role, becomes, text }) =>
        `| ${FATE[becomes]} | \`${md(key)}\` | ${role} \`${md(name)}\` | ${md(text)} |`,
    ),
    ...objections(SIGN.hold, look.decision.holds),
    ...objections(SIGN.refuse, look.decision.refusals),
  ]
}

const FATE: Readonly<Record<NodeForecast['becomes'], string>> = {
  nothing: '=',
  joins: '➕',
  leaves: '🗑️ **leaves**',
  changes: '✏️',
  replaced: '♻️ **replaced**',
}

const SIGN: Readonly<Record<Action['do'], string>> = {
  nothing: '=',
  wait: '⏳',
  create: '➕',
  update: '✏️',
  adopt: '🏷️',
  replace: '♻️ **replace**',
  delete: '🗑️ **delete**',
  forget: '👋',
  hold: '✋ held',
  refuse: '⛔ refused',
}

function row({ key, action, preview }: PlanEntry): string {
  const doing =
    action.do === 'hold' ? action.held : action.do === 'wait' ? action.next : 'steps' in action ? action : undefined
  const reason = 'reason' in action ? action.reason : ''
  const why = preview?.refused === undefined ? reason : `would be refused: ${preview.refused}`
  const what = `${doing === undefined ? action.do : whatOf(doing)}${chartCell(preview?.chart)}`
  return `| ${SIGN[action.do]} | \`${md(key)}\` | ${what} | ${md(why)} |`
}

/** Summarizes a chart in one cell: its objects without their fields. */
function chartCell(chart: ChartPreview | undefined): string {
  if (chart === undefined) return ''
  if (chart.notRendered !== undefined)
    return chart.notRendered.why === 'no-helm' ? '' : `<br>${md(chart.notRendered.message)}`
  const names = chart.objects.slice(0, MOST_OF_CHART).map(({ id, becomes }) => `${CHART_SIGN[becomes]}\`${md(id)}\``)
  const rest = chart.objects.length - names.length
  const more = rest > 0 ? [`and ${rest} more`] : []
  return `<br>${md(chartSentence(chart))}${names.length === 0 ? '' : `: ${[...names, ...more].join(', ')}`}`
}

const MOST_OF_CHART = 20
const CHART_SIGN = { added: '➕', changed: '✏️', removed: '🗑️' } as const

function whatOf(doing: Doing): string {
  if (!('changes' in doing) || doing.changes.length === 0) return `${doing.do} ${md(doing.externalId)}`
  return doing.changes
    .map(maskChange)
    .map(({ path, from, to, effect, secret }) =>
      secret === true
        ? `\`${md(path)}\` ${SENSITIVE} (${effect})`
        : `\`${md(path)}\` ${md(cleanValue(from))} → ${md(cleanValue(to))} (${effect})`,
    )
    .join('<br>')
}

/** Identifies an action for comparison, without ids that croft chooses and that may differ between two looks. */
function fingerprint({ action }: PlanEntry): string {
  return JSON.stringify(action, (name, value: unknown) =>
    name === 'steps' || name === 'lookAgainMs' ? undefined : value,
  )
}

/** Escapes untrusted text for a table of markdown: it must not end the cell, open a tag or mention a user. */
function md(text: string): string {
  return cleanValue(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('|', '\\|')
    .replaceAll('`', "'")
    .replaceAll('@', '@\u200b')
}
