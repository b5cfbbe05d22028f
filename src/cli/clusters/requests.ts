import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import {
  type ClusterRequests,
  isUnderWay,
  NO_REQUESTS,
  type OperationAt,
  type OperationEffect,
} from '../../model/observed-cluster.ts'
import { activeRequests, type RequestsName, type Store } from '../../store/port.ts'

/** Changes the stored requests about a cluster; returns the new ones. */
export function changeRequests(
  store: Store,
  cluster: string,
  change: (requests: ClusterRequests) => ClusterRequests,
): Promise<ClusterRequests> {
  return changeStoredRequests(store, `cluster-orders/${cluster}`, NO_REQUESTS, change)
}

/** Removes the field: an absent request and an undefined one differ. */
export function withoutRequest<K extends 'hold' | 'rolloutAborted'>(
  requests: ClusterRequests,
  key: K,
): ClusterRequests {
  const { [key]: _, ...rest } = requests
  return rest as ClusterRequests
}

/** Sets the step that a command is about to do. It is kept in the command's hold, so it needs one. */
export function withEffect(requests: ClusterRequests, effect: OperationEffect | undefined): ClusterRequests {
  if (requests.hold === undefined) return requests
  const { effect: _before, ...hold } = requests.hold
  return { ...requests, hold: { ...hold, ...defined({ effect }) } }
}

/** Sets the progress of the command that holds the cluster, with its finished steps. */
export function withProgress(requests: ClusterRequests, operation: OperationAt): ClusterRequests {
  if (requests.hold === undefined) return requests
  const { hold } = requests
  return { ...requests, hold: { ...hold, operation: { ...operation, ...behind(hold.operation, operation) } } }
}

/** An interrupted operation that is run again starts from the beginning. */
function behind(last: OperationAt | undefined, { name, sinceMs }: OperationAt): Pick<OperationAt, 'before'> {
  if (last?.name !== name || !isUnderWay(last, sinceMs)) return {}
  const { name: _, before = [], ...step } = last
  return { before: [...before, step].slice(-LIMITS.operationTrail) }
}

/**
 * Changes the stored requests of a name and returns them. A process that works on the same database sees the change at
 * its next look.
 */
export async function changeStoredRequests<Requests extends object>(
  store: Store,
  name: RequestsName,
  none: Requests,
  change: (requests: Requests) => Requests,
): Promise<Requests> {
  const after = change(await activeRequests(store, name, none))
  await store.putRequests(name, JSON.stringify(after))
  return after
}
