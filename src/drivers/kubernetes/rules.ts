import { annotationsOf, at, type Foreign } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { changed, sweeping } from '../../model/destruction.ts'
import { isOfEstate } from '../../model/estate.ts'
import {
  builtInKind,
  HOOK_RUN,
  isRelease,
  objectId,
  objectList,
  RELEASE,
  type WantedObject,
} from '../../model/kube-object.ts'
import type { Change, ObservedResource, Resource } from '../../model/resource.ts'
import { NO_GUESTS, type Readiness, type Rules } from '../../model/rules.ts'
import { fieldChanges } from './diff.ts'
import { ownedBy, REST_MANAGER } from './fields.ts'
import { type HandoverStep, handoverStep, isMarkCopied, keeperBesides, trackedBy } from './handover.ts'
import {
  leaveRelease,
  releaseChanges,
  releaseCreation,
  releaseDeletion,
  releaseReadiness,
  releaseUndeletable,
  releaseUpdate,
} from './helm/release-rules.ts'
import { appliedHash, lookOf, markOf, type ObjectDetails, type ObjectMark, UID_LABEL, wantedOf } from './marks.ts'
import { objectReadiness } from './readiness.ts'
import { applyStep, deletion, leaveSteps, letGo, releaseStep, takeBackSteps, wakeStep } from './steps.ts'

