import { shellWord } from '../../lib/shell-quoted.ts'
import { showOrigin } from '../../model/declaration.ts'
import { maskTree } from '../../model/masked/masked-tree.ts'
import type { ClusterHold, ClusterPlan } from '../../model/observed-cluster.ts'
import { type Action, type ConnectionNote, type Doing, isDoing, type Plan, type PlanEntry } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { shownCall, toldStep } from '../../model/shown-step.ts'
import type { Step } from '../../model/step.ts'
import { showWaiting } from '../../model/waiting.ts'
import { clusterDiffers, forecast } from '../../plan/clusters/forecast.ts'
import { causeOf, namesOf } from './cause.ts'
import { chartRemarks } from './plan-chart.ts'
import { clusterCounts, renderClusterPlan } from './plan-cluster.ts'
import { previewLines } from './plan-preview.ts'
import { changeLine, type PlanSummary, type PlanView, SENSITIVE, summarise, waitingKeys } from './plan-summary.ts'
import { clean, type Paint, type Style } from './text.ts'

/** Renders the plan for people: the changes of each thing, the reasons, the steps, and the held ones. */
export function renderPlan(plan: Plan, style: Style, view: PlanView = {}): string {
  const blocks = renderEntries(shownEntries(plan), style, view)
  const notes = plan.notes.map((note) => renderNote(note, style, view))
  const clusters = (plan.clusters ?? []).map((look) => renderClusterPlan(look, style)).filter((text) => text !== '')
  const waiting = [...waitingKeys(plan)].map((key) => renderWaiting(key, plan, style))
  return [...notes, ...blocks, ...waiting, ...clusters, ...renderRemarks(plan, style), closingLine(plan, style)].join(
    '\n',
  )
}

/** Renders a resource that is made as soon as its values are observed. */
function renderWaiting(key: string, { waiting = [] }: Plan, style: Style): string {
  const own = waiting.filter((one) => (one.key ?? `${one.instance} (name not known yet)`) === key)
  const head = `${style.paint(['dim', 'bold'], `… ${clean(key)}`)}   of ${clean(own[0]?.instance ?? '')}`
  return [`  ${head}`, ...own.map((one) => `      waits: ${clean(showWaiting(one))}`), ''].join('\n')
}

/** Renders remarks about things without an action. */
function renderRemarks(plan: Plan, style: Style): readonly string[] {
  const lines = plan.entries.flatMap(({ key, action, notes }) =>
    action.do === 'nothing'
      ? (notes ?? []).map((note) => `  ${style.paint('dim', '=')} ${clean(key)}   ${clean(note)}`)
      : [],
  )
  const all = [...lines, ...chartRemarks(plan).map((remark) => `  ${style.paint('dim', clean(remark))}`)]
  return all.length === 0 ? [] : [`${all.join('\n')}\n`]
}

/** Returns the entries to show. An unreadable connection has a note, so its resources are skipped. */
function shownEntries(plan: Plan): readonly PlanEntry[] {
  const noted = new Set(plan.notes.map((note) => note.connection))
  const unseen = ({ action, connection }: PlanEntry) =>
    action.do === 'wait' && action.reason === 'ConnectionNotSeen' && noted.has(connection)
  return plan.entries.filter((entry) => entry.action.do !== 'nothing' && !unseen(entry))
}

