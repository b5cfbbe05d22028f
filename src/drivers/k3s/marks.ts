import { recordOf, textsOf, timeOf } from '../../kubernetes/objects.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import type { WorkPurpose } from '../../model/cluster.ts'
import type { KubeNode, LabelSet, NodeWork } from '../../model/observed-cluster.ts'

/** croft's keys on a Node. A rollout has no other memory. */
export const MARKS = {
  work: 'croft.dev/work',
  changed: 'croft.dev/changed',
  givenUp: 'croft.dev/drain-given-up',
  configHash: 'croft.dev/config-hash',
  labels: 'croft.dev/labels',
} as const

/** K3s's own keys on a Node. */
export const K3S_MARKS = {
  etcdName: 'etcd.k3s.cattle.io/node-name',
  remove: 'etcd.k3s.cattle.io/remove',
  removedName: 'etcd.k3s.cattle.io/removed-node-name',
  args: 'k3s.io/node-args',
} as const

const PURPOSES: readonly WorkPurpose[] = ['upgrade', 'configure', 'restart', 'replace', 'remove', 'remediate']

export function formatWork(work: NodeWork): string {
  return JSON.stringify({
    purpose: work.purpose,
    target: work.target,
    since: isoTime(work.sinceMs),
    cordoned: work.cordoned,
    ...(work.changedMs === undefined ? {} : { changed: isoTime(work.changedMs) }),
  })
}

/** Returns undefined without a mark. An unreadable mark counts as one: its author wanted to stop croft. */
export function readWork(text: string | undefined): NodeWork | undefined {
  if (text === undefined) return undefined
  const value = recordIn(text)
  const changedMs = timeOf(value?.changed)
  return {
    purpose: PURPOSES.find((purpose) => purpose === value?.purpose) ?? 'configure',
    target: typeof value?.target === 'string' ? value.target : '',
    sinceMs: timeOf(value?.since) ?? 0,
    cordoned: value?.cordoned === true,
    ...(changedMs === undefined ? {} : { changedMs }),
  }
}

/** Returns undefined if missing or unreadable: then only K3s's flags show what croft set. */
export function readLabelSet(text: string | undefined): LabelSet | undefined {
  const value = recordIn(text ?? '')
  if (value === undefined) return undefined
  const labels = Object.entries(recordOf(value.labels)).flatMap(([key, one]) =>
    typeof one === 'string' ? [[key, one] as const] : [],
  )
  return { labels: Object.fromEntries(labels), taints: textsOf(value.taints) }
}

export function formatGivenUp(target: string, atMs: number): string {
  return JSON.stringify({ target, at: isoTime(atMs) })
}

export function readGivenUp(text: string | undefined): KubeNode['drainGivenUp'] {
  const value = recordIn(text ?? '')
  if (typeof value?.target !== 'string') return undefined
  return { target: value.target, atMs: timeOf(value.at) ?? 0 }
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
