import type { NodeSpec } from '../model/cluster.ts'
import type { LabelSet, NodeLabels } from '../model/observed-cluster.ts'

export interface LabelChange {
  readonly set: Readonly<Record<string, string>>
  readonly remove: readonly string[]
  readonly addTaints: readonly string[]
  readonly removeTaints: readonly string[]
}

type Declared = Pick<NodeSpec, 'labels' | 'taints'>

/**
 * Returns the changes from a Node's labels and taints to the declared ones; undefined if there are none. Removes only
 * those that croft set, unchanged: those of people and other controllers stay. Until the first note, the arguments that
 * K3s was started with count as croft's: they show for months what a node joined with.
 */
export function labelChange(declared: Declared, seen: NodeLabels): LabelChange | undefined {
  const noted = seen.noted ?? seen.started
  const set = Object.entries(declared.labels).filter(([key, value]) => own(seen.labels, key) !== value)
  const remove = Object.entries(noted.labels).filter(
    ([key, value]) => !(key in declared.labels) && own(seen.labels, key) === value,
  )
  const there = new Set(seen.taints.map(taintText))
  const wanted = declared.taints.map(taintText)
  const addTaints = wanted.filter((taint) => !there.has(taint))
  const gone = noted.taints.map(taintText)
  const removeTaints = [...there].filter(
    (taint) =>
      !wanted.includes(taint) &&
      // A node has one taint of a key and effect: another value takes its place.
      (gone.includes(taint) || addTaints.some((added) => placeOf(added) === placeOf(taint))),
  )
  const isNoted = seen.noted === undefined ? isEmptySet(declared) : isSame(declared, noted)
  if (set.length + remove.length + addTaints.length + removeTaints.length === 0 && isNoted) return undefined
  return { set: Object.fromEntries(set), remove: remove.map(([key]) => key).sort(), addTaints, removeTaints }
}

/** Reports whether the change makes pods leave the node: NoExecute evicts at once, ignoring disruption budgets. */
export function evictsPods({ addTaints }: LabelChange): boolean {
  return addTaints.some((taint) => taint.endsWith(':NoExecute'))
}

/** `gpu=db:NoSchedule`, as K3s and kubectl write it. One without a value has no `=`. */
export function taintText(taint: string): string {
  return taint.replace(/^([^=:]+)=:/, '$1:')
}

/** `key:Effect`. */
function placeOf(taint: string): string {
  return taint.replace(/^([^=:]+)(=[^:]*)?:/, '$1:')
}

/** Describes a change: `label room=cellar, without taint gpu:NoSchedule`. */
export function changeText({ set, remove, addTaints, removeTaints }: LabelChange): string {
  const words = [
    ...Object.entries(set).map(([key, value]) => `label ${key}=${value}`),
    ...remove.map((key) => `without label ${key}`),
    ...addTaints.map((taint) => `taint ${taint}`),
    ...removeTaints.map((taint) => `without taint ${taint}`),
  ]
  return words.length === 0 ? "a note of which labels and taints are croft's" : words.join(', ')
}

function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}

function isEmptySet({ labels, taints }: Declared): boolean {
  return Object.keys(labels).length + taints.length === 0
}

function isSame(declared: Declared, noted: LabelSet): boolean {
  return JSON.stringify(sorted(declared)) === JSON.stringify(sorted(noted))
}

/** Returns the form of the note on the Node. */
export function sorted({ labels, taints }: Declared): LabelSet {
  return {
    labels: Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))),
    taints: taints.map(taintText).sort(),
  }
}
