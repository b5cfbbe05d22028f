import type { ClusterDeclaration } from './cluster-declaration.ts'
import type { Origin } from './origin.ts'
import type { SecretReference } from './secret.ts'
import type { SshTarget } from './ssh-target.ts'

/** How an outside system is reached. Declared in Git; secrets only by reference. */
export interface Connection {
  readonly name: string
  /** Which driver speaks to it. */
  readonly driver: string
  readonly endpoint: string
  /** SHA-256 of the server certificate, `AA:BB:…`. Without it the system's trust store decides. */
  readonly fingerprint?: string
  /** Where the system is reached by a token of its API. */
  readonly token?: SecretReference
  /** Where address and token are both inside one secret: that of a Crossplane ProviderConfig. */
  readonly credentials?: SecretReference
  /** Where it is reached over SSH, or is this very computer. */
  readonly ssh?: SshTarget
  /** How its hosts are reached over SSH, by what it calls them: for the little that it lets only root do. */
  readonly hosts?: Readonly<Record<string, SshTarget>>
  /** Where it is the API of a cluster that croft keeps: what is needed to find the way there. */
  readonly cluster?: ClusterDeclaration
  /** Where it is the API of a cluster that somebody else runs. */
  readonly existing?: ExistingCluster
  /** Separates two repositories that manage the same system; part of every uid. */
  readonly estate: string
  /** External ids that croft may choose from when a declaration names none. */
  readonly ids: { readonly from: number; readonly to: number }
  readonly limits: { readonly perHost: number; readonly perStorage: number; readonly reads: number }
  readonly origin: Origin
}

/** How the API of a cluster that croft does not run is reached. Without a kubeconfig: as the pod that croft is in. */
export interface ExistingCluster {
  readonly name: string
  readonly kubeconfig?: SecretReference
  readonly context?: string
  /** HTTP proxy on the way; else HTTPS_PROXY and NO_PROXY say. */
  readonly proxy?: string
}

/** What a cluster is called, whoever runs it. */
export function clusterName({ cluster, existing, name }: Connection): string {
  return cluster?.name ?? existing?.name ?? name
}
