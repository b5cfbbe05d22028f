import { createHash } from 'node:crypto'
import { type Foreign, labelsOf } from '../../../kubernetes/objects.ts'
import { defined } from '../../../lib/defined.ts'
import { objectId, RELEASE, type WantedObject } from '../../../model/kube-object.ts'
import type { Mark, Resource } from '../../../model/resource.ts'

/*
 * Our mark on a release: labels of its record, which Helm hands on to the next revision. They have names of their own: a
 * record that carried the label of objects would be taken for a Secret of an add-on, and deleted as one.
 */

export const RELEASE_UID = 'croft.dev/release'
const ADDON = 'croft.dev/release-of'
const ESTATE = 'croft.dev/release-estate'
const DELETION = 'croft.dev/release-deletion'
const HOLDING = 'croft.dev/release-holding'
const SOURCE = 'croft.dev/release-source'

/** Labels of a merge patch that takes the mark off. */
export const NO_RELEASE_LABELS = Object.fromEntries(
  [RELEASE_UID, ADDON, ESTATE, DELETION, HOLDING, SOURCE].map((name) => [name, null]),
)

export interface ReleaseMark extends Mark {
  /** Hash of where the chart came from. */
  readonly source?: string
  /** A person said that it may take with it what holds data. */
  readonly holding: 'Delete' | 'Keep'
}

/** What a value of a label may be. */
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

/** Where the chart comes from, as twelve digits: a record of Helm does not say it. */
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

/** What an add-on says of a release: written by its kind, so it is as it says. */
export function releaseSpec(object: WantedObject['object']): ReleaseSpec {
  return object.spec as ReleaseSpec
}
