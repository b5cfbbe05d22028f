import { createHash } from 'node:crypto'
import { type Foreign, labelsOf } from '../../../kubernetes/objects.ts'
import { defined } from '../../../lib/defined.ts'
import { objectId, RELEASE, type WantedObject } from '../../../model/kube-object.ts'
import type { Mark, Resource } from '../../../model/resource.ts'

/*
 * Our mark on a release: labels of its record, which Helm copies to the next revision. Their names differ from those on
 * objects: with the same label a record would look like an add-on's Secret, and be deleted.
 */

export const RELEASE_UID = 'croft.dev/release'
const ADDON = 'croft.dev/release-of'
const ESTATE = 'croft.dev/release-estate'
const DELETION = 'croft.dev/release-deletion'
const HOLDING = 'croft.dev/release-holding'
const SOURCE = 'croft.dev/release-source'

/** The labels of a merge patch that removes the mark. */
export const NO_RELEASE_LABELS = Object.fromEntries(
  [RELEASE_UID, ADDON, ESTATE, DELETION, HOLDING, SOURCE].map((name) => [name, null]),
)

export interface ReleaseMark extends Mark {
  /** Hash of the chart's source. */
  readonly source?: string
  /** A person permits the release to delete objects with data. */
  readonly holding: 'Delete' | 'Keep'
}

/** The form of a label's value. */
const VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/

export function releaseLabels({ uid, estate }: Resource, wanted: WantedObject): Readonly<Record<string, string>> {
  // `name/uid` of an estate: a label has no slash.
  const own = estate?.replace('/', '_')
  return {
    [RELEASE_UID]: uid,
    [DELETION]: wanted.deletion,
    [HOLDING]: wanted.definitions ?? 'Keep',
    [SOURCE]: sourceHash(wanted),
    ...(VALUE.test(wanted.addon) ? { [ADDON]: wanted.addon } : {}),
    ...(own !== undefined && VALUE.test(own) ? { [ESTATE]: own } : {}),
  }
}

export function releaseMark(record: Foreign, place: { readonly name: string; readonly namespace: string }) {
  const labels = labelsOf(record)
  const uid = labels.get(RELEASE_UID)
  if (uid === undefined) return undefined
  const addon = labels.get(ADDON)
  const owner = addon === undefined ? undefined : `Addon/${addon}@${objectId({ ...RELEASE, metadata: place })}`
  const deletion = labels.get(DELETION)
  const mark: ReleaseMark = {
    uid,
    holding: labels.get(HOLDING) === 'Delete' ? 'Delete' : 'Keep',
    ...defined({ owner, estate: labels.get(ESTATE)?.replace('_', '/'), source: labels.get(SOURCE) }),
    ...(deletion === 'Delete' || deletion === 'Orphan' ? { deletion } : {}),
  }
  return mark
}

/** Returns twelve digits of the chart's source: Helm's record lacks it. */
export function sourceHash({ object }: WantedObject): string {
  const { chart, repo, version, git } = releaseSpec(object)
  return createHash('sha256')
    .update(JSON.stringify([chart, repo, version, git]))
    .digest('hex')
    .slice(0, 12)
}

export interface ReleaseSpec {
  readonly chart: string
  readonly version: string
  readonly repo?: string
  readonly git?: { readonly url: string; readonly commit: string }
  readonly values: Readonly<Record<string, unknown>>
}

/** Returns an add-on's spec of a release, which its kind has validated. */
export function releaseSpec(object: WantedObject['object']): ReleaseSpec {
  return object.spec as ReleaseSpec
}
