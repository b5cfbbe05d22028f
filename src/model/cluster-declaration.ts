import type { ClusterSpec } from './cluster.ts'
import type { HealthCheckSpec } from './health-check.ts'
import type { ResourceKey } from './key.ts'
import type { Origin } from './origin.ts'
import type { Policy } from './policy.ts'
import type { Resource } from './resource.ts'
import type { SshTarget } from './ssh-target.ts'

/** A cluster as Git declares it, with what is needed to reach and build its nodes. */
export interface ClusterDeclaration {
  readonly key: ResourceKey
  readonly name: string
  readonly estate: string
  readonly spec: ClusterSpec
  /** Where K3s comes from: tried in order, `{version}` and `{arch}` filled in. */
  readonly artifacts: readonly ArtifactSource[]
  /** SHA-256 of the program by `v1.34.3+k3s1/amd64`; what is not here is read from the release or its mirror. */
  readonly checksums?: Readonly<Record<string, string>>
  /** Boxes that were there before, by the name in `NodeMachine.host`. */
  readonly hosts: ReadonlyMap<string, SshTarget>
  /** Every other box that is declared: one that was a node before is reached this way to take K3s off it. */
  readonly otherHosts?: ReadonlyMap<string, SshTarget>
  /** What a node waits for before K3s may start for the first time: seconds by gate, and a name that must be found. */
  readonly gates?: { readonly deadlines: Readonly<Record<string, number>>; readonly dnsName?: string }
  /** What `upgrade.healthChecks` names, by name. */
  readonly healthChecks?: Readonly<Record<string, HealthCheckSpec>>
  /** The machine that a backup is tried on. Made when that is due, and destroyed after it. */
  readonly drill?: Resource
  /** HTTP proxy on the way to the Kubernetes API; else HTTPS_PROXY and NO_PROXY say. */
  readonly proxy?: string
  /** Where people find it: `vault` beside the store, or a SOPS file of the repository. */
  readonly policy: Policy
  readonly origin: Origin
  readonly generation: string
}

export type ArtifactSource =
  | { readonly release: true }
  /** Base address of a mirror with the layout of the official releases. */
  | { readonly mirror: string }
  /** Already on the node, put there with the image. */
  | { readonly file: string }