/** Objects of a cluster: compared by field, applied server-side, found by their label. */
export const rules: Rules = {
  ...NO_GUESTS,
  keeps: ({ desired }) => desired.type === 'object',
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
  diff(resource, observed) {
    const wanted = wantedOf(resource)
    if (isRelease(wanted.object)) return releaseChanges(resource, wanted, observed)
    const look = lookOf(observed)
    const mark = markOf(look.object)
    if (mark === undefined) return foreign(resource, wanted, look.object)
    const step = handoverStep(wanted, look)
    switch (step.do) {
      case 'watch':
      case 'await':
      case 'stand-by':
        return []
      case 'release':
        return [{ path: 'owner', from: 'croft', to: wanted.handover?.to, effect: 'live', own: true }]
      case 'take-back':
        return [{ path: 'owner', from: mark.keptBy?.split(' ')[0], to: 'croft', effect: 'live', own: true }]
      case 'keep':
        if (wanted.hook?.run !== undefined) return [...markChanges(resource, wanted, mark), ...runAgain(wanted, look)]
        return [...markChanges(resource, wanted, mark), ...resting(look.object), ...fieldsOf(wanted, look, mark)]
    }
  },
  createSteps(resource) {
    const wanted = wantedOf(resource)
    return isRelease(wanted.object) ? releaseCreation(resource, wanted) : [applyStep('create', resource, wanted)]
  },
  updateSteps(resource, observed, changes) {
    const wanted = wantedOf(resource)
    if (isRelease(wanted.object)) return releaseUpdate(resource, wanted, observed, changes)
    if (changes.length === 0) return []
    const look = lookOf(observed)
    const mark = markOf(look.object)
    const step = mark === undefined ? undefined : handoverStep(wanted, look)
    // A finished Job is immutable: delete and recreate it.
    if (changes.some(({ path }) => path === HOOK)) {
      const [again] = deletion(changed(observed, [], changes)).map((step) => ({
        ...step,
        ...sweeping(`the Job ${wanted.object.metadata.name}`),
      }))
      return [...(again === undefined ? [] : [again]), applyStep('create', resource, wanted)]
    }
    if (step?.do === 'release') return [releaseStep(resource, wanted)]
    if (step?.do === 'take-back') return takeBackSteps(resource, wanted, { ...step, keptBy: mark?.keptBy ?? '' })
    return [
      ...(changes.some(({ path }) => path === RESTING) ? [wakeStep(wanted)] : []),
      ...(changes.some(({ path }) => path !== RESTING)
        ? [applyStep('configure', resource, wanted, formerJob(look, changes))]
        : []),
    ]
  },
  adoptSteps: () => [],
  undeletable(observed) {
    if (isReleaseSeen(observed)) return releaseUndeletable(observed)
    const { object, definitions = [] } = lookOf(observed)
    const mark = markOf(object)
    const keptBy = mark?.keptBy
    if (keptBy === undefined) {
      const release = annotationsOf(object).get('meta.helm.sh/release-name')
      if (release !== undefined && mark !== undefined)
        return {
          message: `${observed.externalId} belongs to the Helm release ${cleanText(release)} by now`,
          allow: `let Helm take it away, or take the labels ${UID_LABEL} off it so that croft forgets it`,
        }
      const keeper = keeperBesides(object)
      if (keeper !== undefined && mark !== undefined)
        return {
          message: `${observed.externalId} is kept by ${cleanText(keeper)} by now, which applies croft's own mark with it`,
          allow:
            'take the labels and annotations that begin with croft.dev/ out of the manifest there, and croft lets go of it',
        }
      const agent = trackedBy(object)
      if (agent !== undefined && mark !== undefined)
        return {
          message: `${observed.externalId} belongs to ${agent} by now, which does not apply every field that croft applies`,
          allow: `let it apply the whole object, and croft lets go of it; or take it out there, and croft deletes it`,
        }
      if (definitions.length === 0 || mark?.definitions === 'Delete') return undefined
      const some =
        definitions.length > 3
          ? `${definitions.slice(0, 3).join(', ')} and ${definitions.length - 3} more`
          : definitions.join(', ')
      return {
        message: `with the chart ${observed.name} its definitions would go (${some}), and every object of their kinds in all namespaces`,
        allow: 'declare it again with prune: all and apply, then take it out; or let it stay with prune: none',
      }
    }
    return { message: `${observed.externalId} is kept by ${keptBy}`, allow: 'take it out there, or take it back first' }
  },
  releases(observed) {
    if (isReleaseSeen(observed)) return undefined
    const { object } = lookOf(observed)
    const mark = markOf(object)
    const to = mark === undefined || mark.keptBy !== undefined ? undefined : keeperBesides(object)
    return to === undefined || isMarkCopied(object)
      ? undefined
      : { to: cleanText(to), steps: letGo(observed, cleanText(to)) }
  },
  leaveSteps: (observed) => (isReleaseSeen(observed) ? leaveRelease(observed) : leaveSteps(observed)),
  deleteSteps: (destruction) =>
    isReleaseSeen(destruction.observed) ? releaseDeletion(destruction) : deletion(destruction),
  readiness(resource, observed) {
    const wanted = wantedOf(resource)
    if (isRelease(wanted.object)) return releaseReadiness(observed)
    const look = lookOf(observed)
    const step = markOf(look.object) === undefined ? undefined : handoverStep(wanted, look)
    if (step?.do === 'await') return { ready: false, reason: 'TakingBack', message: step.message, status: 'TakingBack' }
    if (step?.do === 'watch') return handedOver(wanted, look)
    return objectReadiness(look, wanted.ready)
  },
  notes(resource, observed) {
    const wanted = wantedOf(resource)
    if (isRelease(wanted.object)) return []
    const look = lookOf(observed)
    const mark = markOf(look.object)
    if (mark === undefined)
      return wanted.object.kind === 'Namespace' ? ['it was there before and stays when this goes'] : []
    return handoverNotes(wanted, look, mark, handoverStep(wanted, look))
  },
}

function isReleaseSeen({ list }: ObservedResource): boolean {
  return list === objectList(RELEASE)
}

/** An existing object without our mark. */
function foreign(resource: Resource, wanted: WantedObject, live: Foreign): readonly Change[] {
  // A namespace is only a place: use it, no matter who created it.
  if (wanted.object.kind === 'Namespace' && wanted.adopt !== true) return []
  const mark: Change = { path: 'mark', from: 'nobody', to: resource.key, effect: 'live' }
  if (wanted.adopt === true) return [mark, ...fieldChanges(wanted.object, live, false)]
  const message = `${objectId(wanted.object)} is there already and was not made by croft`
  return [{ ...mark, blocked: { message, allow: `set adopt: true in Addon ${wanted.addon}, or choose another name` } }]
}

