import { at, recordOf, textOf } from '../../kubernetes/objects.ts'
import { type Destruction, destroying } from '../../model/destruction.ts'
import { type KubeObject, likelyKind, objectId, type WantedObject } from '../../model/kube-object.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { Step, StepOver } from '../../model/step.ts'
import { objectPath } from './api.ts'
import { MANAGER, REST_MANAGER } from './fields.ts'
import { lookOf, marked, markOf, NO_MARK, nameOnly, type ObjectMark, onlyMark } from './marks.ts'

/* Every call to a cluster, as data. */

/** Makes K3s's Helm controller ignore a chart. */
const UNMANAGED = 'helmcharts.helm.cattle.io/unmanaged'

/** Creates or changes the object: as declared, with our mark. */
export function applyStep(
  verb: 'create' | 'configure',
  resource: Resource,
  wanted: WantedObject,
  mark: Pick<ObjectMark, 'formerJob'> = {},
): Step {
  const how = { as: MANAGER, ...(wanted.force === true ? { force: true as const } : {}) }
  const body = marked(resource, wanted, mark)
  return withSecrets(wanted, patch(verb, `apply ${objectId(wanted.object)}`, wanted, body, how))
}

/** Applies only our mark: fields that another manager also owns stay, and are the other's. */
export function releaseStep(resource: Resource, wanted: WantedObject): Step {
  const { object, handover } = wanted
  const bare = onlyMark(resource, wanted)
  const body = object.kind === 'HelmChart' ? unmanaged(bare, object) : bare
  return patch('configure', `hand ${objectId(object)} over to ${handover?.to ?? 'nobody'}`, wanted, body, {
    as: MANAGER,
  })
}

/**
 * First croft owns every field again, then the former managers are removed, and only then the mark changes: after any
 * interruption the object still names its keeper, and the rest follows later.
 */
export function takeBackSteps(
  resource: Resource,
  wanted: WantedObject,
  from: { readonly keptBy: string; readonly ours: boolean; readonly managers: readonly string[] },
): readonly Step[] {
  const id = objectId(wanted.object)
  const take = patch('configure', `take ${id} back`, wanted, marked(resource, wanted, { keptBy: from.keptBy }), {
    as: MANAGER,
    force: true,
  })
  return [
    ...(from.ours ? [] : [withSecrets(wanted, take)]),
    ...from.managers.map((as) =>
      patch('configure', `take the name of ${as} off ${id}`, wanted, nameOnly(wanted.object), { as }),
    ),
    withSecrets(wanted, patch('configure', `mark ${id} as ours`, wanted, marked(resource, wanted), { as: MANAGER })),
  ]
}

/** Resumes a keeper that was suspended before its deletion and is declared again. */
export function wakeStep(wanted: WantedObject): Step {
  return patch('configure', `wake ${objectId(wanted.object)}`, wanted, nameOnly(wanted.object), { as: REST_MANAGER })
}

/** Deletes a keeper without its objects: one that would delete them is suspended first. */
export function deletion(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const { named, plural, uid, object } = seenObject(observed)
  const { apiVersion, kind } = named
  const steps: Step[] = []
  if (isFluxKeeper(named) && at(object, 'spec', 'suspend') !== true) {
    const summary = `suspend ${objectId(named)}, so that nothing goes with it`
    const body = { ...named, spec: { suspend: true } }
    const target = { object: named, plural, cluster: observed.host }
    steps.push(patch('configure', summary, target, body, { as: REST_MANAGER, force: true }))
  }
  steps.push({
    ...about(observed.host),
    verb: 'delete',
    summary: `delete ${objectId(named)}`,
    write: {
      do: 'delete',
      path: objectPath(named, plural),
      apiVersion,
      kind,
      propagationPolicy: 'Background',
      ...(uid === undefined ? {} : { uid }),
    },
    disruption: HOLDING_DATA.has(kind) ? 'data-loss' : 'none',
    ...destroying(destruction),
  })
  return steps
}

/** Stops applying: our mark is removed, and fields that another manager applies stay. */
export function letGo(observed: ObservedResource, to: string): readonly Step[] {
  const { named, plural } = seenObject(observed)
  const target = { object: named, plural, cluster: observed.host }
  return [patch('configure', `leave ${objectId(named)} to ${to}`, target, named, { as: MANAGER })]
}

/** Removes our label and annotations by a merge patch: an apply without them would release all of croft's fields. */
export function leaveSteps(observed: ObservedResource): readonly Step[] {
  const { named, plural, object } = seenObject(observed)
  if (markOf(object) === undefined) return []
  return [
    {
      ...about(observed.host),
      verb: 'mark',
      summary: `take croft's mark off ${objectId(named)}`,
      write: {
        do: 'merge',
        path: objectPath(named, plural),
        body: { ...named, metadata: { ...named.metadata, ...NO_MARK } },
      },
      disruption: 'none',
    },
  ]
}

/** The observed object with the names for a call. */
function seenObject(observed: ObservedResource) {
  const { object } = lookOf(observed)
  const metadata = recordOf(object.metadata)
  const named: KubeObject = {
    apiVersion: textOf(object.apiVersion) ?? '',
    kind: textOf(object.kind) ?? '',
    metadata: {
      name: textOf(metadata.name) ?? '',
      ...(typeof metadata.namespace === 'string' ? { namespace: metadata.namespace } : {}),
    },
  }
  return { object, named, plural: likelyKind(named).plural, uid: textOf(metadata.uid) }
}

/** A server-side apply as a field manager, forced only if requested. */
function patch(
  verb: 'create' | 'configure',
  summary: string,
  { object, plural, cluster }: Pick<WantedObject, 'object' | 'plural' | 'cluster'>,
  body: KubeObject,
  { as, force }: { readonly as: string; readonly force?: true },
): StepOver<'object'> {
  return {
    ...about(cluster),
    verb,
    summary,
    write: { do: 'apply', path: objectPath(object, plural), body, as, ...(force === true ? { force } : {}) },
    disruption: 'none',
  }
}

function about(cluster: string): Pick<StepOver<'object'>, 'lane' | 'host' | 'queues'> {
  return { lane: 'object', host: cluster, queues: [`host/${cluster}`] }
}

/** Values are sent as references and inserted at the call. */
function withSecrets({ secrets = {} }: WantedObject, step: StepOver<'object'>): Step {
  if (step.write.do !== 'apply') return step
  if (Object.keys(secrets).length > 0) return { ...step, write: { ...step.write, secrets } }
  // A chart's Secret contains its values: never show the call.
  const { kind, data } = step.write.body
  return kind === 'Secret' && data !== undefined ? { ...step, write: { ...step.write, hidden: true } } : step
}

/** A chart keeps its spec, which has no other owner; its controller is told to ignore it. */
function unmanaged(bare: KubeObject, object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, ...bare.metadata.annotations, [UNMANAGED]: 'true' }
  const labels = { ...object.metadata.labels, ...bare.metadata.labels }
  return { ...object, metadata: { ...object.metadata, labels, annotations } }
}

/** Flux deletes what it installed when its object is deleted, unless that is suspended. */
function isFluxKeeper({ apiVersion, kind }: KubeObject): boolean {
  return (kind === 'HelmRelease' || kind === 'Kustomization') && apiVersion.includes('toolkit.fluxcd.io/')
}

/** Their deletion deletes everything inside them. */
const HOLDING_DATA: ReadonlySet<string> = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'CephCluster',
])
