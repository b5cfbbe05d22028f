import type { z } from 'zod'
import type { Steps } from '../lib/in-turns.ts'
import type { Declaration, Policy, ResourceKey } from '../model/declaration.ts'
import type { ClusterDeclaration, Connection, KeptChoices } from '../model/estate.ts'
import type { HealthCheckSpec } from '../model/health-check.ts'
import type { PowerDeclaration } from '../model/power.ts'
import type { Desired, Placement } from '../model/resource.ts'

/** A manifest after YAML, before its kind has looked at it. `spec` is a plain tree with prototype-free maps. */
export interface RawManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: unknown
}

/** Something wrong, at a path inside the document: the source turns the path into file:line:column. */
export interface FieldProblem {
  readonly code: string
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly hint?: string
  readonly severity?: 'error' | 'warning'
}

/** One of several resources of a declaration: `Image/noble@fun-bedbug`. */
export interface Part {
  readonly key: ResourceKey
  readonly connection?: string
  readonly desired: Desired
  readonly needs: readonly ResourceKey[]
  readonly placement?: Placement
  /** Made only if another resource needs it. */
  readonly justInCase?: true
  /** The identity of the resource, if it is not its declaration: for the machine of a cluster's node. */
  readonly as?: {
    readonly kind: string
    readonly name: string
    readonly policy: Policy
    readonly generation: string
    /** Path in the declaration. */
    readonly path: readonly (string | number)[]
  }
}

export type Expanded =
  /** This kind says how something is reached. */
  | { readonly role: 'connection'; readonly connection: Connection }
  /** This kind is looked up by others and makes nothing itself. */
  /** `idle`: the connection of a host with nothing to configure now. */
  | { readonly role: 'fact'; readonly idle?: Connection }
  /** This kind is kept by a driver. `connection` is the name it asked for, or undefined for "the only one there is". */
  | {
      readonly role: 'resource'
      readonly connection?: string
      readonly desired: Desired
      readonly needs: readonly ResourceKey[]
      readonly placement?: Placement
      /** Does not refuse the declaration. */
      readonly warnings?: readonly FieldProblem[]
    }
  /** One declaration with several resources (an image on each host), each with its own key and so its own uid. */
  | { readonly role: 'resources'; readonly parts: readonly Part[]; readonly warnings?: readonly FieldProblem[] }
  /** A K3s cluster with the machines that are made for it. */
  | {
      readonly role: 'cluster'
      readonly cluster: Omit<ClusterDeclaration, 'estate'>
      readonly parts: readonly Part[]
      /** A machine for a while: it is declared only when the engine says so. */
      readonly drill?: Part
      readonly warnings?: readonly FieldProblem[]
    }
  /** A cluster or site that is switched off and on. */
  | { readonly role: 'power'; readonly power: PowerDeclaration; readonly warnings?: readonly FieldProblem[] }
  /** A check whether something works. */
  | { readonly role: 'check'; readonly name: string; readonly check: HealthCheckSpec }

/** The objects at a place that a declaration names. */
export type ObjectsAt =
  | { readonly objects: readonly unknown[] }
  | { readonly problem: string; readonly hint?: string; readonly unbuilt?: Unbuilt }

/** A kustomization that waits for what other repositories and charts hold: its files, and the places of those. */
export interface Unbuilt {
  readonly directory: string
  readonly texts: ReadonlyMap<string, string>
  readonly bytes: ReadonlyMap<string, Uint8Array>
  readonly places: readonly string[]
}

/** Lookups of a kind while it expands. */
export interface Lookup {
  declaration(kind: string, name: string, namespace?: string): Declaration | undefined
  all(kind: string): readonly Declaration[]
  /** Objects of manifests in files, or fetched ones, at the path or address that this declaration names in its source. */
  objectsAt?(place: string, of: Declaration): ObjectsAt | undefined
  /** Reports whether its source has a grant. Such a source cannot take anything from one without. */
  isBounded?(declaration: Declaration): boolean
  /** Reports whether both have the same source, or the first may use all sources. */
  mayUse?(declaration: Declaration, other: Declaration): boolean
  /** Observed values that the machines' declarations leave to croft. Absent: not observed. */
  readonly kept?: KeptChoices
}

/** One kind of declaration. One file, one registry line, one docs page. */
export interface Kind<Spec = unknown> {
  readonly kind: string
  /** Exact apiVersions, or for Crossplane every group that ends so: matched by `accepts`. */
  readonly apiVersion: string
  accepts(apiVersion: string): boolean
  readonly plural: string
  /** Reports whether the kind is namespaced. Otherwise metadata.namespace is left out of the key. */
  namespaced?(apiVersion: string): boolean
  readonly shortNames: readonly string[]
  /** One line for `croft explain` and the docs. */
  readonly summary: string
  /** Strict: unknown keys are errors. Types and the JSON Schema come from it; descriptions/ explains the fields. */
  readonly schema: z.ZodType<Spec>
  /** Other names that a field may have in the source (`networkDevice: 'network'`), to find its place. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Paths of a manifest's dependencies: absent for kinds that are only looked up by others. */
  readonly orderedBy?: { readonly dependsOn: readonly string[]; readonly readyWhen: readonly string[] }
  /** Checks across fields that a schema cannot say. */
  check?(spec: Spec, manifest: RawManifest): readonly FieldProblem[]
  policy(spec: Spec, manifest: RawManifest): Policy
  /** About how many things it would expand into, counted without expanding it. Absent: few. */
  size?(declaration: Declaration<Spec>, lookup: Lookup): number
  /** As `expand`, in steps, for kinds that may expand into thousands of resources. */
  expanding?(declaration: Declaration<Spec>, lookup: Lookup): Steps<ReturnType<Kind<Spec>['expand']>>
  /** Turns one declaration into what a driver keeps. Problems refuse this declaration only. */
  expand(declaration: Declaration<Spec>, lookup: Lookup): Expanded | { readonly problems: readonly FieldProblem[] }
}
