import type { Action, Doing } from '../../model/action.ts'
import type { Plan, PlanEntry } from '../../model/plan.ts'
import { cleanValue } from './clean.ts'
import { SENSITIVE } from './plan-change.ts'

/** By this a comment is found again and renewed. */
export const PLAN_MARK = '<!-- croft-plan -->'

/**
 * What a pull request changes, as markdown: what would be done at its head and would not be done anyway at its base.
 * What waits to be done whether or not it is merged is counted and not listed.
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
  if (caused.length === 0) lines.push('Merging this changes nothing.', '')
  else {
    lines.push('| | Resource | What | Why |', '|---|---|---|---|')
    for (const entry of caused.slice(0, MOST)) lines.push(row(entry))
    if (caused.length > MOST) lines.push('', `… and ${caused.length - MOST} more.`)
    lines.push('')
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

function row({ key, action }: PlanEntry): string {
  const doing =
    action.do === 'hold' ? action.held : action.do === 'wait' ? action.next : 'steps' in action ? action : undefined
  const why = 'reason' in action ? action.reason : ''
  return `| ${SIGN[action.do]} | \`${md(key)}\` | ${doing === undefined ? action.do : whatOf(doing)} | ${md(why)} |`
}

function whatOf(doing: Doing): string {
  if (!('changes' in doing) || doing.changes.length === 0) return `${doing.do} ${md(doing.externalId)}`
  return doing.changes
    .map(({ path, from, to, effect, secret }) =>
      secret === true
        ? `\`${md(path)}\` ${SENSITIVE} (${effect})`
        : `\`${md(path)}\` ${md(cleanValue(from))} → ${md(cleanValue(to))} (${effect})`,
    )
    .join('<br>')
}

/** What is the same plan for a reader: ids that croft would choose may differ from one look to the next. */
function fingerprint({ action }: PlanEntry): string {
  return JSON.stringify(action, (name, value: unknown) =>
    name === 'steps' || name === 'lookAgainMs' ? undefined : value,
  )
}

/** Text of others in a table of markdown: nothing in it ends the cell, opens a tag or calls somebody. */
function md(text: string): string {
  return cleanValue(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('|', '\\|')
    .replaceAll('`', "'")
    .replaceAll('@', '@\u200b')
}
