import { at, type Foreign, recordOf, textOf } from '../../kubernetes/objects.ts'
import type { Change } from '../../model/change.ts'
import { builtInKind, likelyKind } from '../../model/kube-kinds.ts'
import { type KubeObject, objectId, objectList, type WantedObject } from '../../model/kube-object.ts'
import type { Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import { fieldChanges } from './diff.ts'
import { MANAGER } from './fields.ts'
import { handoverStep } from './handover.ts'
import { lookOf, wantedOf } from './look.ts'
import { appliedHash, marked, markOf, type ObjectMark, onlyMark } from './marks.ts'
import { objectPath } from './paths.ts'
import { objectReadiness } from './readiness.ts'

/** Tells K3s' Helm controller to leave a chart alone. */
const UNMANAGED = 'helmcharts.helm.cattle.io/unmanaged'

/** Objects of a cluster: compared field by field, applied by the server, found again by their label. */
export const rules: Rules = {
  declaredId: (resource) => objectId(wantedOf(resource).object),
  listOf: (resource) => objectList(wantedOf(resource).object),
  hostOf: (resource) => wantedOf(resource).cluster,
  choosesId: () => false,
  awaits(resource, survey) {
    const { object } = wantedOf(resource)
    const { served } = survey
    if (served === undefined || builtInKind(object) !== undefined || served.includes(objectList(object))) return []
    return [`the cluster to know ${object.kind} (${object.apiVersion})`]
  },
  obstacles: () => [],
  diff(resource, sighting) {
    const wanted = wantedOf(resource)
    const look = lookOf(sighting)
    const mark = markOf(look.object)
    if (mark === undefined) return foreign(resource, wanted, look.object)
    const step = handoverStep(wanted, look)
    switch (step.do) {
      case 'watch':
      case 'await':
        return []
      case 'release':
        return [{ path: 'owner', from: 'croft', to: wanted.handover?.to, effect: 'live' }]
      case 'take-back':
        return [{ path: 'owner', from: mark.keptBy?.split(' ')[0], to: 'croft', effect: 'live' }]
      case 'keep':
        return [
          ...markChanges(resource, wanted, mark),
          ...fieldChanges(wanted.object, look.object, mark.applied === appliedHash(wanted)),
          ...secretChanges(look.secretsDiffer ?? []),
        ]
    }
  },
  createSteps: (resource) => [applyStep('create', resource, wantedOf(resource), 'apply')],
  updateSteps(resource, _sighting, changes) {
    const wanted = wantedOf(resource)
    if (changes.length === 0) return []
    const owner = changes.find(({ path }) => path === 'owner')
    if (owner === undefined) return [applyStep('configure', resource, wanted, 'apply')]
    if (owner.to !== 'croft') return [releaseStep(resource, wanted)]
    const taken = applyStep('configure', resource, { ...wanted, force: true }, 'take back')
    return [{ ...taken, learns: { done: { owner: 'croft' } } }]
  },
  adoptSteps: () => [],
  undeletable(sighting) {
    const { keptBy } = markOf(lookOf(sighting).object) ?? {}
    if (keptBy === undefined) return undefined
    return { message: `${sighting.externalId} is kept by ${keptBy}`, allow: 'take it out there, or take it back first' }
  },
  deleteSteps: (sighting) => deletion(sighting),
  readiness(resource, sighting) {
    const wanted = wantedOf(resource)
    const look = lookOf(sighting)
    const step = markOf(look.object) === undefined ? undefined : handoverStep(wanted, look)
    if (step?.do === 'await') return { ready: false, reason: 'TakingBack', message: step.message, status: 'TakingBack' }
    const found = objectReadiness(look, wanted.ready)
    return step?.do === 'watch' && found.ready
      ? { ...found, status: 'HandedOver', message: `owner: ${wanted.handover?.to}` }
      : found
  },
  notes(resource, sighting) {
    const wanted = wantedOf(resource)
    const look = lookOf(sighting)
    const mark = markOf(look.object)
    if (mark === undefined)
      return wanted.object.kind === 'Namespace' ? ['it was there before and stays when this goes'] : []
    const step = handoverStep(wanted, look)
    if (step.do === 'watch') return [`owner: ${wanted.handover?.to}; croft only looks`]
    return 'message' in step && step.message !== undefined ? [step.message] : []
  },
}

/** An object that is there and does not carry our mark. */
function foreign(resource: Resource, wanted: WantedObject, live: Foreign): readonly Change[] {
  // A namespace is a place: whoever made it, it serves.
  if (wanted.object.kind === 'Namespace' && wanted.adopt !== true) return []
  const mark: Change = { path: 'mark', from: 'nobody', to: resource.key, effect: 'live' }
  if (wanted.adopt === true) return [mark, ...fieldChanges(wanted.object, live, false)]
  const message = `${objectId(wanted.object)} is there already and was not made by croft`
  return [{ ...mark, blocked: { message, allow: `set adopt: true in Addon ${wanted.addon}, or choose another name` } }]
}

function markChanges(resource: Resource, wanted: WantedObject, mark: ObjectMark): readonly Change[] {
  const { uid, key } = resource
  const changes: Change[] = []
  if (mark.uid !== uid) changes.push({ path: 'mark', from: mark.owner, to: key, effect: 'live' })
  if (mark.deletion !== wanted.deletion)
    changes.push({ path: 'deletion', from: mark.deletion, to: wanted.deletion, effect: 'live' })
  return changes
}

function secretChanges(keys: readonly string[]): readonly Change[] {
  return keys.map((key) => ({ path: `data.${key}`, from: '***', to: '***', effect: 'live', secret: true }))
}

function applyStep(verb: 'create' | 'configure', resource: Resource, wanted: WantedObject, doing: string): Step {
  const { object, cluster, plural, secrets = {}, force } = wanted
  const names = Object.keys(secrets)
  return {
    verb,
    summary: `${doing} ${objectId(object)}`,
    lane: 'kubernetes',
    host: cluster,
    queues: [`host/${cluster}`],
    call: {
      method: 'PATCH',
      path: `${objectPath(object, plural)}?fieldManager=${MANAGER}${force === true ? '&force=true' : ''}`,
      params: {
        body: JSON.stringify(marked(resource, wanted)),
        ...Object.fromEntries(names.map((name) => [`data.${name}`, JSON.stringify(secrets[name])])),
      },
    },
    ...(names.length === 0 ? {} : { secretParams: names.map((name) => `data.${name}`) }),
    disruption: 'none',
  }
}

/** Nothing but our mark is applied: what we kept and another keeps too stays as it is, and is the other's. */
function releaseStep(resource: Resource, wanted: WantedObject): Step {
  const { object, cluster, plural, handover } = wanted
  const bare = onlyMark(resource, wanted)
  const body = object.kind === 'HelmChart' ? unmanaged(bare, object) : bare
  return {
    verb: 'configure',
    summary: `hand ${objectId(object)} over to ${handover?.to ?? 'nobody'}`,
    lane: 'kubernetes',
    host: cluster,
    queues: [`host/${cluster}`],
    call: {
      method: 'PATCH',
      path: `${objectPath(object, plural)}?fieldManager=${MANAGER}`,
      params: { body: JSON.stringify(body) },
    },
    learns: { done: { owner: handover?.to ?? '' } },
    disruption: 'none',
  }
}

/** A chart keeps its text, which nobody else holds; its controller is told to let it be. */
function unmanaged(bare: KubeObject, object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, ...bare.metadata.annotations, [UNMANAGED]: 'true' }
  const labels = { ...object.metadata.labels, ...bare.metadata.labels }
  return { ...object, metadata: { ...object.metadata, labels, annotations } }
}

