import { defined } from '../../lib/defined.ts'
import { shownHash } from '../../model/consent.ts'
import { rowStatus } from '../../model/estate-status.ts'
import type { ClusterView, EstateView, ResourceView } from '../../model/estate-view.ts'
import type { ObservedNode } from '../../model/observed-cluster.ts'
import { asBoxes } from '../../model/one-box.ts'
import type { Action, Doing } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { savedOfCoordinator, shownCall, toldStep } from '../../model/shown-step.ts'
import type { Step } from '../../model/step.ts'
import type {
  ActionOnPage,
  ClusterOnPage,
  ExcerptOnPage,
  Page,
  PlanEntryOnPage,
  ResourceDetail,
  Row,
} from './schemas.ts'

/** The controller's view as the page and the API show it. Pure: names what is shown and leaves out the rest. */
export function projectPage(view: EstateView, more: { cursor: string; ready: boolean }, rowOf = rowMaker(view)): Page {
  return {
    version: view.version,
    atMs: view.atMs,
    ...more,
    sources: view.sources.map(withoutPlanText),
    problems: view.problems.map(({ origin, excerpt: _, ...rest }) => ({ ...rest, ...placeOf(origin) })),
    connections: view.connections,
    hosts: asBoxes(view),
    rows: view.resources.map(rowOf),
    clusters: view.clusters.map(projectCluster),
    ...defined({ power: view.power }),
    drifts: view.drifts,
    checks: view.checks,
    ...defined({ pass: view.pass }),
  }
}

/** Returns the manifest lines at problems. They hold comments and other private text. */
export function projectExcerpts({ problems }: Pick<EstateView, 'problems'>): readonly ExcerptOnPage[] {
  return problems.flatMap(({ origin, excerpt }) =>
    excerpt === undefined || excerpt === '' ? [] : [{ ...placeOf(origin), excerpt }],
  )
}

function placeOf({ file, line, column }: EstateView['problems'][number]['origin']) {
  return { file, line, column }
}

/** Leaves out the waiting plan's text: it may be long, and the page is sent often. It has a separate route. */
function withoutPlanText(source: EstateView['sources'][number]): Page['sources'][number] {
  if (source.waiting === undefined) return source
  const { text: _, rows: _rows, ...waiting } = source.waiting
  return { ...source, waiting }
}

/** Makes rows; which resources have drifted is looked up once for all of them. */
export function rowMaker(view: EstateView): (resource: ResourceView) => Row {
  const drifted = new Set(view.drifts.filter(({ policy }) => policy !== 'ignore').map(({ key }) => key))
  return (resource) => projectRow(resource, drifted.has(resource.key))
}

function projectRow(resource: ResourceView, drifted: boolean): Row {
  const { key, kind, name, connection, status, action } = resource
  const synced = resource.conditions.find(({ type }) => type === 'Synced')
  const { next: _, ...row } = rowStatus(resource)
  const next = nextOf(action)?.do
  const address = resource.addresses?.[0]
  return {
    ...row,
    key,
    kind,
    name,
    connection,
    status,
    synced: synced?.status ?? 'Unknown',
    do: action.do,
    drifted,
    ...defined({ next }),
    ...('guard' in action ? { guard: action.guard } : {}),
    ...defined({
      host: resource.host,
      externalId: resource.externalId,
      cluster: resource.cluster,
      power: resource.power,
      address,
    }),
  }
}

export function projectResource(view: EstateView, resource: ResourceView): ResourceDetail {
  return {
    ...rowMaker(view)(resource),
    addresses: resource.addresses ?? [],
    conditions: resource.conditions,
    action: projectAction(resource.action),
    observed: resource.observed ?? {},
    command: `croft describe ${resource.key.replace('/', ' ')}`,
    ...defined({ origin: resource.origin }),
  }
}

/** Everything that is not settled, in the order of the plan. */
export function projectPlan(view: EstateView): readonly PlanEntryOnPage[] {
  return view.resources
    .filter(({ action }) => action.do !== 'nothing')
    .map(({ key, connection, host, externalId, origin, action }) => ({
      key,
      connection,
      action: projectAction(action),
      ...defined({ host, externalId, origin }),
    }))
}