/** `Plan: 1 to add, 0 to change, 0 to destroy.`, or that there is nothing to do. */
export function closingLine(plan: Plan, style: Style): string {
  const summary = summarise(plan)
  const clusters = plan.clusters ?? []
  const differs = shownEntries(plan).length > 0 || (plan.waiting ?? []).length > 0 || clusters.some(clusterDiffers)
  if (!differs && plan.notes.length > 0) {
    return style.paint(['yellow', 'bold'], 'No plan: the notes above say what could not be seen.\n')
  }
  if (!differs) {
    const all =
      summary.unchanged === 1 ? 'The 1 declared resource is' : `All ${summary.unchanged} declared resources are`
    const nothing = clusters.length === 0 ? ['Nothing is declared and nothing is left over.'] : []
    const seen = [...(summary.unchanged === 0 ? nothing : [`${all} as declared.`]), ...clusters.map(statusOf)]
    return `${style.paint(['green', 'bold'], 'No changes.')} ${seen.join(' ')}\n`
  }
  const nodes = clusterCounts(clusters)
  return `${style.paint('bold', 'Plan:')} ${countsOf(summary)}.${disruptionOf(summary)}${nodes === '' ? '' : ` ${nodes}`}\n${disruptionLines(summary, style)}`
}

/** Returns the state of a cluster without steps: as declared, or a problem that croft does not correct. */
function statusOf({ declaration, decision }: ClusterPlan): string {
  const key = clean(declaration.key)
  if (decision.phase === 'Ready') return `${key} is as declared.`
  const nodes = decision.nodes
    .filter(({ phase }) => phase !== 'Ready' && phase !== 'Soaking')
    .map(({ name, phase, message }) => `${clean(name)} is ${phase}${message === '' ? '' : ` (${clean(message)})`}`)
  return `${key} is ${decision.phase}${nodes.length === 0 ? '' : `: ${nodes.join(', ')}`}.`
}

const SYMBOLS = {
  create: '+',
  update: '~',
  replace: '-/+',
  delete: '-',
  adopt: '<=',
  forget: 'x',
  refuse: '!',
  nothing: ' ',
} as const

export function symbolOf(action: Action): string {
  if (action.do === 'hold') return `${symbolOf({ ...action.held, reason: '' })} ‖`
  if (action.do !== 'wait') return SYMBOLS[action.do]
  return action.next === undefined ? '…' : `${symbolOf({ ...action.next, reason: '' })} …`
}

/** Each cause once: what only waits is one block for all that wait for it, and what is held names the first that is. */
function renderEntries(entries: readonly PlanEntry[], style: Style, view: PlanView): readonly string[] {
  const idle = (entry: PlanEntry) =>
    entry.action.do === 'wait' && entry.action.next === undefined && (entry.notes ?? []).length === 0
  const waiting = Map.groupBy(entries.filter(idle), (entry) => stoppedBy(entry) ?? '')
  const first = new Map<string, string>()
  return entries.flatMap((entry) => {
    const cause = stoppedBy(entry)
    if (cause === undefined) return [renderEntry(entry, style, view)]
    const together = idle(entry) ? (waiting.get(cause) ?? []) : []
    if (together.length > 1) return together[0] === entry ? [renderWaits(together, style, view)] : []
    const before = first.get(cause)
    first.set(cause, before ?? entry.key)
    return [renderEntry(entry, style, view, before)]
  })
}

function stoppedBy({ key, action }: PlanEntry): string | undefined {
  if (action.do === 'wait') return causeOf({ what: key, reason: action.message })
  if (action.do !== 'hold' && action.do !== 'refuse') return undefined
  return `${action.guard} ${causeOf({ what: key, reason: action.reason, allow: action.allow })}`
}

function renderWaits(entries: readonly PlanEntry[], style: Style, view: PlanView): string {
  const [entry] = entries
  if (entry === undefined) return ''
  const head = style.paint(['dim', 'bold'], `… ${namesOf(entries.map(({ key }) => key))}`)
  const body = bodyOf(entry.action, style, view).map((line) => `      ${line}`)
  return [`  ${head}   ${entries.length} things`, ...body, ''].join('\n')
}

