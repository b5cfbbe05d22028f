import { createHash } from 'node:crypto'
import { annotationsOf, type Foreign, labelsOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import type { ExpressionAnswer } from '../../model/expressions.ts'
import { HOOK_RUN, type KubeObject, objectId, type WantedObject } from '../../model/kube-object.ts'
import type { Change, Mark, ObservedResource, Resource } from '../../model/resource.ts'
import type { Readiness } from '../../model/rules.ts'
import type { ReleaseRecord } from './helm/record.ts'

/** The label by which one call per kind finds all our objects in a cluster. */
export const UID_LABEL = 'croft.dev/uid'
const OWNER = 'croft.dev/owner'
const ESTATE = 'croft.dev/estate'
const DELETION = 'croft.dev/deletion'
const APPLIED = 'croft.dev/applied'
const KEPT_BY = 'croft.dev/kept-by'
const FORMER_JOB = 'croft.dev/former-job'
const DEFINITIONS = 'croft.dev/definitions'

const MARKS = [UID_LABEL, OWNER, ESTATE, DELETION, APPLIED, KEPT_BY, FORMER_JOB, DEFINITIONS] as const

/** The metadata of a merge patch that removes the mark. */
export const NO_MARK = {
  labels: { [UID_LABEL]: null },
  annotations: Object.fromEntries(
    [...MARKS.filter((name) => name !== UID_LABEL), HOOK_RUN].map((name) => [name, null]),
  ),
} as const

export interface ObjectMark extends Mark {
  /** Hash of the declaration at our last write. */
  readonly applied?: string
  /** Its keeper since the handover: `argocd argoproj.io/v1alpha1 Application/argocd/cilium`. */
  readonly keptBy?: string
  /** For a HelmChart: the job of its previous installation, which says nothing about the change. */
  readonly formerJob?: string
  /** For a HelmChart: a person permits its definitions to be deleted with it, and all objects of their kinds. */
  readonly definitions?: 'Delete'
}

/** Returns the mark on an object, or undefined without one. */
export function markOf(object: Foreign): ObjectMark | undefined {
  const uid = labelsOf(object).get(UID_LABEL)
  if (uid === undefined) return undefined
  const annotations = annotationsOf(object)
  const text = (name: string) => {
    const value = annotations.get(name)
    return value === undefined ? undefined : cleanText(value)
  }
  const [owner, estate, applied, keptBy] = [text(OWNER), text(ESTATE), text(APPLIED), text(KEPT_BY)]
  const formerJob = text(FORMER_JOB)
  const deletion = annotations.get(DELETION)
  return {
    uid,
    ...defined({ owner, estate }),
    ...(deletion === 'Delete' || deletion === 'Orphan' ? { deletion } : {}),
    ...defined({ applied, keptBy, formerJob }),
    ...(annotations.get(DEFINITIONS) === 'Delete' ? { definitions: 'Delete' } : {}),
  }
}

/** Returns twelve digits of the declaration's hash, to tell later whether this text was applied. */
export function appliedHash({ object }: WantedObject): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 12)
}

/** Returns the object with our mark, as it is applied. `keptBy`: it must still be taken back from there. */
export function marked(
  { uid, key, estate }: Resource,
  wanted: WantedObject,
  { keptBy, formerJob }: Pick<ObjectMark, 'keptBy' | 'formerJob'> = {},
): KubeObject {
  return withMark(wanted.object, uid, key, estate, {
    [DELETION]: keptBy === undefined ? wanted.deletion : 'Orphan',
    [APPLIED]: appliedHash(wanted),
    ...defined({ [DEFINITIONS]: wanted.definitions, [KEPT_BY]: keptBy, [FORMER_JOB]: formerJob }),
  })
}

/** Our mark alone: applied in place of the object it releases all our fields. */
export function onlyMark({ uid, key, estate }: Resource, wanted: WantedObject): KubeObject {
  return withMark(nameOnly(wanted.object), uid, key, estate, {
    [DELETION]: 'Orphan',
    [KEPT_BY]: keeperOf(wanted) ?? '',
  })
}

/** An object with its name only: applying it as a field manager releases every field of that manager. */
export function nameOnly({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, ...defined({ namespace }) } }
}

