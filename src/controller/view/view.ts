import type { PassReport } from '../../engine/engine.ts'
import { FAILED } from '../../lib/failed-on.ts'
import { eachInSteps, type Steps } from '../../lib/in-turns.ts'
import type { Problem } from '../../model/declaration.ts'
import type { Connection, Estate } from '../../model/estate.ts'
import type {
  CheckView,
  ClusterView,
  CommitView,
  ConnectionView,
  DriftView,
  EstateView,
  HostView,
  ResourceView,
  SourceView,
} from '../../model/estate-view.ts'
import { maskChange } from '../../model/masked/masked-change.ts'
import { maskTold, maskTree } from '../../model/masked/masked-tree.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import type { ClusterPlan, ObservedCluster } from '../../model/observed-cluster.ts'
import type { Action, PlanEntry } from '../../model/plan.ts'
import type { Condition, ResourceRecord } from '../../model/record.ts'
import type { Change, ObservedResource } from '../../model/resource.ts'
import type { SshTarget } from '../../model/secret.ts'
import { disruptionOf } from '../../plan/disruption.ts'
import { clean } from './drifts.ts'
import { powerViewOf } from './power-view.ts'

/** Everything that a view is made of. */
export interface ViewParts {
  readonly sources: readonly SourceView[]
  /** Problems of revisions that are not followed. */
  readonly kept?: readonly Problem[]
  readonly estate?: Estate
  readonly report?: PassReport & { readonly clusters?: readonly ClusterPlan[] }
  readonly drifts: readonly DriftView[]
  readonly checks: readonly CheckView[]
  readonly commits?: readonly CommitView[]
  readonly pass?: EstateView['pass']
  /** The time from which schedules return their next events. */
  readonly nowMs?: number
}

/** Returns the view without version and time. Pure; without secrets and control characters. */
export function* viewOf(shown: ViewParts): Steps<Omit<EstateView, 'version' | 'atMs'>> {
  const { estate, report } = shown
  const looks = report?.clusters ?? report?.plan.clusters ?? []
  return {
    sources: shown.sources,
    problems: [...(shown.kept ?? []), ...(estate?.problems ?? []), ...failuresIn(report)].map(maskProblem),
    connections: estate === undefined ? [] : connectionsOf(estate, report),
    hosts: hostsOf(report),
    resources: estate === undefined || report === undefined ? [] : yield* resourcesOf(estate, report, looks),
    clusters: looks.map((look) => clusterOf(look, report?.records ?? [])),
    ...powerOf(report, shown.nowMs ?? 0),
    drifts: shown.drifts,
    ...(report === undefined ? {} : { disruption: disruptionOf(report.plan) }),
    checks: shown.checks,
    ...(shown.commits === undefined || shown.commits.length === 0 ? {} : { commits: shown.commits }),
    ...(shown.pass === undefined ? {} : { pass: shown.pass }),
  }
}

/** Returns failures of the last pass. All other problems are in the estate. */
function failuresIn(report: PassReport | undefined): readonly Problem[] {
  return report?.plan.problems.filter(({ code }) => code === FAILED) ?? []
}

function powerOf(report: PassReport | undefined, nowMs: number): Pick<EstateView, 'power'> {
  const looks = report?.powers ?? []
  return looks.length === 0 ? {} : { power: looks.map((look) => powerViewOf(look, nowMs)) }
}

function connectionsOf(estate: Estate, report: PassReport | undefined): readonly ConnectionView[] {
  return estate.connections.map((connection) => {
    const { name, driver, endpoint } = connection
    const about = { name, driver, endpoint, ...computersOf(connection) }
    const note = report?.plan.notes.find((one) => one.connection === name)
    if (note === undefined) return { ...about, state: 'ok' }
    return { ...about, state: note.code, message: clean(maskMessage(note.message)), allow: clean(note.allow) }
  })
}

/** An address behind another jump host is another computer. */
function computerAt({ local, address, port, jump }: SshTarget): string {
  if (local === true) return 'local'
  const there = `${address.includes(':') ? `[${address}]` : address}:${port}`
  return jump === undefined ? there : `${there} by ${computerAt(jump)}`
}

function computersOf({ ssh, hosts }: Connection): Pick<ConnectionView, 'computers'> {
  const targets = [...Object.entries(hosts ?? {}), ...(ssh === undefined ? [] : [['', ssh] as const])]
  if (targets.length === 0) return {}
  return { computers: Object.fromEntries(targets.map(([name, target]) => [name, computerAt(target)])) }
}

function hostsOf(report: PassReport | undefined): readonly HostView[] {
  return (report?.surveys ?? []).flatMap((survey) =>
    survey.hosts.map((host) => ({ ...host, name: clean(host.name), connection: survey.connection })),
  )
}

