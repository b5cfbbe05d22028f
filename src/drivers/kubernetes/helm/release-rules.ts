import { at, textOf } from '../../../kubernetes/objects.ts'
import { defined } from '../../../lib/defined.ts'
import { type Destruction, destroying, sweeping } from '../../../model/destruction.ts'
import { isOfEstate } from '../../../model/estate.ts'
import { objectId, type WantedObject } from '../../../model/kube-object.ts'
import type { Change, ObservedResource, Resource } from '../../../model/resource.ts'
import type { Obstacle, Readiness } from '../../../model/rules.ts'
import type { Step, StepOver } from '../../../model/step.ts'
import { objectPath } from '../api.ts'
import { MANAGER } from '../fields.ts'
import { lookOf, type ReleaseDetails } from '../marks.ts'
import { failed, here, waits } from '../readiness-words.ts'
import { NO_RELEASE_LABELS, type ReleaseMark, releaseLabels, releaseMark, releaseSpec, sourceHash } from './marks.ts'
import { UNREADABLE } from './record.ts'
import { valueChanges } from './values.ts'

/* All judgements about a release of the local Helm. Pure. */

/** Returns the differences between a release and its declaration. */
export function releaseChanges(
  resource: Resource,
  wanted: WantedObject,
  observed: ObservedResource,
): readonly Change[] {
  const release = detailsOf(observed)
  const mark = markIn(observed)
  if (release === undefined || isAtWork(release)) return []
  if (release.status === UNREADABLE) {
    const message = `Helm keeps a release ${placeOf(wanted)}, and croft cannot read its record ${release.record.name}`
    const allow = `look at it with helm status ${wanted.object.metadata.name}; croft reads records in Secrets, as Helm 3 and 4 write them`
    return [{ path: 'status', from: UNREADABLE, to: 'deployed', effect: 'live', blocked: { message, allow } }]
  }
  if (mark === undefined) return foreign(resource, wanted, release)
  if (resource.estate !== undefined && !isOfEstate(mark.estate, resource.estate)) {
    const message = `${objectId(wanted.object)} belongs to ${mark.owner ?? 'an add-on'} of another estate (${mark.estate})`
    const allow = 'choose another name, or take it out of the other directory first'
    return [{ path: 'mark', from: mark.owner, to: resource.key, effect: 'live', blocked: { message, allow } }]
  }
  return [...markChanges(resource, wanted, mark), ...specChanges(wanted, release, mark), ...stateChanges(release)]
}

function foreign(resource: Resource, wanted: WantedObject, release: ReleaseDetails): readonly Change[] {
  const mark: Change = { path: 'mark', from: 'nobody', to: resource.key, effect: 'live' }
  if (wanted.adopt === true) return [mark, ...specChanges(wanted, release, undefined), ...stateChanges(release)]
  const message = `the Helm release ${placeOf(wanted)} is there already (revision ${release.revision}) and was not made by croft`
  return [{ ...mark, blocked: { message, allow: `set adopt: true in Addon ${wanted.addon}, or choose another name` } }]
}

function markChanges(resource: Resource, wanted: WantedObject, mark: ReleaseMark): readonly Change[] {
  const changes: Change[] = []
  if (mark.uid !== resource.uid) changes.push({ path: 'mark', from: mark.owner, to: resource.key, effect: 'live' })
  if (mark.deletion !== wanted.deletion)
    changes.push({ path: 'deletion', from: mark.deletion, to: wanted.deletion, effect: 'live' })
  const holding = wanted.definitions ?? 'Keep'
  if (mark.holding !== holding) changes.push({ path: 'holding', from: mark.holding, to: holding, effect: 'live' })
  return changes
}