/** `argocd argoproj.io/v1alpha1 Application/argocd/cilium`. */
export function keeperOf({ handover }: WantedObject): string | undefined {
  if (handover === undefined) return undefined
  return `${handover.to} ${handover.by.apiVersion} ${objectId(handover.by)}`
}

/** Reports whether the field is croft's mark: no other keeper needs to own it. */
export function isMarkField(path: string): boolean {
  return MARKS.some((one) => path.endsWith(`f:${one}`))
}

/** The same for a path in its printed form. */
export function isMarkName(path: string): boolean {
  return MARKS.some((one) => path.endsWith(`.${one}`)) || path.includes('.croft.dev/release')
}

function withMark(
  object: KubeObject,
  uid: string,
  owner: string,
  estate: string | undefined,
  more: Readonly<Record<string, string>>,
): KubeObject {
  const { metadata } = object
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [UID_LABEL]: uid },
      annotations: {
        ...metadata.annotations,
        [OWNER]: owner,
        ...defined({ [ESTATE]: estate }),
        ...more,
      },
    },
  }
}

/** Parses `argocd argoproj.io/v1alpha1 Application.argoproj.io/argocd/cilium`. */
export function keptByOf(text: string | undefined): KubeObject | undefined {
  const [, apiVersion, id] = text?.split(' ') ?? []
  const [sort, ...place] = id?.split('/') ?? []
  const name = place.at(-1)
  if (apiVersion === undefined || sort === undefined || name === undefined) return undefined
  const [kind = ''] = sort.split('.')
  const namespace = place.length > 1 ? place[0] : undefined
  return { apiVersion, kind, metadata: { name, ...defined({ namespace }) } }
}

/** A close look at one object. Never contains values of Secrets. */
export interface ObjectDetails {
  readonly object: Foreign
  /** The answer of its add-on's expression about this object. */
  readonly answered?: { readonly expression: string; readonly answer: ExpressionAnswer }
  /** Keys of a Secret with undeclared values. */
  readonly secretsDiffer?: readonly string[]
  /** The state of its current or future keeper. */
  readonly keeper?: KeeperDetails
  /** For a HelmChart: its installing job, and the result. */
  readonly install?: InstallDetails
  /** For a release of the local Helm: its newest revision. */
  readonly release?: ReleaseDetails
  /** For a HelmChart that is no longer declared: definitions that its release deletes, with all their objects. */
  readonly definitions?: readonly string[]
}

export interface ReleaseDetails
  extends Pick<ReleaseRecord, 'revision' | 'status' | 'description' | 'sinceMs' | 'chart'> {
  /** It is pending for longer than any Helm run takes. */
  readonly stuck: boolean
  /** Printable values; undefined if it is unknown which ones are secret. */
  readonly values: Foreign | undefined
  /** Paths of secret values that differ. */
  readonly secretsDiffer: readonly string[]
  readonly drift: readonly Change[]
  /** Objects with data that Helm's uninstallation deletes. */
  readonly holding: readonly string[]
  /** Its manifest is unreadable: empty `holding`, `drift` and `workloads` prove nothing. */
  readonly unread?: true
  readonly workloads: readonly ChartWorkload[]
  /** The Secret of this revision, and its resourceVersion. */
  readonly record: { readonly name: string; readonly uid: string; readonly version: string }
}

export interface InstallDetails {
  readonly state: 'running' | 'complete' | 'failed'
  /** Its uid: a changed chart gets a new job. */
  readonly job: string
  /** How often it has failed so far. */
  readonly failures: number
  /** Its last error output. */
  readonly said?: string
  /** The release's workloads and their state. */
  readonly workloads: readonly ChartWorkload[]
}

export interface ChartWorkload {
  /** `Deployment cert-manager/cert-manager-webhook`. */
  readonly what: string
  readonly readiness: Readiness
}

/** The state of an Application, HelmRelease or Kustomization for a handover. */
export interface KeeperDetails {
  readonly there: boolean
  readonly synced: boolean
  readonly healthy: boolean
  readonly message: string
}

export function lookOf(observed: ObservedResource): ObjectDetails {
  return (observed.close?.config.look as ObjectDetails | undefined) ?? { object: {} }
}

export function wantedOf({ desired, key }: Resource): WantedObject {
  if (desired.type !== 'object') throw new Error(`${key} is not an object of a cluster`)
  return desired.object
}
