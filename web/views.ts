import type { IconName } from './parts/icon.tsx'

/** The views in the order of the navigation; `key` follows g on the keyboard. */
export const VIEWS: readonly {
  readonly view: string
  readonly title: string
  readonly key: string
  readonly icon: IconName
}[] = [
  { view: 'overview', title: 'Overview', key: 'o', icon: 'overview' },
  { view: 'estate', title: 'Estate', key: 'e', icon: 'estate' },
  { view: 'graph', title: 'Graph', key: 'g', icon: 'graph' },
  { view: 'clusters', title: 'Clusters', key: 'c', icon: 'cluster' },
  { view: 'plan', title: 'Plan', key: 'p', icon: 'plan' },
  { view: 'drift', title: 'Drift', key: 'd', icon: 'drift' },
  { view: 'timeline', title: 'Timeline', key: 't', icon: 'timeline' },
  { view: 'health', title: 'Health', key: 'h', icon: 'health' },
  { view: 'power', title: 'Power', key: 'w', icon: 'power' },
]