function specChanges(wanted: WantedObject, release: ReleaseDetails, mark: ReleaseMark | undefined): readonly Change[] {
  const { chart, version, git, values } = releaseSpec(wanted.object)
  const changes: Change[] = []
  const live = (path: string, from: unknown, to: unknown) => changes.push({ path, from, to, effect: 'live' })
  if (git === undefined) {
    const name = chart.replace(/^.*\//, '')
    if (release.chart.name !== name) live('spec.chart', release.chart.name, name)
    if (bare(release.chart.version) !== bare(version)) live('spec.version', release.chart.version, version)
  }
  // A record lacks its chart's source. For a chart in Git nothing else identifies it.
  const source = sourceHash(wanted)
  const elsewhere = mark?.source === undefined ? git !== undefined : mark.source !== source
  if (elsewhere && changes.length === 0) live('spec.source', mark?.source, source)
  if (release.values !== undefined) changes.push(...valueChanges(release.values, values))
  for (const path of release.secretsDiffer) changes.push({ path, from: '***', to: '***', effect: 'live', secret: true })
  return changes
}

/** Helm treats `v1.2.3` and `1.2.3` as one version. */
function bare(version: string): string {
  return version.replace(/^v/, '')
}

/** Returns a broken or failed run, and manual changes since. */
function stateChanges(release: ReleaseDetails): readonly Change[] {
  if (release.stuck || release.status === 'failed')
    return [{ path: 'status', from: release.status, to: 'deployed', effect: 'live', own: true }]
  const { drift } = release
  const mendable = drift.filter(({ blocked }) => blocked === undefined)
  // A change that Helm cannot make must not block the others.
  return mendable.length > 0 ? mendable : drift
}

/** Changes of our mark alone need no new revision. */
const LABELS: ReadonlySet<string> = new Set(['mark', 'deletion', 'holding'])

export function releaseUpdate(
  resource: Resource,
  wanted: WantedObject,
  observed: ObservedResource,
  changes: readonly Change[],
): readonly Step[] {
  const release = detailsOf(observed)
  if (release === undefined || changes.length === 0) return []
  if (changes.every(({ path }) => LABELS.has(path))) return [markStep(resource, wanted, release)]
  const upgrade = upgradeStep('configure', resource, wanted)
  return release.stuck ? [forgetStep(observed, release), upgrade] : [upgrade]
}

export function releaseCreation(resource: Resource, wanted: WantedObject): readonly Step[] {
  return [upgradeStep('create', resource, wanted)]
}

export function releaseDeletion(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const release = detailsOf(observed)
  const { name, namespace } = placeIn(observed)
  const uninstall: StepOver<'object'> = {
    ...about(observed.host),
    verb: 'delete',
    summary: `helm uninstall ${name}`,
    write: { do: 'helm', run: 'uninstall', release: name, namespace },
    disruption: (release?.holding.length ?? 0) > 0 ? 'data-loss' : 'none',
    ...destroying(destruction, release?.holding),
  }
  return [uninstall]
}

export function releaseUndeletable(observed: ObservedResource): Obstacle | undefined {
  const release = detailsOf(observed)
  if (release === undefined) return undefined
  const { name } = placeIn(observed)
  if (isAtWork(release)) return { message: working(release), allow: 'wait until it has ended' }
  const unread = release.status === UNREADABLE ? 'record' : release.unread === true ? 'manifest' : undefined
  if (unread !== undefined)
    return {
      message: `the ${unread} of the release ${name} cannot be read, so what would go with it is not known`,
      allow: `run helm uninstall ${name} yourself`,
    }
  if (release.holding.length === 0 || markIn(observed)?.holding === 'Delete') return undefined
  const [some, more] = [release.holding.slice(0, 3).join(', '), release.holding.length - 3]
  return {
    message: `with the release ${name} would go what holds data of others: ${some}${more > 0 ? ` and ${more} more` : ''}`,
    allow: 'declare it again with prune: all and apply, then take it out; or let it stay with prune: none',
  }
}

export function releaseReadiness(observed: ObservedResource): Readiness {
  const release = detailsOf(observed)
  if (release === undefined) return waits('Unknown', 'its record could not be read')
  const { status, revision, description } = release
  if (isAtWork(release)) return waits('Installing', working(release))
  if (release.stuck)
    return failed(
      'Stuck',
      `revision ${revision} was left in ${status} by a Helm that did not end; croft takes that record away`,
    )
  if (status !== 'deployed') return failed('ReleaseFailed', `revision ${revision} is ${status}: ${description}`)
  const ill = release.workloads.find(({ readiness }) => !readiness.ready)
  const installed = `revision ${revision} is deployed`
  if (release.unread === true)
    return waits('Unknown', `${installed}, and its manifest cannot be read: how its workloads are is not known`)
  if (ill === undefined) {
    const { length } = release.workloads
    return here(length === 0 ? installed : `${installed} and all ${length} workloads run`)
  }
  const message = `${installed}; ${ill.what}: ${ill.readiness.message}`
  return ill.readiness.status === 'Failed' ? failed(ill.readiness.reason, message) : waits('Workloads', message)
}

/** Reports whether a Helm may be working on it now: ours, or a person's. */
function isAtWork({ status, stuck }: ReleaseDetails): boolean {
  return !stuck && (status.startsWith('pending-') || status === 'uninstalling')
}

function working({ status, revision, sinceMs }: ReleaseDetails): string {
  return `Helm works on revision ${revision} (${status}) since ${new Date(sinceMs).toISOString().slice(0, 16)}Z`
}

function upgradeStep(verb: 'create' | 'configure', resource: Resource, wanted: WantedObject): Step {
  const { name, namespace = 'default' } = wanted.object.metadata
  const { chart, version, repo, git, values } = releaseSpec(wanted.object)
  const { values: valuesFrom } = wanted.secrets ?? {}
  const step: StepOver<'object'> = {
    ...about(wanted.cluster),
    verb,
    summary: `helm upgrade --install ${name} (${chart} ${git === undefined ? version : git.commit.slice(0, 12)})`,
    write: {
      do: 'helm',
      run: 'upgrade',
      release: name,
      namespace,
      chart: { chart, version, ...defined({ repo, git }) },
      values: JSON.stringify(values),
      labels: releaseLabels(resource, wanted),
      ...defined({ valuesFrom }),
      ...(wanted.adopt === true ? { takeOwnership: true } : {}),
    },
    disruption: 'none',
  }
  return step
}

/** Labels the record by the uid of its Secret: if that is gone, no new one is created. */
function markStep(resource: Resource, wanted: WantedObject, { record }: ReleaseDetails): Step {
  const { namespace = 'default' } = wanted.object.metadata
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: record.name, namespace, uid: record.uid, labels: releaseLabels(resource, wanted) },
  }
  return {
    ...about(wanted.cluster),
    verb: 'mark',
    summary: `mark the release ${placeOf(wanted)} as ours`,
    write: { do: 'apply', path: objectPath(body, 'secrets'), body, as: MANAGER, force: true },
    disruption: 'none',
  }
}

