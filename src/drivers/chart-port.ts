import type { Secret } from '../model/secret.ts'

/** The source of a chart. */
export interface ChartPlace {
  /** Undefined for a chart in a registry (oci://). */
  readonly repo?: string
  readonly chart: string
  /** For a chart in a Git repository: `chart` is its directory there. */
  readonly git?: { readonly url: string; readonly commit: string }
}

/** All inputs of a chart's rendering. */
export interface ChartRequest extends ChartPlace {
  readonly version: string
  /** The release's name and namespace. */
  readonly release: string
  readonly namespace: string
  /** A YAML document, or nothing. */
  readonly values: string
  /** Secret values: only their presence matters, their content is never shown. */
  readonly hidden?: Secret
  /** `1.34.3`, for charts that read it. */
  readonly kubeVersion?: string
  /** The cluster's kinds beyond the built-in ones, for charts that read them. */
  readonly apiVersions?: readonly string[]
  /** Output in addition to plain objects. Default: definitions and hooks, no tests. */
  readonly output?: { readonly crds: boolean; readonly tests: boolean; readonly hooks: boolean }
  /** The release is installed: templates can read that, and definitions beside them are not written again. */
  readonly upgrade: boolean
}

/** One object that a chart's templates rendered. Foreign: its form is unchecked. */
export type RenderedObject = Readonly<Record<string, unknown>>

export type Rendering =
  | {
      readonly is: 'objects'
      readonly objects: readonly RenderedObject[]
      /** A second rendering that differed from the first: the templates use random values or the time. */
      readonly again?: readonly RenderedObject[]
    }
  /** No Helm is installed on this computer. */
  | { readonly is: 'no-helm' }
  | { readonly is: 'failed'; readonly message: string }

/** Renders a chart's objects while planning. K3s renders its charts in the cluster with its own Helm. */
export interface ChartRenderer {
  /** Whether a chart may come from a place that no cluster uses yet. Not for plans that any person may propose. */
  readonly newPlaces: boolean
  render(request: ChartRequest, signal: AbortSignal): Promise<Rendering>
}
