import type { RemoteTask } from '../model/resource.ts'
import type { Secret } from '../model/secret.ts'
import type { HelmWrite } from '../model/step.ts'

/** The current login to a cluster that croft does not manage: the content of a kubeconfig. */
export interface KubernetesLogin {
  readonly endpoint: string
  readonly caPem?: string
  readonly token?: Secret
  readonly client?: { readonly certificatePem: string; readonly key: Secret }
  readonly proxy?: string
}

/** One run of Helm, with everything that it is given. */
export interface HelmRun {
  /** Name of the Cluster. */
  readonly cluster: string
  readonly write: HelmWrite
  /** What `write.valuesFrom` refers to. */
  readonly secretValues?: Secret
  readonly login: KubernetesLogin
}

/** The person's own Helm, which keeps releases on clusters that have no controller for them. */
export interface HelmReleases {
  /** Begins a run and says its name; undefined: there is no Helm on this computer. */
  begin(run: HelmRun): Promise<string | undefined>
  /** Runs on a cluster, those included that have ended and were not asked for since. */
  tasks(cluster: string): readonly RemoteTask[]
  outcome(taskId: string): RemoteTask | undefined
  /** Objects in the manifest of a release, or one document of values. Anybody may have written it. */
  read(text: string): Promise<{ readonly objects: readonly unknown[] } | { readonly problem: string }>
}
