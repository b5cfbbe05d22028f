import type { KubernetesClient } from '../../../kubernetes/client.ts'
import { at, type Foreign, isRecord, labelsOf, recordOf, textOf } from '../../../kubernetes/objects.ts'
import { defined } from '../../../lib/defined.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { type Connection, clusterName } from '../../../model/estate.ts'
import { type KubeObject, objectId, objectList, RELEASE, type WantedObject } from '../../../model/kube-object.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import type { DriverDeps } from '../../port.ts'
import { type ClusterApi, collectionPath, objectPath } from '../api.ts'
import type { ChartWorkload, ObjectDetails, ReleaseDetails } from '../marks.ts'
import { workloadOf } from '../releases.ts'
import { holdingObjects, type ReleaseObject, releaseDrift } from './drift.ts'
import { RELEASE_UID, releaseMark } from './marks.ts'
import { isLeftPending } from './pending.ts'
import { newestRecords, type ReleaseRecord, readRecord, UNREADABLE_RECORD } from './record.ts'
import { over, secretChanges, withoutSecret } from './values.ts'

/** Parsed manifests by record, cached since they never change. */
export type ManifestsRead = Map<string, readonly KubeObject[]>

/** Reads wanted and marked releases: one list of names, then each newest record, then each kind of their objects. */
export async function readHelmReleases(
  client: KubernetesClient,
  { api, deps, connection, wanted, manifests }: ReadingReleases,
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const path = collectionPath('v1', 'secrets')
  const names = api.answered(await client.list(path, { labelSelector: 'owner=helm', metadataOnly: true }, signal)) ?? []
  const declared = new Map(wanted.map((one) => [objectId(one.object), one]))
  const lists = new Map<string, Promise<readonly Foreign[] | undefined>>()
  const resources: ObservedResource[] = []
  for (const named of newestRecords(names)) {
    const labels = labelsOf(named)
    const place = { name: labels.get('name') ?? '', namespace: textOf(at(named, 'metadata', 'namespace')) ?? '' }
    const id = objectId({ ...RELEASE, metadata: place })
    const one = declared.get(id)
    if (one === undefined && !labels.has(RELEASE_UID)) continue
    const secretName = textOf(at(named, 'metadata', 'name')) ?? ''
    const secret = api.answered(
      await client.get(`${collectionPath('v1', 'secrets', place.namespace)}/${secretName}`, signal),
    )
    if (secret === undefined) continue
    const record = readRecord(secret) ?? UNREADABLE_RECORD
    // On request Helm keeps the record of an uninstalled release: the release itself is gone.
    if (record.status === 'uninstalled') continue
    const uid = textOf(at(secret, 'metadata', 'uid')) ?? ''
    const objects = await objectsOf(record, uid, place.namespace, { deps, manifests })
    const seen = await look(client, objects ?? [], { api, lists }, signal)
    const release: ReleaseDetails = {
      ...record,
      stuck: isPending(record) && isLeftPending(`${uid}/${versionOf(secret)}`, deps.clock),
      ...(await comparedValues(one, record, deps)),
      drift: record.status === 'deployed' ? releaseDrift(seen, record) : [],
      holding: holdingObjects(objects ?? []),
      ...(objects === undefined ? { unread: true } : {}),
      workloads: workloadsIn(seen),
      record: { name: secretName, uid, version: versionOf(secret) },
    }
    resources.push(
      observedRelease(id, place, secret, release, objects, {
        connection,
        undeclared: one === undefined,
        atMs: deps.clock.now(),
      }),
    )
  }
  return resources
}

function versionOf(secret: Foreign): string {
  return textOf(at(secret, 'metadata', 'resourceVersion')) ?? ''
}

export interface ReadingReleases {
  readonly api: ClusterApi
  readonly deps: Pick<DriverDeps, 'clock' | 'resolveSecret' | 'helm'>
  readonly connection: Connection
  readonly wanted: readonly WantedObject[]
  readonly manifests: ManifestsRead
}

function isPending({ status }: ReleaseRecord): boolean {
  return status.startsWith('pending-') || status === 'uninstalling'
}

/** Returns the objects of the manifest in their namespaces; undefined if any of it is unreadable. */
async function objectsOf(
  { manifest }: ReleaseRecord,
  uid: string,
  namespace: string,
  { deps, manifests }: Pick<ReadingReleases, 'deps' | 'manifests'>,
): Promise<readonly KubeObject[] | undefined> {
  const known = manifests.get(uid)
  if (known !== undefined) return known
  const read = await deps.helm?.read(manifest)
  if (read === undefined || 'problem' in read) return undefined
  const objects = read.objects.flatMap((raw) => objectIn(raw, namespace) ?? [])
  if (objects.length < read.objects.length) return undefined
  manifests.set(uid, objects)
  const [oldest] = manifests.keys()
  if (manifests.size > LIMITS.renderingsKept && oldest !== undefined) manifests.delete(oldest)
  return objects
}

