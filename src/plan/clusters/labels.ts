import { changeText, labelChange } from '../../k3s/node-labels.ts'
import { type ClusterFinding, merge, NOTHING, stepOn } from './finding.ts'
import { isLeftAsFound } from './taken-over.ts'
import { type ClusterSituation, kubeOf, type NodeView } from './view.ts'

/** Labels and taints are set through the API and restart nothing. A Node that another step writes has its turn later. */
export function labelled(view: ClusterSituation, { steps }: ClusterFinding): ClusterFinding {
  const { api, requests } = view.observed
  if (requests.hold !== undefined || api !== 'yes') return NOTHING
  const taken = new Set(steps.map(({ node }) => node))
  return merge(
    [...view.servers, ...view.agents].map((node) => {
      const change = taken.has(node.name) ? undefined : labelsToSet(view, node)
      if (change === undefined) return NOTHING
      return stepOn(view, node, 'label-node', {
        summary: `set on ${node.name}: ${change}`,
        reason: 'its labels and taints are not as declared',
        awaits: `${node.name} with the declared labels and taints`,
      })
    }),
  )
}

/** What differs on a node, for a person. */
export function labelsToSet(view: ClusterSituation, node: NodeView): string | undefined {
  const seen = kubeOf(node)?.labels
  if (seen === undefined || node.spec === undefined || node.becomes !== undefined || isLeftAsFound(view, node))
    return undefined
  const change = labelChange(node.spec, seen)
  return change === undefined ? undefined : changeText(change)
}