function markChanges(resource: Resource, wanted: WantedObject, mark: ObjectMark): readonly Change[] {
  const { uid, key, estate } = resource
  if (estate !== undefined && !isOfEstate(mark.estate, estate)) return [otherEstate(resource, wanted, mark)]
  const changes: Change[] = []
  if (mark.uid === uid && estate !== undefined && mark.estate !== estate)
    changes.push({ path: 'mark', from: mark.estate, to: estate, effect: 'live', own: true })
  if (mark.uid !== uid) changes.push({ path: 'mark', from: mark.owner, to: key, effect: 'live' })
  if (mark.deletion !== wanted.deletion)
    changes.push({ path: 'deletion', from: mark.deletion, to: wanted.deletion, effect: 'live' })
  if (mark.definitions !== wanted.definitions)
    changes.push({ path: 'definitions', from: mark.definitions, to: wanted.definitions, effect: 'live' })
  return changes
}

/** Two directories want the same object: the current owner keeps it. */
function otherEstate({ key }: Resource, wanted: WantedObject, { owner, estate }: ObjectMark): Change {
  const message = `${objectId(wanted.object)} belongs to ${owner} of another estate (${estate})`
  const allow = 'choose another name, or take it out of the other directory first'
  return { path: 'mark', from: owner, to: key, effect: 'live', blocked: { message, allow } }
}

function fieldsOf(wanted: WantedObject, look: ObjectDetails, mark: ObjectMark): readonly Change[] {
  return [
    ...fieldChanges(wanted.object, look.object, mark.applied === appliedHash(wanted)),
    ...(look.secretsDiffer ?? []).map(
      (key): Change => ({ path: `data.${key}`, from: '***', to: '***', effect: 'live', secret: true }),
    ),
  ]
}

const HOOK = 'hook'

/** A hook belongs to one rendering of its chart. Other differences belong to a past run. */
function runAgain({ hook }: WantedObject, { object }: ObjectDetails): readonly Change[] {
  const from = annotationsOf(object).get(HOOK_RUN)
  return from === hook?.run ? [] : [{ path: HOOK, from, to: hook?.run, effect: 'live', own: true }]
}

/** A changed chart is installed by a new job: the old one's result says nothing about the change. */
function formerJob({ install }: ObjectDetails, changes: readonly Change[]): Pick<ObjectMark, 'formerJob'> {
  if (install === undefined || !changes.some(({ path }) => path.startsWith('spec'))) return {}
  return { formerJob: install.job }
}

const RESTING = 'spec.suspend'

/** A keeper that croft suspended before its deletion, and that is declared again. */
function resting(live: Foreign): readonly Change[] {
  if (ownedBy(live, REST_MANAGER) === undefined) return []
  return [{ path: RESTING, from: at(live, 'spec', 'suspend'), to: undefined, effect: 'live' }]
}

/** Reports the readiness that the keeper shows: K3s deletes the job of a chart that it must not manage. */
function handedOver(wanted: WantedObject, look: ObjectDetails): Readiness {
  const { keeper, object } = look
  const found = object.kind === 'HelmChart' ? undefined : objectReadiness(look, wanted.ready)
  if (found?.ready === false) return found
  const well = keeper?.synced === true && keeper.healthy
  const to = wanted.handover?.to ?? 'another'
  return well
    ? { ready: true, reason: 'Current', message: `owner: ${to}`, status: 'HandedOver' }
    : {
        ready: false,
        reason: 'NotKept',
        message: `owner: ${to}: ${keeper?.message ?? 'not seen'}`,
        status: 'HandedOver',
      }
}

function handoverNotes(
  wanted: WantedObject,
  look: ObjectDetails,
  mark: ObjectMark,
  step: HandoverStep,
): readonly string[] {
  if (step.do === 'watch') return [`owner: ${wanted.handover?.to}; croft only looks`]
  if (step.do === 'stand-by') {
    const differing = fieldsOf(wanted, look, mark).map(({ path }) => path)
    const left = differing.length === 0 ? '' : `; meanwhile ${differing.slice(0, 3).join(', ')} is left as it is there`
    return [`${step.message}${left}`]
  }
  return 'message' in step && step.message !== undefined ? [step.message] : []
}
