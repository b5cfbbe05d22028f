import type { ResourceKey } from './key.ts'
import type { Origin } from './origin.ts'
import type { Policy } from './policy.ts'

/** The instance of a composed API (`K3sNode/agent-1`) that became a declaration, and what says so. */
export interface ComposedBy {
  readonly instance: ResourceKey
  /** `ResourceGraphDefinition/k3snode`, `Composition/k3snode`. */
  readonly definition: string
  /** Where the instance is written. The declaration's own origin is its template. */
  readonly origin: Origin
}

/** A parsed and valid manifest with its origin. `spec` has the shape that its kind's schema gives it. */
export interface Declaration<Spec = unknown> {
  readonly key: ResourceKey
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Spec
  readonly policy: Policy
  readonly origin: Origin
  /** Hash of everything that matters to reconciling (not of comments or position): changes when the meaning does. */
  readonly generation: string
  readonly composedBy?: ComposedBy
}
