import { tokenHash } from '../../k3s/token.ts'
import type { KubernetesClient } from '../../kubernetes/client.ts'
import { annotationsOf, at, type Foreign, nameOf, objectName, recordsOf, timeOf } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type ClusterSecrets, passwordsOf } from '../../model/cluster.ts'
import type { ClusterSnapshot, YesNoUnknown } from '../../model/observed-cluster.ts'
import { optional } from './read-node.ts'

const PASSWORD = '.node-password.k3s'

/** Returns nodes with a password in the cluster; undefined if unreadable. Reads only names. */
export async function passwordsIn(
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const asked = await client.list('/api/v1/namespaces/kube-system/secrets', { metadataOnly: true }, signal)
  if (asked.is !== 'answer') return undefined
  const names = asked.value.flatMap((secret) => objectName(secret) ?? [])
  return new Set(names.filter((name) => name.endsWith(PASSWORD)).map((name) => name.slice(0, -PASSWORD.length)))
}

/** Returns the pods that a drain must move, by node; undefined if unreadable. One call for all nodes. */
export async function podsToMove(
  client: KubernetesClient,
  nodes: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Foreign[]> | undefined> {
  const [only] = nodes
  if (only === undefined) return new Map()
  const asked = await client.list(
    '/api/v1/pods',
    nodes.length === 1 ? { fieldSelector: `spec.nodeName=${only}` } : {},
    signal,
  )
  if (asked.is !== 'answer') return undefined
  const pods = new Map<string, Foreign[]>(nodes.map((node) => [node, []]))
  for (const pod of asked.value) {
    const node = nameOf(at(pod, 'spec', 'nodeName'))
    if (node !== undefined && mustMove(pod)) pods.get(node)?.push(pod)
  }
  return pods
}

/** Reports whether a drain moves the pod: not if it is finished, static, or of a DaemonSet, which would restart it. */
export function mustMove(pod: Foreign): boolean {
  const phase = at(pod, 'status', 'phase')
  if (phase === 'Succeeded' || phase === 'Failed') return false
  if (annotationsOf(pod).has('kubernetes.io/config.mirror')) return false
  return !recordsOf(at(pod, 'metadata', 'ownerReferences')).some(
    ({ kind, controller }) => kind === 'DaemonSet' && controller === true,
  )
}

/** Returns K3s's list of snapshots, with whether each one's token is known. */
export async function snapshotsIn(
  client: KubernetesClient,
  secrets: ClusterSecrets,
  signal: AbortSignal,
): Promise<readonly ClusterSnapshot[] | 'unknown'> {
  const asked = await client.list('/apis/k3s.cattle.io/v1/etcdsnapshotfiles', {}, signal)
  // A new cluster does not know the kind for some seconds, and has none.
  if (asked.is === 'error' && asked.status === 404) return []
  if (asked.is !== 'answer') return 'unknown'
  return asked.value.flatMap((file): readonly ClusterSnapshot[] => {
    const name = nameOf(at(file, 'spec', 'snapshotName')) ?? objectName(file)
    const atMs = timeOf(at(file, 'status', 'creationTime')) ?? timeOf(at(file, 'metadata', 'creationTimestamp'))
    if (name === undefined || atMs === undefined || at(file, 'status', 'readyToUse') === false) return []
    const hash = nameOf(annotationsOf(file).get('etcd.k3s.cattle.io/snapshot-token-hash'))
    const bytes = Number(at(file, 'status', 'size'))
    return [
      {
        name,
        atMs,
        tokenKept: tokenKept(hash, secrets),
        ...optional('tokenHash', hash),
        ...optional('location', nameOf(at(file, 'spec', 'location'))),
        ...optional('node', nameOf(at(file, 'spec', 'nodeName'))),
        ...optional('bytes', Number.isFinite(bytes) && bytes >= 0 ? bytes : undefined),
      },
    ]
  })
}

/** Reports whether the record holds the password of a snapshot, without which it can never be restored. */
export function tokenKept(hash: string | undefined, secrets: ClusterSecrets): YesNoUnknown {
  if (hash === undefined) return 'unknown'
  return passwordsOf(secrets).some((secret) => tokenHash(secret.reveal()) === hash) ? 'yes' : 'no'
}

export function isFresh(readMs: number, nowMs: number): boolean {
  return nowMs - readMs < LIMITS.snapshotListMs
}
