import type { Tree } from '../object.ts'

type Labels = Readonly<Record<string, string>>

/** What a chart brings, as far as others notice. */
export interface ChartFacts {
  readonly workloads: readonly WorkloadFacts[]
  readonly services?: readonly ServiceFacts[]
  /** Jobs that Helm waits for before it goes on. */
  readonly hooks?: readonly HookFacts[]
  readonly webhooks?: readonly WebhookFacts[]
}

export interface WorkloadFacts {
  readonly kind: 'DaemonSet' | 'Deployment' | 'StatefulSet'
  readonly name: string
  readonly selector: Labels
  /** Labels of its pods beside those of the selector. */
  readonly podLabels?: Labels
  /** Its own labels; those of its pods where nothing is said. */
  readonly labels?: Labels
  /** Its pods carry the labels that name the version of the chart: all of them, or the chart alone. */
  readonly podsSayVersion?: 'all' | 'chart'
  /** Which value says how many, and how many without it. */
  readonly replicas?: readonly [path: string, otherwise: number]
  readonly priority?: string
  readonly tolerations?: readonly Tree[]
  readonly hostNetwork?: true
  readonly nodeSelector?: Labels
  /** No two pods with these labels on one node. */
  readonly apart?: Labels
  readonly containers: readonly string[]
}

interface ServiceFacts {
  readonly name: string
  readonly selector: Labels
  readonly ports: readonly number[]
  readonly type?: 'LoadBalancer'
  readonly headless?: true
}

interface HookFacts {
  readonly when: 'pre-install' | 'post-install'
  readonly name: string
  /** Removed when it has succeeded. */
  readonly goes?: true
}

interface WebhookFacts {
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration'
  readonly name: string
  readonly hooks: readonly { readonly name: string; readonly service: string; readonly rules: readonly Tree[] }[]
}
