import { changeText, evictsPods } from '../../k3s/node-labels.ts'
import type { NodeRole } from '../../model/cluster.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import { isUnasked } from './bootstrap.ts'
import { labelsToSet } from './labels.ts'
import { isDue } from './orders.ts'
import { movedNode, movedServer, rolloutOf, wantedChange } from './rollout.ts'
import { isLeftAsFound } from './taken-over.ts'
import { type ClusterSituation, kubeOf, type NodeView, viewOf } from './view.ts'

/** The future of one node once everything declared is true. */
export interface NodeForecast {
  readonly name: string
  readonly role: NodeRole
  readonly becomes: 'nothing' | 'joins' | 'leaves' | 'changes' | 'replaced'
  /** One line for display. */
  readonly text: string
  /** The node's future is unknown: the plan promises nothing. */
  readonly unknown?: true
  /** The plan neither drains nor restarts this node. */
  readonly runsOn?: true
  /** The node gets a taint that evicts pods. */
  readonly evicts?: true
}

/**
 * Returns the future of each node, which a person agrees to. The steps on the way are computed one at a time from the
 * observation; this says where they end.
 */
export function forecast({ declaration, observed, refused }: ClusterPlan): readonly NodeForecast[] {
  const view = viewOf(declaration.spec, observed, 0)
  return [...view.servers, ...view.agents].map((node) => {
    const fate = fateOf(view, node)
    const stays = (fate.becomes === 'joins' || fate === UNASKED) && refused?.has(node.name) === true
    const labels = fate.becomes === 'changes' ? labelsToSet(view, node) : undefined
    const evicts = labels !== undefined && evictsPods(labels) ? { evicts: true as const } : {}
    return { name: node.name, role: node.role, ...(stays ? REFUSED : fate), ...evicts }
  })
}

const UNASKED = {
  becomes: 'nothing',
  text: 'not known until croft has looked into its machine: it may run K3s already. This run only looks and reads CA and token back',
  unknown: true,
} as const
const SILENT = { becomes: 'nothing', text: 'not known while the API does not answer', unknown: true } as const
const UNSEEN = { becomes: 'nothing', text: 'not known: the cluster cannot be looked at', unknown: true } as const
const UNRECORDED = {
  becomes: 'nothing',
  text: 'not known before CA and token are read back: plan again after this run',
  unknown: true,
} as const
const REFUSED = { becomes: 'nothing', text: 'does not join: its machine is refused' } as const

/** Reports whether anything of the cluster differs from its declaration, is under way, held or refused. */
export function clusterDiffers(look: ClusterPlan): boolean {
  const { steps, waits, holds, refusals } = look.decision
  if (steps.length + waits.length + holds.length + refusals.length > 0) return true
  return forecast(look).some(({ becomes, text }) => becomes !== 'nothing' || text === REFUSED.text)
}

function fateOf(view: ClusterSituation, node: NodeView): Omit<NodeForecast, 'name' | 'role'> {
  // A cluster that is off cannot be asked about its nodes, and nothing happens to them until a person orders it on.
  if (view.observed.requests.hold?.power === 'off') return { becomes: 'nothing', text: '' }
  const kube = kubeOf(node)
  if (node.unclaimed === true) return { becomes: 'nothing', text: 'not declared here, and stays' }
  if (node.spec === undefined) return { becomes: 'leaves', text: `leaves ${view.spec.name}: no longer declared` }
  if (isDue(view, node)) return { becomes: 'replaced', text: 'replaced by a new one: a person asked for it' }
  // The node may be a member: an API that does not answer has promised nothing.
  if (view.observed.api !== 'yes' && node.kube === 'unknown') {
    if (view.observed.requests.hold?.guard === 'not-seen') return UNSEEN
    return view.observed.identity === undefined ? UNRECORDED : SILENT
  }
  if (!view.formed && view.observed.identity === undefined && isUnasked(node)) return UNASKED
  if (kube === undefined) return { becomes: 'joins', text: joining(view, node) }
  if (node.machine.exists === 'no')
    return { becomes: 'joins', text: `its machine is gone: leaves ${view.spec.name}, then ${joining(view, node)}` }
  if (node.becomes !== undefined)
    return { becomes: 'replaced', text: `leaves as ${node.role}, then joins as ${node.becomes}` }
  const rollout = rolloutOf(view)
  const { version } = view.spec
  if (kube.version !== version && isLeftAsFound(view, node))
    return { becomes: 'nothing', text: `stays on ${kube.version}: croft did not set it up` }
  const moved = movedServer(view) ?? movedNode(node)
  const replaces = kube.version !== version && view.spec.upgrade.method === 'replace'
  if (moved !== undefined && !replaces && wantedChange(view, node, rollout) !== undefined)
    return { becomes: 'nothing', text: `stays as it is: the new address of ${moved.name} is refused` }
  if (kube.version !== version && rollout.refusal === undefined) {
    const via = rollout.hops.slice(0, -1)
    const anew = view.spec.upgrade.method === 'replace'
    const by = anew ? ', on a new machine' : ''
    return {
      becomes: anew ? 'replaced' : 'changes',
      text: `${kube.version} → ${version}${via.length === 0 ? '' : ` by way of ${via.join(', ')}`}${by}`,
    }
  }
  const change = wantedChange(view, node, rollout)
  if (change?.purpose === 'configure') return { becomes: 'changes', text: 'restarted with changed settings' }
  const labels = change === undefined ? labelsToSet(view, node) : undefined
  if (labels !== undefined) {
    const leaving = evictsPods(labels) ? ', evicting the pods that do not tolerate it' : ''
    return { becomes: 'changes', text: `${changeText(labels)}${leaving}, without a restart`, runsOn: true }
  }
  if (change?.purpose === 'restart') return { becomes: 'changes', text: `drained and restarted for ${change.target}` }
  return { becomes: 'nothing', text: '' }
}

function joining(view: ClusterSituation, node: NodeView): string {
  const { identity } = view.observed
  const first = identity?.firstServer ?? view.spec.servers[0]?.name
  if (!view.formed && node.name === first) return `starts the cluster on ${view.spec.version}`
  return node.role === 'server'
    ? `joins as a server on ${view.spec.version}, one at a time`
    : `joins as an agent on ${view.spec.version}`
}