/** `before`: the same cause was said of this one. */
function renderEntry(entry: PlanEntry, style: Style, view: PlanView, before?: string): string {
  const { action } = entry
  const head = [
    `${symbolOf(action)} ${clean(entry.key)}`,
    thingOf(entry),
    entry.origin === undefined ? '(no longer declared)' : `${clean(entry.origin.file)}:${entry.origin.line}`,
  ].filter((part) => part !== '')
  const lines = [style.paint([paintOf(action), 'bold'], head[0] ?? ''), ...head.slice(1)]
  const body = [
    ...bodyOf(action, style, view, before),
    ...previewLines(entry, style, view),
    ...(entry.notes ?? []).map((note) => `note: ${clean(note)}`),
  ]
  return [`  ${lines.join('   ')}`, ...body.map((line) => `      ${line}`), ''].join('\n')
}

function bodyOf(action: Action, style: Style, view: PlanView, before?: string): readonly string[] {
  const objection = (word: string, { guard, reason, allow }: Pick<ClusterHold, 'guard' | 'reason' | 'allow'>) =>
    before === undefined
      ? [`${word} [${clean(guard)}]: ${clean(reason)}`, `to allow: ${clean(allow)}`]
      : [`${word} [${clean(guard)}]: as ${clean(before)} above`]
  switch (action.do) {
    case 'nothing':
      return []
    case 'wait':
      return [
        // `waits for Image/noble` is already complete.
        action.message.startsWith('waits') ? clean(action.message) : `waits: ${clean(action.message)}`,
        ...(action.next === undefined ? [] : stepsOf(action.next.steps, style, view, 'then ')),
      ]
    case 'forget':
      return [`${clean(action.reason)} (the thing itself stays as it is)`]
    case 'refuse':
      return objection('refused', action)
    case 'hold':
      return [
        ...objection('held', action),
        ...changesOf(action.held, style),
        ...stepsOf(action.held.steps, style, view, 'would '),
      ]
    default:
      return [
        // The changes of an update are its reason; the sentence would only repeat their names.
        ...(action.reason === '' || action.do === 'update' ? [] : [style.paint('dim', clean(action.reason))]),
        ...changesOf(action, style),
        ...stepsOf(action.steps, style, view, ''),
      ]
  }
}

function changesOf(doing: Doing, style: Style): readonly string[] {
  if (!('changes' in doing)) return []
  return doing.changes.map((change) => {
    const effect = change.effect === 'live' ? '' : `  ${style.paint('yellow', effectOf(change))}`
    return `${changeLine(change)}${effect}`
  })
}

function effectOf(change: Change): string {
  return change.effect === 'replace' ? '(forces replacement)' : '(restart)'
}

function stepsOf(steps: readonly Step[], style: Style, view: PlanView, prefix: string): readonly string[] {
  const width = String(steps.length).length
  return steps.flatMap((step, index) => {
    const mark = step.disruption === 'none' ? '' : `  ${style.paint('yellow', `(${shownDisruption(step.disruption)})`)}`
    const line = `${String(index + 1).padStart(width)}. ${prefix}${clean(toldStep(step))}${mark}`
    return view.calls === true
      ? [line, ...callLines(step, style).map((call) => `${' '.repeat(width + 2)}${call}`)]
      : [line]
  })
}

function callLines(step: Step, style: Style): readonly string[] {
  const params = shownParams(step)
  const { method, path, via } = shownCall(step)
  const head = `${method} ${clean(path)}  via ${via}`
  return [head, ...Object.entries(params).map(([name, value]) => `  ${clean(name)}=${value}`)].map((line) =>
    style.paint('dim', line),
  )
}

/** Parameters as they may be shown: those that carry a secret are named, their value is not. */
export function shownParams(step: Step): Readonly<Record<string, string>> {
  const { params, secretParams } = shownCall(step)
  const secret = new Set(secretParams)
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      secret.has(name) ? SENSITIVE : clean(String(maskTree(value, name))),
    ]),
  )
}

function renderNote(note: ConnectionNote, style: Style, { directory }: PlanView): string {
  const name = style.paint(['red', 'bold'], `Connection ${clean(note.connection)}: ${note.code}`)
  const head = note.origin === undefined ? name : `${name}   ${clean(showOrigin(note.origin))}`
  // `croft doctor` finds out why it cannot be read.
  const unseen = note.code === 'refused' || note.code === 'unreachable'
  const next = unseen
    ? `run ${directory === undefined ? 'croft doctor' : `croft doctor ${clean(directory)}`} to see what is wrong and how to fix it; ${clean(note.allow)}`
    : clean(note.allow)
  return `${head}\n  ${clean(note.message)}\n  to go on: ${next}\n`
}

