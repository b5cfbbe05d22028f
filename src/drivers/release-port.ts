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

/** One run of Helm, with all its inputs. */
export interface HelmRun {
  /** Name of the Cluster. */
  readonly cluster: string
  readonly write: HelmWrite
  /** The content of `write.valuesFrom`. */
  readonly secretValues?: Secret
  readonly login: KubernetesLogin
}

/** The local Helm, which manages releases on clusters without a controller for them. */
export interface HelmReleases {
  /** Starts a run and returns its id; undefined: no Helm is installed on this computer. */
  begin(run: HelmRun): Promise<string | undefined>
  /** Returns the runs on a cluster, including ended ones that were not read since. */
  tasks(cluster: string): readonly RemoteTask[]
  outcome(taskId: string): RemoteTask | undefined
  /** Parses a release's manifest, or one document of values. Untrusted input. */
  read(text: string): Promise<{ readonly objects: readonly unknown[] } | { readonly problem: string }>
}
