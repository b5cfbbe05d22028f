import { lastRenewMs } from '../k3s/absence.ts'
import type { ApiCall } from './call.ts'
import { type KubeObject, microStamp, selects, text, tree } from './object.ts'
import { ApiStatus } from './status.ts'
import { all, keyOf } from './store.ts'

/** Which objects a call is about: its namespace, and the selectors in its query. */
export function chosen(call: ApiCall): (object: KubeObject) => boolean {
  const { namespace, query } = call
  const labels = labelSelector(query.get('labelSelector') ?? '')
  const fields = fieldSelector(query.get('fieldSelector') ?? '')
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && labels(object) && fields(object)
}

export function listObjects(call: ApiCall): Record<string, unknown> {
  const { cluster, query, resource } = call
  const wanted = chosen(call)
  const found = all(cluster.store, resource.key)
    .filter(wanted)
    .map((object) => shown(call, object))
    .sort((a, b) =>
      keyOf(a.metadata.namespace, a.metadata.name) < keyOf(b.metadata.namespace, b.metadata.name) ? -1 : 1,
    )
  const from = query.get('continue')
  const start = from === null ? 0 : startOf(from)
  const limit = Number(query.get('limit') ?? 0)
  const page = limit > 0 ? found.slice(start, start + limit) : found.slice(start)
  const left = found.length - start - page.length
  const more =
    left > 0
      ? {
          continue: Buffer.from(JSON.stringify({ start: start + page.length })).toString('base64url'),
          remainingItemCount: left,
        }
      : {}
  return {
    kind: `${resource.kind}List`,
    apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
    metadata: { resourceVersion: `${cluster.store.revision}`, ...more },
    // Members of a list of built-in kinds do not repeat what the list says.
    items: page.map(({ kind, apiVersion, ...rest }) =>
      resource.columns === undefined ? rest : { apiVersion, kind, ...rest },
    ),
  }
}

function startOf(token: string): number {
  try {
    return Number((JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as { start: number }).start)
  } catch {
    throw new ApiStatus(400, 'BadRequest', 'continue key is not valid')
  }
}

/** As it is at this moment: a lease is renewed all the time, without anybody writing it here. */
export function shown(call: Pick<ApiCall, 'cluster' | 'process'>, object: KubeObject): KubeObject {
  if (object.kind !== 'Lease' || object.metadata.namespace !== 'kube-node-lease') return object
  const kubelet = call.cluster.kubelets.get(object.metadata.name)
  if (kubelet?.alive !== true) return object
  const renewTime = microStamp(lastRenewMs(kubelet, call.process.computer.world.clock.now()))
  return { ...object, spec: { ...tree(object.spec), renewTime } }
}

function labelSelector(selector: string): (object: KubeObject) => boolean {
  if (selector === '') return () => true
  const matchExpressions: unknown[] = []
  for (const part of selector.split(/,(?![^(]*\))/)) {
    const set = /^\s*([^\s!=]+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(part)
    const equal = /^\s*([^\s!=]+)\s*(==|=|!=)\s*(\S*)\s*$/.exec(part)
    if (set !== null)
      matchExpressions.push({
        key: set[1],
        operator: set[2] === 'in' ? 'In' : 'NotIn',
        values: (set[3] ?? '').split(',').map((one) => one.trim()),
      })
    else if (equal !== null)
      matchExpressions.push({ key: equal[1], operator: equal[2] === '!=' ? 'NotIn' : 'In', values: [equal[3]] })
    else if (part.trim().startsWith('!')) matchExpressions.push({ key: part.trim().slice(1), operator: 'DoesNotExist' })
    else matchExpressions.push({ key: part.trim(), operator: 'Exists' })
  }
  return (object) => selects({ matchExpressions }, object.metadata.labels)
}

function fieldSelector(selector: string): (object: KubeObject) => boolean {
  if (selector === '') return () => true
  const parts = selector.split(',').map((part) => /^([^!=]+)(==|=|!=)(.*)$/.exec(part))
  return (object) =>
    parts.every((match) => {
      if (match === null) throw new ApiStatus(400, 'BadRequest', 'the field selector could not be read')
      let value: unknown = object
      for (const step of (match[1] ?? '').split('.')) value = tree(value)[step]
      const is = typeof value === 'boolean' ? String(value) : text(value)
      return (is === match[3]) === (match[2] !== '!=')
    })
}
