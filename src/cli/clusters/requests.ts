import { defined } from '../../lib/defined.ts'
import {
  type ClusterRequests,
  NO_REQUESTS,
  type OperationAt,
  type OperationEffect,
} from '../../model/observed-cluster.ts'
import { activeRequests, type RequestsName, type Store } from '../../store/port.ts'

/** Changes what people have ordered of a cluster; answers what stands now. */
export function changeRequests(
  store: Store,
  cluster: string,
  change: (requests: ClusterRequests) => ClusterRequests,
): Promise<ClusterRequests> {
  return changeStoredRequests(store, `cluster-orders/${cluster}`, NO_REQUESTS, change)
}

/** Without the field: an absent request and one that is undefined are not the same. */
export function withoutRequest<K extends 'hold' | 'rolloutAborted'>(
  requests: ClusterRequests,
  key: K,
): ClusterRequests {
  const { [key]: _, ...rest } = requests
  return rest as ClusterRequests
}

/** With the step that a command is about to do. It stands in the hold of the command; where nobody holds, nobody waits. */
export function withEffect(requests: ClusterRequests, effect: OperationEffect | undefined): ClusterRequests {
  if (requests.hold === undefined) return requests
  const { effect: _before, ...hold } = requests.hold
  return { ...requests, hold: { ...hold, ...defined({ effect }) } }
}

/** With how far the command is that holds the cluster. */
export function withProgress(requests: ClusterRequests, operation: OperationAt): ClusterRequests {
  return requests.hold === undefined ? requests : { ...requests, hold: { ...requests.hold, operation } }
}

/**
 * Changes what people have ordered under a name, and answers what stands now. Whoever is at work on the same database
 * sees it with its next look.
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
