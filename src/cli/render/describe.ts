import { pauseLeftMs } from '../../lib/backoff.ts'
import { type Policy, type ResourceKey, showOrigin } from '../../model/declaration.ts'
import type { CroftEvent, FailureRun, ResourceRecord } from '../../model/record.ts'
import { showAge } from './duration.ts'
import { renderEvents } from './events.ts'
import type { ResourceRow } from './resources.ts'
import { renderTable } from './table.ts'
import { clean, type Style } from './text.ts'

/** Everything known about one resource, for a person who asks why. */
export function renderDescription(
  row: ResourceRow,
  context: { readonly needs: readonly ResourceKey[]; readonly events: readonly CroftEvent[]; readonly nowMs: number },
  style: Style,
): string {
  const sections = [
    fields(headFields(row, context.needs), style),
    row.record === undefined ? '' : conditions(row.record, context.nowMs, style),
    row.record?.failure === undefined ? '' : failure(row.record.failure, context.nowMs, style),
    eventsSection(context.events, context.nowMs, style),
  ]
  return sections.filter((section) => section !== '').join('\n')
}

function headFields(row: ResourceRow, needs: readonly ResourceKey[]): readonly (readonly [string, string])[] {
  const { record } = row
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${value}`)
  return [
    ['Name', row.name],
    ['Namespace', row.namespace ?? ''],
    ['Kind', row.kind],
    ['Labels', labels.join(', ')],
    ['Declared', declaredIn(row)],
    ['Status', record?.status ?? (row.passive ? 'Declared' : 'NotYetApplied')],
    ['Connection', record?.connection ?? ''],
    [
      'External id',
      record?.externalId === undefined ? '' : `${record.externalId} on ${record.host ?? 'an unknown host'}`,
    ],
    ['UID', record?.uid ?? ''],
    ['Policy', record === undefined ? '' : showPolicy(record.policy)],
    ['Needs', needs.join(', ')],
    ...Object.entries(record?.details ?? {}).map(([name, value]) => [name, value] as const),
  ]
}

function showPolicy(policy: Policy): string {
  const parts = [
    `deletion ${policy.deletion}`,
    policy.protect ? 'protected' : '',
    policy.paused ? 'paused' : '',
    policy.manage === 'observe' ? 'observe only' : '',
    policy.replace === 'allowed' ? 'may be replaced' : '',
    policy.adopt === undefined ? '' : `adopts ${policy.adopt}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function fields(entries: readonly (readonly [string, string])[], style: Style): string {
  const shown = entries.filter(([, value]) => value !== '')
  const width = Math.max(...shown.map(([name]) => clean(name).length)) + 1
  return shown
    .map(([name, value]) => `${style.paint('bold', `${clean(name)}:`.padEnd(width))}  ${clean(value)}\n`)
    .join('')
}

function conditions(record: ResourceRecord, nowMs: number, style: Style): string {
  const rows = record.conditions.map((condition) => [
    condition.type,
    condition.status,
    condition.reason,
    showAge(nowMs - condition.sinceMs),
    condition.message,
  ])
  const columns = ['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'].map((title) => ({ title, max: 400 }))
  return `${style.paint('bold', 'Conditions:')}\n${indent(renderTable(columns, rows, style))}`
}

function failure(run: FailureRun, nowMs: number, style: Style): string {
  const again =
    pauseLeftMs(run, nowMs) > 0 ? `in ${showAge(pauseLeftMs(run, nowMs))}` : 'with the next pass, unless it is stalled'
  const title = run.kind === 'waiting' ? style.paint('bold', 'Waiting:') : style.paint(['red', 'bold'], 'Failure:')
  return indentAfterTitle(title, [
    `${clean(run.reason)}: ${clean(run.message)}`,
    `${run.count} times, first ${showAge(nowMs - run.firstMs)} ago, last ${showAge(nowMs - run.lastMs)} ago`,
    `next attempt ${again}`,
  ])
}

function eventsSection(events: readonly CroftEvent[], nowMs: number, style: Style): string {
  const title = style.paint('bold', 'Events:')
  if (events.length === 0) return `${title}  none\n`
  return `${title}\n${indent(renderEvents(events, style, { nowMs, headers: true, withObject: false }))}`
}

function indentAfterTitle(title: string, lines: readonly string[]): string {
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

function declaredIn({ origin, instance }: ResourceRow): string {
  if (origin !== undefined) return showOrigin(origin)
  return instance === undefined ? 'no longer' : `by ${instance}, with values that croft looked up`
}
