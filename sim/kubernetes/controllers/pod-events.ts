import { createHash } from 'node:crypto'
import type { EtcdCluster, World } from '../../world/types.ts'
import { type KubeObject, stamp } from '../object.ts'
import { all, find, put, remove } from '../store.ts'

/** An API server keeps events for an hour. */
const KEPT_MS = 3_600_000

/** What scheduler and kubelet say of a pod. The same said again is counted, as their recorders count it. */
export function tellOfPod(
  world: World,
  cluster: EtcdCluster,
  pod: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  const { store } = cluster
  const { name, namespace = 'default', uid = '' } = pod.metadata
  const nowMs = world.clock.now()
  const now = stamp(nowMs)
  // Derived and not drawn: what chance gives to everything else stays as it is.
  const print = createHash('sha256').update(`${uid} ${reason} ${message}`).digest('hex')
  const own = `${name}.${print.slice(0, 16)}`
  for (const old of all(store, '/events'))
    if (nowMs - Date.parse(String(old.lastTimestamp)) > KEPT_MS)
      remove(store, '/events', old.metadata.namespace, old.metadata.name)
  const before = find(store, '/events', namespace, own)
  put(store, '/events', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: own,
      namespace,
      uid: `${print.slice(0, 8)}-${print.slice(8, 12)}-4${print.slice(13, 16)}-8${print.slice(17, 20)}-${print.slice(20, 32)}`,
      creationTimestamp: before?.metadata.creationTimestamp ?? now,
    },
    involvedObject: { kind: 'Pod', namespace, name, uid, apiVersion: 'v1' },
    reason,
    message,
    source: { component: /Schedul/.test(reason) ? 'default-scheduler' : 'kubelet' },
    firstTimestamp: before?.firstTimestamp ?? now,
    lastTimestamp: now,
    count: Number(before?.count ?? 0) + 1,
    type,
    eventTime: null,
    reportingComponent: /Schedul/.test(reason) ? 'default-scheduler' : 'kubelet',
    reportingInstance: '',
  })
}
