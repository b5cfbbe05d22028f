import { changeText, evictsPods, type LabelChange, labelChange } from '../../k3s/node-labels.ts'
import { EVICTS_PODS } from '../../model/observed-cluster.ts'
import { type ClusterFinding, isEmpty, merge, NOTHING, stepOn, waitFor } from './finding.ts'
import { rolloutId } from './rollout.ts'
import { isLeftAsFound } from './taken-over.ts'
import { mayBegin } from './upgrade.ts'
import { type ClusterSituation, kubeOf, type NodeView } from './view.ts'

/**
 * Sets labels and taints through the API, without a restart. A Node that another step writes comes later. A taint that
 * evicts pods is a disruption: one node at a time, under the rules of a rollout.
 */
export function labelled(view: ClusterSituation, finding: ClusterFinding): ClusterFinding {
  const { api, requests } = view.observed
  if (requests.hold !== undefined || api !== 'yes') return NOTHING
  const taken = new Set(finding.steps.map(({ node }) => node))
  const due = [...view.servers, ...view.agents].flatMap((node): LabelsDue[] => {
    const change = taken.has(node.name) ? undefined : labelsToSet(view, node)
    return change === undefined ? [] : [{ node, change }]
  })
  const [next] = due.filter(({ change }) => evictsPods(change))
  return merge([
    ...due.filter(({ change }) => !evictsPods(change)).map((one) => stepFor(view, one)),
    next === undefined ? NOTHING : inTurn(view, finding, next),
  ])
}

interface LabelsDue {
  readonly node: NodeView
  readonly change: LabelChange
}

/** Returns the labels and taints that differ on a node. */
export function labelsToSet(view: ClusterSituation, node: NodeView): LabelChange | undefined {
  const seen = kubeOf(node)?.labels
  if (seen === undefined || node.spec === undefined || node.becomes !== undefined || isLeftAsFound(view, node))
    return undefined
  return labelChange(node.spec, seen)
}

function inTurn(view: ClusterSituation, { steps, waits, holds }: ClusterFinding, due: LabelsDue): ClusterFinding {
  const { node, change } = due
  const text = changeText(change)
  const turn = waitFor({ node: node.name, awaits: `its turn for ${text}, which evicts pods`, sinceMs: view.nowMs })
  const isBusy = [...view.servers, ...view.agents].some((one) => kubeOf(one)?.work !== undefined)
  if (isBusy || steps.length > 0) return turn
  const held = mayBegin(view, node, { purpose: 'configure', target: text }, [], rolloutId(view.spec))
  if (isEmpty(held)) return stepFor(view, due)
  // A rollout that waits for the same already reports it.
  return {
    ...merge([turn, held]),
    holds: held.holds.filter(({ reason }) => !holds.some((said) => said.reason === reason)),
    waits: [...turn.waits, ...held.waits.filter(({ awaits }) => !waits.some((said) => said.awaits === awaits))],
  }
}

function stepFor(view: ClusterSituation, { node, change }: LabelsDue): ClusterFinding {
  const evicts = evictsPods(change)
  return stepOn(view, node, 'label-node', {
    ...(evicts ? { target: EVICTS_PODS } : {}),
    summary: `set on ${node.name}: ${changeText(change)}${evicts ? ', which evicts the pods that do not tolerate it' : ''}`,
    reason: 'its labels and taints are not as declared',
    awaits: `${node.name} with the declared labels and taints`,
  })
}