/** Removes our labels from the record; Helm copies them to no further revision. */
export function leaveRelease(observed: ObservedResource): readonly Step[] {
  const release = detailsOf(observed)
  if (release === undefined || markIn(observed) === undefined) return []
  const { name, namespace } = placeIn(observed)
  const { record } = release
  const named = { apiVersion: 'v1', kind: 'Secret', metadata: { name: record.name, namespace, uid: record.uid } }
  return [
    {
      ...about(observed.host),
      verb: 'mark',
      summary: `take croft's mark off the release ${namespace}/${name}`,
      write: {
        do: 'merge',
        path: objectPath(named, 'secrets'),
        body: { ...named, metadata: { ...named.metadata, labels: NO_RELEASE_LABELS } },
      },
      disruption: 'none',
    },
  ]
}

/** Deletes one record of Helm as it was read, and no object: a slow Helm may have finished meanwhile. */
function forgetStep(observed: ObservedResource, { record, revision, status }: ReleaseDetails): Step {
  const { name, namespace } = placeIn(observed)
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: record.name, namespace } }
  return {
    ...about(observed.host),
    verb: 'configure',
    summary: `delete the record of revision ${revision} of ${name}, which hangs in ${status}`,
    write: {
      do: 'delete',
      path: objectPath(secret, 'secrets'),
      apiVersion: 'v1',
      kind: 'Secret',
      propagationPolicy: 'Background',
      uid: record.uid,
      resourceVersion: record.version,
    },
    disruption: 'none',
    ...sweeping(`the record of revision ${revision} of ${name}`),
  }
}

function about(cluster: string): Pick<StepOver<'object'>, 'lane' | 'host' | 'queues'> {
  return { lane: 'object', host: cluster, queues: [`host/${cluster}`] }
}

function detailsOf(observed: ObservedResource): ReleaseDetails | undefined {
  return lookOf(observed).release
}

function placeIn(observed: ObservedResource): { readonly name: string; readonly namespace: string } {
  const { object } = lookOf(observed)
  return {
    name: textOf(at(object, 'metadata', 'name')) ?? '',
    namespace: textOf(at(object, 'metadata', 'namespace')) ?? '',
  }
}

function markIn(observed: ObservedResource): ReleaseMark | undefined {
  return releaseMark(lookOf(observed).object, placeIn(observed))
}

function placeOf({ object: { metadata } }: WantedObject): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name}`
}
