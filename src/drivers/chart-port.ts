import type { Secret } from '../model/secret.ts'

/** Where a chart comes from. */
export interface ChartPlace {
  /** Undefined for a chart of a registry, whose name begins with oci://. */
  readonly repo?: string
  readonly chart: string
  /** For a chart in a Git repository: `chart` is its directory there. */
  readonly git?: { readonly url: string; readonly commit: string }
}

/** Everything that decides what comes out of a chart. */
export interface ChartRequest extends ChartPlace {
  readonly version: string
  /** The name of the installation, and its namespace. */
  readonly release: string
  readonly namespace: string
  /** A YAML document, or nothing. */
  readonly values: string
  /** Values that nobody may see: only which of them there are is used, never what they are. */
  readonly hidden?: Secret
  /** `1.34.3`: charts ask for it. */
  readonly kubeVersion?: string
  /** Kinds of the cluster beyond those that every one has: charts ask for them. */
  readonly apiVersions?: readonly string[]
  /** What of it is wanted besides its plain objects; without a word: definitions and hooks, no tests. */
  readonly output?: { readonly crds: boolean; readonly tests: boolean; readonly hooks: boolean }
  /** It is installed already: templates may ask for that, and definitions beside them are not written again. */
  readonly upgrade: boolean
}

/** One object as a chart makes it. Foreign: whatever the templates wrote. */
export type RenderedObject = Readonly<Record<string, unknown>>

export type Rendering =
  | {
      readonly is: 'objects'
      readonly objects: readonly RenderedObject[]
      /** The same once more, where it came out another way: its templates roll dice or look at the clock. */
      readonly again?: readonly RenderedObject[]
    }
  /** There is no Helm on this computer. */
  | { readonly is: 'no-helm' }
  | { readonly is: 'failed'; readonly message: string }

/** Makes the objects of a chart where the plan is made. What K3s makes in the cluster is made there, by its own Helm. */
export interface ChartRenderer {
  /** May a chart be fetched from a place from which no cluster has it yet? Not for what anybody may propose. */
  readonly newPlaces: boolean
  render(request: ChartRequest, signal: AbortSignal): Promise<Rendering>
}