function* resourcesOf(
  estate: Estate,
  report: PassReport,
  looks: readonly ClusterPlan[],
): Steps<readonly ResourceView[]> {
  const declared = new Map(estate.resources.map((resource) => [resource.key, resource]))
  const records = new Map(report.records.map((record) => [record.key, record]))
  const observedById = new Map<string, ObservedResource>()
  for (const survey of report.surveys ?? []) {
    for (const observed of survey.resources) observedById.set(`${survey.connection}/${observed.externalId}`, observed)
  }
  const clusterOfNode = new Map<string, string>()
  for (const { declaration, observed } of looks) {
    for (const node of observed.nodes) clusterOfNode.set(node.name, declaration.name)
  }
  return yield* eachInSteps(report.plan.entries, (entry) => {
    const resource = declared.get(entry.key)
    const record = records.get(entry.key)
    const externalId = record?.externalId ?? entry.externalId
    const observed = externalId === undefined ? undefined : observedById.get(`${entry.connection}/${externalId}`)
    const name = resource?.name ?? entry.key.slice(entry.key.lastIndexOf('/') + 1)
    const cluster = clusterOfNode.get(name)
    // Late instances are only in the plan, not in a revision.
    const origin = resource?.origin ?? entry.origin
    const host = observed?.host ?? record?.host ?? entry.host
    return {
      key: entry.key,
      kind: resource?.kind ?? entry.key.slice(0, entry.key.indexOf('/')),
      name,
      connection: entry.connection,
      ...(host === undefined ? {} : { host: clean(host) }),
      ...(externalId === undefined ? {} : { externalId: clean(externalId) }),
      ...(cluster === undefined ? {} : { cluster }),
      status: record?.status ?? 'Pending',
      conditions: (record?.conditions ?? []).map(maskCondition),
      action: shownAction(entry),
      ...(observed?.power === undefined ? {} : { power: observed.power }),
      ...addressesOf(record),
      ...(origin === undefined ? {} : { origin: placeOf(origin) }),
      paused: resource?.policy.paused ?? record?.policy.paused ?? false,
    }
  })
}

function placeOf({ file, line, commit }: Estate['resources'][number]['origin']): NonNullable<ResourceView['origin']> {
  return { file, line, ...(commit === undefined ? {} : { commit }) }
}

function addressesOf(record: ResourceRecord | undefined): { readonly addresses?: readonly string[] } {
  const text = record?.details?.addresses
  return text === undefined || text === '' ? {} : { addresses: clean(text).split(',') }
}

function maskProblem(problem: Problem): Problem {
  const message = maskMessage(problem.message)
  return message === problem.message ? problem : { ...problem, message }
}

function maskCondition(condition: Condition): Condition {
  const message = maskMessage(condition.message)
  return message === condition.message ? condition : { ...condition, message }
}

/** Steps go out without what is secret in them: values of secret fields, and what a step carries sealed. */
function shownAction({ action }: PlanEntry): Action {
  return maskTree(JSON.parse(JSON.stringify(action), hideSecret), '', maskTold) as Action
}

function hideSecret(this: unknown, _key: string, value: unknown): unknown {
  if (typeof value === 'string') return clean(value)
  if (value === null || typeof value !== 'object') return value
  if ('secret' in value && value.secret === true && 'path' in value) return { ...value, from: '***', to: '***' }
  if ('path' in value && 'effect' in value) return maskChange(value as Change)
  if ('hidden' in value && value.hidden === true && 'body' in value) return { ...value, body: '***' }
  if (!('secretParams' in value) || !Array.isArray(value.secretParams) || !('call' in value)) return value
  const call = value.call as { readonly params: Readonly<Record<string, string>> }
  const params = Object.fromEntries(
    Object.entries(call.params).map(([name, text]) => [
      name,
      (value.secretParams as unknown[]).includes(name) ? '***' : text,
    ]),
  )
  return { ...value, call: { ...call, params } }
}

function clusterOf({ declaration, observed, decision }: ClusterPlan, records: readonly ResourceRecord[]): ClusterView {
  const ready = records
    .find(({ key }) => key === declaration.key)
    ?.conditions.find(({ type, status }) => type === 'Ready' && status === 'Unknown')
  const unseen = decision.phase === 'Unknown' && observed.identity?.formed === true ? ready?.sinceMs : undefined
  return {
    key: declaration.key,
    name: declaration.name,
    version: declaration.spec.version,
    endpoint: endpointOf(declaration.spec),
    decision,
    observed,
    quorumMargin: quorumMargin(observed),
    ...(unseen === undefined ? {} : { unseenSinceMs: unseen }),
    ...operationOf(observed, decision),
  }
}

/** Whether it continues is in the phase, judged at the time of the pass. */
function operationOf(
  { requests }: ObservedCluster,
  { phase }: ClusterPlan['decision'],
): Pick<ClusterView, 'operation'> {
  const operation = requests.hold?.operation
  if (operation === undefined) return {}
  const { name, summary, sinceMs } = operation
  return { operation: { name: clean(name), step: clean(summary), sinceMs, stopped: phase !== 'Changing' } }
}

function endpointOf(spec: ClusterPlan['declaration']['spec']): string {
  const { endpoint } = spec as { readonly endpoint?: unknown }
  if (typeof endpoint === 'string') return endpoint
  if (endpoint === null || typeof endpoint !== 'object') return ''
  return Object.values(endpoint).find((value): value is string => typeof value === 'string') ?? ''
}

/** Returns how many voters etcd can still lose. A voter in an unknown state counts as lost. */
export function quorumMargin({ members }: Pick<ObservedCluster, 'members'>): number | 'unknown' {
  if (members === 'unknown') return 'unknown'
  const voters = members.filter((member) => !member.learner)
  if (voters.length === 0) return 'unknown'
  const up = voters.filter((member) => member.up === 'yes').length
  return up - (Math.floor(voters.length / 2) + 1)
}