function thingOf(entry: PlanEntry): string {
  const chosen = entry.externalId ?? (entry.action.do === 'wait' ? entry.action.next?.externalId : undefined)
  // `Addon/a@ConfigMap/n/m` says already which object it is.
  const said = chosen === undefined || entry.key.endsWith(`@${chosen}`)
  const id = said ? '' : `${entry.type === 'vm' ? 'VM ' : ''}${clean(chosen)}`
  const host = entry.host === undefined ? '' : `on ${clean(entry.host)}`
  return [id, host].filter((part) => part !== '').join(' ')
}

function countsOf(summary: PlanSummary): string {
  const always = [`${summary.add} to add`, `${summary.change} to change`, `${summary.destroy} to destroy`]
  const also: readonly (readonly [number, string])[] = [
    [summary.adopt, 'to adopt'],
    [summary.forget, 'to forget'],
    [summary.wait, 'waiting'],
    [summary.held, 'held'],
    [summary.refused, 'refused'],
  ]
  return [...always, ...also.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)].join(', ')
}

function disruptionOf(summary: PlanSummary): string {
  const writes = summary.add + summary.change + summary.destroy + summary.adopt
  const known = summary.disruption === 'none' && writes === 0
  return known ? '' : ` Disruption: ${shownDisruption(summary.disruption)}.`
}

/** Lists disruptions of running things, one line each. */
function disruptionLines({ disruptions }: PlanSummary, style: Style): string {
  const shown = disruptions.slice(0, MOST_DISRUPTIONS)
  const more = disruptions.length - shown.length
  const lines = shown.map(({ subject, worst, text }) => {
    const line = `  ${clean(subject)}: ${clean(text)}`
    return style.paint(worst === 'data-loss' ? 'red' : 'yellow', line)
  })
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].map((line) => `${line}\n`).join('')
}

const MOST_DISRUPTIONS = 12

function shownDisruption(disruption: PlanSummary['disruption']): string {
  return disruption === 'data-loss' ? 'data loss' : disruption
}

function paintOf(action: Action): Paint {
  switch (action.do) {
    case 'create':
      return 'green'
    case 'update':
    case 'hold':
      return 'yellow'
    case 'delete':
    case 'replace':
    case 'refuse':
      return 'red'
    default:
      return isDoing(action) ? 'cyan' : 'gray'
  }
}

/** What to do about a plan, as its last line: the one command, or where the reason stands that there is none. */
export function nextLine(plan: Plan, { directory = '.' }: PlanView): string {
  const meant = shownEntries(plan).map(({ action }) => (action.do === 'wait' ? (action.next ?? action) : action))
  const apply = `croft apply ${shellWord(directory)}`
  const stopped = meant.some(({ do: what }) => what === 'hold')
    ? ' What is held stays until its "to allow" is done.'
    : ''
  if (meant.some(({ do: what }) => what === 'refuse')) return `Next: correct what is refused, then ${apply}.\n`
  const idle = new Set(['nothing', 'wait', 'hold'])
  if (meant.some(({ do: what }) => !idle.has(what)) || (plan.clusters ?? []).some(isStep))
    return `Next: ${apply} does this.${stopped}\n`
  if (stopped !== '') return `Next: nothing to apply.${stopped}\n`
  return meant.some(({ do: what }) => what === 'wait') || (plan.waiting ?? []).length > 0
    ? `Next: ${apply} goes on when what it waits for is there.\n`
    : ''
}

function isStep(look: ClusterPlan): boolean {
  return look.decision.steps.length > 0 || forecast(look).some(({ becomes }) => becomes !== 'nothing')
}
