import { defined } from '../../lib/defined.ts'
import { type Origin, type ResourceKey, showOrigin } from '../../model/declaration.ts'
import type { Condition, ResourceRecord } from '../../model/record.ts'
import { showAge } from './duration.ts'
import { API_VERSION } from './plan-json.ts'
import { type Column, renderTable } from './table.ts'
import type { Style } from './text.ts'

/** One line of `croft get`: a declaration with its record. Either may be missing. */
export interface ResourceRow {
  readonly key: ResourceKey
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly apiVersion?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: unknown
  readonly origin?: Origin
  /** Declared by this instance with observed values: the files have no place for it. */
  readonly instance?: ResourceKey
  readonly record?: ResourceRecord
  /** A connection or a fact that others look up: nothing outside is kept for it. */
  readonly passive: boolean
}

export interface TableView {
  readonly wide: boolean
  readonly headers: boolean
  /** Names carry their kind when several kinds are in one table. */
  readonly qualified: boolean
  readonly nowMs: number
}

const NARROW: readonly Column[] = [
  { title: 'NAME' },
  { title: 'SYNCED' },
  { title: 'READY' },
  { title: 'STATUS' },
  { title: 'AGE' },
]
const WIDE: readonly Column[] = [
  ...NARROW,
  { title: 'HOST' },
  { title: 'ID' },
  { title: 'IP' },
  { title: 'REVISION' },
  { title: 'MESSAGE', max: 200 },
]

export function renderResources(rows: readonly ResourceRow[], style: Style, view: TableView): string {
  const cells = rows.map((row) => {
    const narrow = [
      view.qualified ? row.key : nameOf(row),
      statusOf(row, 'Synced'),
      statusOf(row, 'Ready'),
      shortStatus(row),
      row.record === undefined ? '<none>' : showAge(view.nowMs - row.record.createdMs),
    ]
    return view.wide ? [...narrow, ...wideCells(row)] : narrow
  })
  return renderTable(view.wide ? WIDE : NARROW, cells, style, { headers: view.headers })
}

/** The object as other programs read it: a manifest with a status, as Kubernetes would show it. */
export function resourceJson(row: ResourceRow): unknown {
  const { record } = row
  return {
    apiVersion: row.apiVersion ?? API_VERSION,
    kind: row.kind,
    metadata: {
      name: row.name,
      ...defined({ namespace: row.namespace }),
      ...(record === undefined ? {} : { uid: record.uid, creationTimestamp: new Date(record.createdMs).toISOString() }),
      ...(Object.keys(row.labels).length === 0 ? {} : { labels: row.labels }),
      ...(Object.keys(row.annotations ?? {}).length === 0 ? {} : { annotations: row.annotations }),
    },
    ...defined({ spec: row.spec, origin: row.origin }),
    ...(record === undefined ? {} : { status: recordJson(record) }),
  }
}

export function resourceListJson(rows: readonly ResourceRow[]): unknown {
  return { apiVersion: API_VERSION, kind: 'List', items: rows.map(resourceJson) }
}

function recordJson(record: ResourceRecord): unknown {
  return {
    status: record.status,
    connection: record.connection,
    ...defined({ externalId: record.externalId, host: record.host }),
    observedGeneration: record.generation,
    conditions: record.conditions.map((condition) => ({
      type: condition.type,
      status: condition.status,
      reason: condition.reason,
      message: condition.message,
      lastTransitionTime: new Date(condition.sinceMs).toISOString(),
    })),
    ...defined({ failure: record.failure, details: record.details }),
  }
}

export function conditionOf(row: ResourceRow, type: Condition['type']): Condition | undefined {
  return row.record?.conditions.find((condition) => condition.type === type)
}

function nameOf(row: ResourceRow): string {
  return row.namespace === undefined ? row.name : `${row.namespace}/${row.name}`
}

function statusOf(row: ResourceRow, type: 'Synced' | 'Ready'): string {
  if (row.passive) return '-'
  return conditionOf(row, type)?.status ?? 'Unknown'
}

function shortStatus(row: ResourceRow): string {
  const status = row.record?.status
  if (status === undefined) return row.passive ? 'Declared' : 'NotYetApplied'
  const declared = row.origin !== undefined || row.instance !== undefined
  return declared || status === 'Orphaned' ? status : `${status} (undeclared)`
}

function wideCells(row: ResourceRow): readonly string[] {
  const { record } = row
  const stalled = conditionOf(row, 'Stalled')
  const telling = stalled?.status === 'True' ? stalled : (conditionOf(row, 'Ready') ?? conditionOf(row, 'Synced'))
  return [
    record?.host ?? '<none>',
    record?.externalId ?? '<none>',
    addressOf(record) ?? '<none>',
    row.origin?.commit?.slice(0, 7) ?? (row.origin === undefined ? '<none>' : showOrigin(row.origin)),
    record?.failure?.message ?? telling?.message ?? '',
  ]
}

function addressOf(record: ResourceRecord | undefined): string | undefined {
  const details = record?.details ?? {}
  return details.ip ?? details.address ?? details.addresses?.split(/[,\s]+/)[0]
}
