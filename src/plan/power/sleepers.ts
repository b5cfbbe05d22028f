import { merge, NOTHING, type PowerFinding } from './finding.ts'
import { nodesOf, type PowerSituation, waited } from './view.ts'

/** The awaited event of an on-demand node. */
export const IDLE = 'nothing to run'

/** Counts the idle time of on-demand nodes that are on. */
export function idleNodes(view: PowerSituation): PowerFinding {
  const idle = nodesOf(view).filter(
    (node) =>
      node.onDemand &&
      node.role === 'agent' &&
      node.power === 'on' &&
      node.kube === 'ready' &&
      node.podsToMove === 0 &&
      !view.targets.nodes.has(node.name),
  )
  return merge(
    idle.map(({ name }) => {
      const waitedMs = waited(view, 'workers', name, IDLE)
      const leftMs = Math.max(0, view.spec.idleMs - waitedMs)
      return { ...NOTHING, waits: [{ tier: 'workers', what: name, awaits: IDLE, waitedMs, leftMs }] }
    }),
  )
}