/** Deleting a keeper must not take what it kept with it: where that is its habit, it is put to rest first. */
function deletion(sighting: Sighting): readonly Step[] {
  const { object } = lookOf(sighting)
  const [apiVersion, kind] = [textOf(object.apiVersion) ?? '', textOf(object.kind) ?? '']
  const metadata = recordOf(object.metadata)
  const named: KubeObject = {
    apiVersion,
    kind,
    metadata: {
      name: textOf(metadata.name) ?? '',
      ...(typeof metadata.namespace === 'string' ? { namespace: metadata.namespace } : {}),
    },
  }
  const path = objectPath(named, likelyKind(named).plural)
  const about = { lane: 'kubernetes', host: sighting.host, queues: [`host/${sighting.host}`] } as const
  const uid = textOf(metadata.uid)
  const keeper = isKeeper(named)
  const steps: Step[] = []
  if (keeper && apiVersion.includes('toolkit.fluxcd.io') && at(object, 'spec', 'suspend') !== true) {
    const body = JSON.stringify({ ...named, spec: { suspend: true } })
    steps.push({
      ...about,
      verb: 'configure',
      summary: `suspend ${objectId(named)}, so that nothing goes with it`,
      call: { method: 'PATCH', path: `${path}?fieldManager=${MANAGER}-rest&force=true`, params: { body } },
      disruption: 'none',
    })
  }
  steps.push({
    ...about,
    verb: 'delete',
    summary: `delete ${objectId(named)}`,
    call: {
      method: 'DELETE',
      path,
      params: {
        apiVersion,
        kind,
        propagationPolicy: 'Background',
        ...(uid === undefined ? {} : { uid }),
      },
    },
    disruption: HOLDING_DATA.has(kind) ? 'data-loss' : 'none',
  })
  return steps
}

function isKeeper({ apiVersion, kind }: KubeObject): boolean {
  return (
    (kind === 'Application' && apiVersion.startsWith('argoproj.io/')) ||
    ((kind === 'HelmRelease' || kind === 'Kustomization') && apiVersion.includes('toolkit.fluxcd.io/'))
  )
}

/** Whatever hangs on them goes with them. */
const HOLDING_DATA: ReadonlySet<string> = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'CephCluster',
])
