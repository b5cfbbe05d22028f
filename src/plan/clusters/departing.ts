import { type ClusterFinding, NOTHING } from './finding.ts'
import { keptForItsData } from './node-data.ts'
import { giveBack } from './node-work.ts'
import { isDue } from './orders.ts'
import { leaves, whyLeaving } from './removals.ts'
import { departure } from './replace.ts'
import { isAborted, rolloutOf, wantedChange } from './rollout.ts'
import { type ClusterSituation, isWell, kubeOf, localOf, type NodeView } from './view.ts'

/** Continues a node that is marked as leaving, or uncordons it if that is no longer wanted. */
export function departing(view: ClusterSituation, node: NodeView): ClusterFinding {
  const purpose = kubeOf(node)?.work?.purpose
  if (purpose === 'upgrade' || purpose === 'configure' || purpose === 'restart') return lostToRollout(view, node)
  if (purpose !== 'replace' && purpose !== 'remove' && purpose !== 'remediate') return NOTHING
  const untouched = isWell(node) && (localOf(node)?.service ?? 'running') === 'running'
  const reason = noLongerWanted(view, node, purpose)
  if (untouched && reason !== undefined) return giveBack(view, node, reason)
  if (purpose === 'remediate' && keptForItsData(view, node, WHY.remediate) !== undefined)
    return giveBack(view, node, 'its machine may not go without a word about its data')
  return departure(view, node, purpose, purpose === 'remove' ? whyLeaving(node) : WHY[purpose])
}

/** A node under a rollout that cannot finish: a person wants it replaced, or its machine or data is gone. */
function lostToRollout(view: ClusterSituation, node: NodeView): ClusterFinding {
  if (isDue(view, node)) return departure(view, node, 'replace', 'a person asked for it')
  if (node.machine.exists === 'no' || localOf(node)?.data === 'none') {
    return departure(view, node, 'replace', 'its machine is gone')
  }
  if (node.spec !== undefined) return NOTHING
  return isWell(node) ? giveBack(view, node, WHY.remove) : departure(view, node, 'remove', WHY.remove)
}

const WHY = {
  replace: 'it is being replaced',
  remove: 'it is no longer declared',
  remediate: 'it was dead',
} as const

function noLongerWanted(view: ClusterSituation, node: NodeView, purpose: keyof typeof WHY): string | undefined {
  switch (purpose) {
    case 'remediate':
      return 'it came back by itself'
    case 'remove':
      return leaves(node) ? undefined : 'it is declared again'
    case 'replace': {
      if (isDue(view, node)) return undefined
      const wanted = isAborted(view) ? undefined : wantedChange(view, node, rolloutOf(view))
      const byRollout = view.spec.upgrade.method === 'replace' && wanted?.purpose === 'upgrade'
      return byRollout ? undefined : 'the request to replace it was withdrawn'
    }
  }
}
