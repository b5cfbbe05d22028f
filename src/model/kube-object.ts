import type { SecretReference } from './secret.ts'

/** An object of the Kubernetes API as it is declared: what stands in it is kept, what does not is nobody's business. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

/** Who keeps an object once its cluster stands, in croft's place. */
export type HandoverTarget = 'argocd' | 'flux'

/** One object of a cluster, with what a person allows there. */
export interface WantedObject {
  /** Name of the Cluster. */
  readonly cluster: string
  readonly addon: string
  readonly object: KubeObject
  /** Its name in paths: `deployments`. A guess for kinds that only the cluster knows; it is asked before it is used. */
  readonly plural: string
  /** Values of `data` of a Secret, by their keys: never part of the object itself. */
  readonly secrets?: Readonly<Record<string, SecretReference>>
  /** CEL over the object: what must hold besides the rules of its kind. */
  readonly ready?: string
  /** Take fields from whoever keeps them. */
  readonly force?: true
  /** Take over an object that is there already and that croft did not make. */
  readonly adopt?: true
  readonly deletion: 'Delete' | 'Orphan'
  /** Of a chart that may take its definitions with it when it goes, and everything of their kinds. */
  readonly definitions?: 'Delete'
  readonly handover?: Handover
  readonly hook?: ObjectHook
}

/** Of a chart that croft renders itself: an object that Helm would make before or after the others. */
export interface ObjectHook {
  readonly phase: 'pre' | 'post'
  /** Of a Job or Pod: which rendering it belongs to. With another one it is taken away and run again. */
  readonly run?: string
}

/** The annotation that says which run of a hook an object is. */
export const HOOK_RUN = 'croft.dev/run'

export interface Handover {
  readonly to: HandoverTarget
  /** The object by which the other keeps it: an Application, a HelmRelease, a Kustomization. */
  readonly by: KubeObject
}

/** `apps/v1 Deployment`: the list in which objects of a kind are found. */
export function objectList({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`
}

/** `Deployment.apps/kube-system/coredns`: its name in its cluster, whatever version of its kind is spoken. */
export function objectId({ apiVersion, kind, metadata }: KubeObject): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : []
  const sort = group === undefined ? kind : `${kind}.${group}`
  return [sort, ...(metadata.namespace === undefined ? [] : [metadata.namespace]), metadata.name].join('/')
}
