import { statusIn } from '../../model/estate-status.ts'
import type { EstateView } from '../../model/estate-view.ts'
import { troublesOf } from '../../model/trouble.ts'
import type { Counters } from '../controller.ts'

/** The text of /metrics in Prometheus' exposition format. Pure. */
export function metricsText(
  view: EstateView,
  counters: Readonly<Counters>,
  version: string,
  nowMs: number,
  longestStallMs?: number,
): string {
  const out: string[] = []
  const metric = (name: string, type: 'gauge' | 'counter', help: string, rows: readonly MetricRow[]) => {
    if (rows.length === 0) return
    out.push(`# HELP croft_${name} ${help}`, `# TYPE croft_${name} ${type}`)
    for (const [labels, value] of rows) out.push(`croft_${name}${labelText(labels)} ${value}`)
  }
  metric('info', 'gauge', 'The version of croft.', [[{ version }, 1]])
  metric('passes_total', 'counter', 'Passes that were made.', [[{}, counters.passes]])
  metric('effects_total', 'counter', 'Calls that changed something.', [[{}, counters.effects]])
  metric('pass_seconds_total', 'counter', 'Time spent in passes.', [[{}, counters.passMs / 1000]])
  metric('source_looks_total', 'counter', 'Checks of sources for new commits.', [[{}, counters.sourceLooks]])
  metric('source_troubles_total', 'counter', 'Failed checks of sources for new commits.', [
    [{}, counters.sourceTroubles],
  ])
  metric('webhooks_total', 'counter', 'Pushes that a webhook reported.', [[{}, counters.pokes]])
  if (longestStallMs !== undefined)
    metric('longest_stall_seconds', 'gauge', 'The longest time since the start without an answer.', [
      [{}, longestStallMs / 1000],
    ])
  if (view.pass !== undefined) {
    metric('last_pass_seconds', 'gauge', 'How long the last pass took.', [[{}, view.pass.tookMs / 1000]])
    metric('last_pass_age_seconds', 'gauge', 'How long ago the last pass ended.', [
      [{}, Math.max(0, nowMs - view.pass.endedMs) / 1000],
    ])
  }
  metric(
    'source_in_force',
    'gauge',
    'Is the newest commit of a source in force?',
    view.sources.map(({ name, trouble }) => [{ source: name }, trouble === undefined ? 1 : 0]),
  )
  metric(
    'connection_up',
    'gauge',
    'Can a connection be seen?',
    view.connections.map(({ name, state }) => [{ connection: name }, state === 'ok' || state === 'incomplete' ? 1 : 0]),
  )
  metric(
    'host_online',
    'gauge',
    'Is a host online?',
    view.hosts.map(({ connection, name, online }) => [{ connection, host: name }, online ? 1 : 0]),
  )
  metric(
    'host_memory_used_bytes',
    'gauge',
    'Memory in use on a host.',
    view.hosts.flatMap(({ connection, name, memoryUsedBytes }): MetricRow[] =>
      memoryUsedBytes === undefined ? [] : [[{ connection, host: name }, memoryUsedBytes]],
    ),
  )
  metric(
    'host_memory_bytes',
    'gauge',
    'Memory of a host.',
    view.hosts.flatMap(({ connection, name, memoryBytes }): MetricRow[] =>
      memoryBytes === undefined ? [] : [[{ connection, host: name }, memoryBytes]],
    ),
  )
  metric(
    'resources',
    'gauge',
    'Resources by kind and what is to be done about them.',
    counted(view.resources.map(({ kind, action }) => ({ kind, action: action.do }))),
  )
  for (const type of ['Ready', 'Synced', 'Stalled'] as const) {
    const rows = counted(
      view.resources.map(({ kind, conditions }) => ({
        kind,
        status: conditions.find((one) => one.type === type)?.status ?? 'Unknown',
      })),
    )
    metric(`resources_${type.toLowerCase()}`, 'gauge', `Resources by their condition ${type}.`, rows)
  }
  metric('drifts', 'gauge', 'Fields that differ because the world moved and Git did not.', [[{}, view.drifts.length]])
  metric(
    'problems',
    'gauge',
    'Problems in the manifests.',
    counted(view.problems.map(({ severity }) => ({ severity }))),
  )
  metric(
    'troubles',
    'gauge',
    'What is wrong now, by class; bad: it does not work or needs a person, warn: somebody should look.',
    counted(troublesOf(statusIn(view), nowMs).map(({ sort, tone }) => ({ sort, tone }))),
  )
  metric(
    'cluster_quorum_margin',
    'gauge',
    'Servers that may still be lost before a cluster stops.',
    view.clusters.flatMap(({ name, quorumMargin }): MetricRow[] =>
      quorumMargin === 'unknown' ? [] : [[{ cluster: name }, quorumMargin]],
    ),
  )
  metric(
    'cluster_nodes_ready',
    'gauge',
    'Nodes of a cluster that are ready.',
    view.clusters.map(({ name, observed }) => [
      { cluster: name },
      observed.nodes.filter(({ kube }) => typeof kube === 'object' && kube.ready === 'yes').length,
    ]),
  )
  metric(
    'check_passed',
    'gauge',
    'Did a health check pass? Unknown counts as no.',
    view.checks.map(({ name, passed }) => [{ check: name }, passed === 'yes' ? 1 : 0]),
  )
  return `${out.join('\n')}\n`
}

type MetricRow = readonly [labels: Readonly<Record<string, string>>, value: number]

function counted(rows: readonly Readonly<Record<string, string>>[]): readonly MetricRow[] {
  const counts = new Map<string, { labels: Readonly<Record<string, string>>; count: number }>()
  for (const labels of rows) {
    const name = JSON.stringify(labels)
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { labels, count: 1 })
    else known.count++
  }
  return [...counts.values()].map(({ labels, count }) => [labels, count] as const)
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
