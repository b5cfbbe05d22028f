import type { Foreign } from '../../kubernetes/objects.ts'
import type { WantedObject } from '../../model/kube-object.ts'
import type { Resource } from '../../model/resource.ts'
import type { Readiness } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'

/** What a look brings of one object. Values of Secrets are never in it. */
export interface ObjectLook {
  readonly object: Foreign
  /** Keys of a Secret whose values are not the declared ones. */
  readonly secretsDiffer?: readonly string[]
  /** What the one shows by whom the object is or will be kept. */
  readonly keeper?: KeeperLook
  /** Of a HelmChart: the job that installs it, and what became of it. */
  readonly install?: InstallLook
  /** Of a HelmChart that is declared no more: definitions that its release takes with it, and all objects of them. */
  readonly definitions?: readonly string[]
}

export interface InstallLook {
  readonly state: 'running' | 'complete' | 'failed'
  /** Its uid: a chart that changes gets a new job. */
  readonly job: string
  /** How often it was tried and failed so far. */
  readonly failures: number
  /** What the release brought to run, and how each of it is. */
  readonly workloads: readonly ChartWorkload[]
}

export interface ChartWorkload {
  /** `Deployment cert-manager/cert-manager-webhook`. */
  readonly what: string
  readonly readiness: Readiness
}

/** An Application, HelmRelease or Kustomization, as far as handing over needs it. */
export interface KeeperLook {
  readonly there: boolean
  readonly synced: boolean
  readonly healthy: boolean
  readonly message: string
}

export function lookOf(sighting: Sighting): ObjectLook {
  return (sighting.close?.config.look as ObjectLook | undefined) ?? { object: {} }
}

export function wantedOf({ desired, key }: Resource): WantedObject {
  if (desired.type !== 'object') throw new Error(`${key} is no object of a cluster`)
  return desired.object
}