/** Returns an object of a manifest, by default in its release's namespace. */
export function objectIn(raw: unknown, namespace: string): KubeObject | undefined {
  if (!isRecord(raw) || typeof raw.apiVersion !== 'string' || typeof raw.kind !== 'string') return undefined
  const metadata = recordOf(raw.metadata)
  if (typeof metadata.name !== 'string') return undefined
  // Only the cluster tells whether its kind is namespaced.
  return { ...raw, metadata: { namespace, ...metadata } } as unknown as KubeObject
}

/** Reads the live objects: one list per kind of those with Helm's label, and single reads for the rest. */
async function look(
  client: KubernetesClient,
  objects: readonly KubeObject[],
  { api, lists }: { readonly api: ClusterApi; readonly lists: Map<string, Promise<readonly Foreign[] | undefined>> },
  signal: AbortSignal,
): Promise<readonly ReleaseObject[]> {
  const seen: ReleaseObject[] = []
  for (const object of objects) {
    const { apiVersion, kind } = object
    const sort = await api.kindOf(client, { apiVersion, kind }, signal)
    const { namespace, ...bare } = object.metadata
    const declared = sort?.namespaced === false ? ({ ...object, metadata: bare } as unknown as KubeObject) : object
    if (sort === undefined) {
      seen.push({ declared, live: undefined })
      continue
    }
    const list = objectList(object)
    if (!lists.has(list))
      lists.set(
        list,
        client.list(collectionPath(apiVersion, sort.plural), OF_HELM, signal).then((one) => api.answered(one)),
      )
    const place = sort.namespaced ? namespace : undefined
    const found = (await lists.get(list))?.find(
      (one) =>
        at(one, 'metadata', 'name') === bare.name &&
        (place === undefined || at(one, 'metadata', 'namespace') === place),
    )
    const live = found ?? api.answered(await client.get(objectPath(declared, sort.plural), signal))
    seen.push({ declared, live: live === undefined ? undefined : { ...live, apiVersion, kind } })
  }
  return seen
}

const OF_HELM = { labelSelector: 'app.kubernetes.io/managed-by=Helm' }
const WORKLOADS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet'])

function workloadsIn(seen: readonly ReleaseObject[]): readonly ChartWorkload[] {
  return seen.flatMap(({ declared, live }) =>
    WORKLOADS.has(declared.kind) && live !== undefined ? [workloadOf(live, 0)] : [],
  )
}

/** Returns the printable values, and the differing secret ones: a secret's content stays inside here. */
async function comparedValues(
  one: WantedObject | undefined,
  { values }: ReleaseRecord,
  { helm, resolveSecret }: Pick<DriverDeps, 'helm' | 'resolveSecret'>,
): Promise<Pick<ReleaseDetails, 'values' | 'secretsDiffer'>> {
  const reference = one?.secrets?.values
  if (one === undefined || reference === undefined) return { values, secretsDiffer: [] }
  const unknown = { values: undefined, secretsDiffer: [] }
  const text = await resolveSecret(reference).catch(() => undefined)
  const read = text === undefined ? undefined : await helm?.read(text.reveal())
  if (read === undefined || 'problem' in read) return unknown
  const [secret = {}] = read.objects
  if (!isRecord(secret)) return unknown
  const declared = recordOf(recordOf(one.object.spec).values)
  return {
    values: over(withoutSecret(values, secret), withoutSecretOf(declared, secret)),
    secretsDiffer: secretChanges(values, over(declared, secret), secret),
  }
}

/** A declared value that the secret overrides is compared there, so it counts as equal here. */
function withoutSecretOf(declared: Foreign, secret: Foreign): Foreign {
  const left: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(declared)) {
    const hidden = Object.hasOwn(secret, name) ? secret[name] : undefined
    if (hidden === undefined) continue
    left[name] = isRecord(hidden) && isRecord(value) ? withoutSecretOf(value, hidden) : value
  }
  return left
}

function observedRelease(
  id: string,
  place: { readonly name: string; readonly namespace: string },
  secret: Foreign,
  release: ReleaseDetails,
  objects: readonly KubeObject[] | undefined,
  {
    connection,
    undeclared,
    atMs,
  }: { readonly connection: Connection; readonly undeclared: boolean; readonly atMs: number },
): ObservedResource {
  const { labels, resourceVersion } = recordOf(secret.metadata)
  const object = { ...RELEASE, metadata: { ...place, labels, resourceVersion } }
  const mark = releaseMark(object, place)
  const config: { readonly look: ObjectDetails } = { look: { object, release } }
  return {
    connection: connection.name,
    host: clusterName(connection),
    list: objectList(RELEASE),
    type: 'object',
    externalId: id,
    name: place.name,
    close: {
      config,
      atMs,
      ...defined({ digest: textOf(resourceVersion) }),
      facts: { ...(mark === undefined ? {} : { owner: 'croft' }), revision: String(release.revision) },
    },
    ...defined({ brings: objects?.map(objectId), mark }),
    ...(undeclared && release.status === 'uninstalling' && !release.stuck ? { lock: 'being uninstalled' } : {}),
  }
}
