import { FAILED } from '../../lib/failed-on.ts'
import { rowStatus } from '../../model/estate-status.ts'
import type { ClusterView, EstateView, SourceView } from '../../model/estate-view.ts'
import { asBoxes } from '../../model/one-box.ts'
import type { Trouble } from '../../model/trouble.ts'

/** The view, and the declared HealthChecks. */
export interface TroubleFacts {
  readonly view: EstateView
  readonly checks: ReadonlySet<string>
}

/**
 * Reports whether a trouble that is not listed is over. Only a look that shows the opposite proves it: a trouble whose
 * object was not seen, or not since croft started, may still be there. Pure.
 */
export function isOver(trouble: Pick<Trouble, 'id' | 'sort' | 'about'>, { view, checks }: TroubleFacts): boolean {
  const { id, sort, about } = trouble
  if (view.pass === undefined || view.problems.some(isOfCroft)) return false
  switch (sort) {
    case 'source':
      return isSourceWell(view, about)
    case 'approval':
      return about.includes('/') ? isResourceOver(id, about, view) : isSourceWell(view, about)
    case 'manifest':
      return view.sources.every(isRead)
    case 'connection': {
      const connection = view.connections.find(({ name }) => name === about)
      return connection === undefined ? isWhole(view) : connection.state === 'ok'
    }
    case 'host': {
      const host = asBoxes(view).find(({ name }) => name === about)
      if (host === undefined) return isWhole(view) && view.connections.every(({ state }) => state === 'ok')
      return host.online && (!id.startsWith('hot/') || host.temperatureC !== undefined)
    }
    case 'check':
      return checks.has(about)
        ? view.checks.some(({ name, passed }) => name === about && passed === 'yes')
        : isWhole(view)
    case 'cluster': {
      const cluster = view.clusters.find(({ name }) => name === about)
      return cluster === undefined ? isWhole(view) : isClusterOver(id, cluster)
    }
    case 'power':
      return view.power?.some(({ name }) => name === about) === true || isWhole(view)
    case 'ups': {
      const power = view.power?.find(({ name }) => name === about)
      return power?.ups === undefined ? isWhole(view) : power.ups.state === 'mains'
    }
    case 'resource':
    case 'drift':
      return isResourceOver(id, about, view)
  }
}

/** Reports whether a part of croft itself failed: then its facts are stale. */
function isOfCroft({ code, origin }: EstateView['problems'][number]): boolean {
  return code === FAILED && origin.file.startsWith('croft, ')
}

function isRead({ commit, trouble }: SourceView): boolean {
  return commit !== undefined && trouble === undefined
}

function isSourceWell({ sources }: EstateView, about: string): boolean {
  const source = sources.find(({ name }) => name === about)
  return source === undefined || isRead(source)
}

/** Reports whether everything declared was read, so that an object that is not listed is not declared. */
export function isWhole({ sources, problems }: Pick<EstateView, 'sources' | 'problems'>): boolean {
  return sources.every(isRead) && !problems.some(({ severity }) => severity === 'error')
}

const UNWELL_PHASES: ReadonlySet<string> = new Set(['Unknown', 'Degraded', 'Blocked', 'QuorumLost', 'Off'])
const UNWELL_NODES: ReadonlySet<string> = new Set(['Unknown', 'NotReady', 'Flapping'])

function isClusterOver(id: string, { name, decision, observed, operation }: ClusterView): boolean {
  // Requests are croft's own: they are known without the cluster's API.
  if (id === `operation/${name}`) return operation === undefined
  if (id === `operation-stopped/${name}`) return operation?.stopped !== true
  if (observed.api !== 'yes' || decision.phase === 'Unknown') return false
  // One trouble covers several causes, and objections replace it in the list.
  if (id !== `cluster/${name}`) return true
  return !UNWELL_PHASES.has(decision.phase) && !decision.nodes.some(({ phase }) => UNWELL_NODES.has(phase))
}

/** Reports whether a resource's trouble is over. It shows only its worst one, so each ends by its own opposite. */
function isResourceOver(id: string, key: string, view: EstateView): boolean {
  const resource = view.resources.find((one) => one.key === key)
  if (resource === undefined) return isWhole(view)
  const connection = view.connections.find(({ name }) => name === resource.connection)
  if (resource.conditions.length === 0 || (connection !== undefined && connection.state !== 'ok')) return false
  const row = rowStatus(resource)
  switch (id.slice(0, id.indexOf('/'))) {
    case 'stalled':
      return !row.stalled
    case 'ready':
      return row.ready === 'True'
    case 'approval':
      return row.do !== 'wait' && row.do !== 'hold'
    case 'refused':
    case 'drift':
      return row.do !== 'wait' && row.do !== 'refuse'
    default:
      return false
  }
}