export function projectAction(action: Action): ActionOnPage {
  const doing = nextOf(action) ?? ('steps' in action ? action : undefined)
  const next = nextOf(action)?.do
  const externalId = doing?.externalId ?? ('externalId' in action ? action.externalId : undefined)
  return {
    do: action.do,
    changes: (doing !== undefined && 'changes' in doing ? doing.changes : []).map(projectChange),
    steps: (doing?.steps ?? []).map(projectStep),
    ...defined({ next, externalId }),
    ...('reason' in action ? { reason: action.reason } : {}),
    ...('message' in action ? { message: action.message } : {}),
    ...('guard' in action ? { guard: action.guard } : {}),
    ...('allow' in action ? { allow: action.allow } : {}),
    ...(action.do === 'hold' && action.shows !== undefined
      ? { shows: action.shows.map(asText), shown: shownHash(action.guard, action.shows) }
      : {}),
  }
}

/** Returns the held action, or the one after a wait. */
function nextOf(action: Action): Doing | undefined {
  if (action.do === 'hold') return action.held
  return action.do === 'wait' ? action.next : undefined
}

function projectChange(change: Change): ActionOnPage['changes'][number] {
  const secret = change.secret === true
  return {
    path: change.path,
    from: secret ? '***' : asText(change.from),
    to: secret ? '*** (changed)' : asText(change.to),
    effect: change.effect,
    secret,
    ...defined({ blocked: change.blocked }),
  }
}

function projectStep(step: Step) {
  const { verb, host, disruption } = step
  const { via, method, path, secretParams, ...call } = shownCall(step)
  const hidden = new Set(secretParams)
  const params = Object.fromEntries(
    Object.entries(call.params).map(([name, value]) => [name, hidden.has(name) ? '***' : value]),
  )
  return { verb, summary: toldStep(step), lane: via, host, method, path, params, disruption }
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function projectCluster(view: ClusterView): ClusterOnPage {
  const { decision, observed } = view
  const phases = new Map(decision.nodes.map((node) => [node.name, node]))
  return {
    key: view.key,
    name: view.name,
    version: view.version,
    endpoint: view.endpoint,
    quorumMargin: view.quorumMargin,
    ...defined({ unseenSinceMs: view.unseenSinceMs, operation: view.operation }),
    phase: decision.phase,
    api: observed.api,
    faultTolerance: decision.faultTolerance,
    hops: decision.hops,
    warnings: decision.warnings,
    rolloutPaused: observed.requests.rolloutPaused,
    steps: decision.steps.map((step) => savedOfCoordinator(step)),
    waits: decision.waits,
    holds: decision.holds,
    refusals: decision.refusals,
    nodes: observed.nodes.map((node) => projectNode(node, phases.get(node.name))),
    members:
      observed.members === 'unknown'
        ? 'unknown'
        : observed.members.map((member) => ({ ...member, leader: member.leader === true })),
    snapshots:
      observed.snapshots === 'unknown'
        ? 'unknown'
        : observed.snapshots.map(({ name, atMs, tokenKept, bytes }) => ({
            name,
            atMs,
            usable: tokenKept,
            ...defined({ bytes }),
          })),
    checks: observed.checks,
  }
}

function projectNode(
  node: ObservedNode,
  decided: { readonly phase: string; readonly message: string } | undefined,
): ClusterOnPage['nodes'][number] {
  const kube = typeof node.kube === 'string' ? undefined : node.kube
  const version = kube?.version ?? (typeof node.k3s === 'string' ? undefined : node.k3s.version)
  return {
    name: node.name,
    role: node.role,
    phase: decided?.phase ?? 'Unknown',
    message: decided?.message ?? '',
    power: node.machine.power,
    ready: kube?.ready ?? (node.kube === 'absent' ? 'no' : 'unknown'),
    unschedulable: kube?.unschedulable === true,
    addresses: kube?.internalIps ?? [],
    ...defined({ version, readySinceMs: kube?.readySinceMs, work: kube?.work }),
    ...(typeof kube?.podsToMove === 'number' ? { podsToMove: kube.podsToMove } : {}),
    ...(kube?.drainBlockedBy === undefined ? {} : { drainBlockedBy: kube.drainBlockedBy }),
  }
}
