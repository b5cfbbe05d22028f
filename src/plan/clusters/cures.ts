import { configHash } from '../../k3s/config.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { EtcdMember, LocalK3s } from '../../model/observed-cluster.ts'
import type { ClusterVerb } from '../../model/step.ts'
import { type ClusterFinding, losingStep, permitted, stepOn } from './finding.ts'
import { type MayLower, type MayStart, mayLower, mayStart } from './quorum.ts'
import type { ClusterSituation, NodeView } from './view.ts'

/**
 * Repairs that keep all data, gentlest first. A server that was removed from etcd and restarts with the configuration
 * from the cluster's formation would form a second one: it gets the declared one at once.
 */
const GENTLE = {
  agent: ['restart-k3s', 'rewrite-k3s'],
  server: ['rewrite-k3s'],
} as const satisfies Readonly<Record<NodeView['role'], readonly ClusterVerb[]>>

/**
 * Returns the next repair of a node that has this cluster's data and is not a member: a restart, then its declared
 * configuration, and only then a join with an empty disk. Each names what the previous one did not achieve.
 */
export function cured(view: ClusterSituation, node: NodeView, local: LocalK3s, running: boolean): ClusterFinding {
  const { member, name } = node
  // A voter that lost its Node registers again at its start. A failed join's learner would stop the other servers.
  const votes = member?.learner === false && member.up !== 'no'
  const tried = node.tried.filter((verb) => GENTLE[node.role].some((gentle) => gentle === verb))
  const ill = local.failure ?? (running ? 'it did not join in time' : 'it holds data of this cluster and is not in it')
  const why = tried.length === 0 ? ill : `${ill}, ${tried.map((verb) => VAIN[verb]).join(' and ')}`
  const gentle =
    member === undefined && !isMadeAnew(view, local) && (local.role ?? node.role) === node.role
      ? GENTLE[node.role].find(
          (verb) => !node.tried.includes(verb) && (verb === 'restart-k3s' || mayWrite(view, local)),
        )
      : undefined
  if (!running && gentle !== undefined)
    return permitted(mayStart(view, node), name, (permit) => gently(view, node, gentle, why, permit))
  const action = !running ? 'remove-member' : votes ? 'reboot' : 'stop'
  return permitted(mayLower(view, node, action), name, (permit) => {
    if (votes && running) return gently(view, node, 'restart-k3s', why, permit)
    if (gentle !== undefined) return gently(view, node, gentle, why, permit)
    if (!running)
      return member === undefined ? wiped(view, node, why, permit) : removed(view, node, member, why, permit)
    const fields = { summary: `stop K3s on ${name}`, reason: why, awaits: `K3s stopped on ${name}` }
    return stepOn(view, node, 'stop-k3s', fields, permit)
  })
}

/** Reports whether croft may write the configuration: a foreign one stays unless Git allows croft to take it over. */
function mayWrite({ spec }: ClusterSituation, { configured }: LocalK3s): boolean {
  return configured !== false || spec.allow.takeOver === true
}

/** Reports whether the node left for a new release and must return without its old data. */
function isMadeAnew({ spec }: ClusterSituation, { version }: LocalK3s): boolean {
  return spec.upgrade.method === 'replace' && version !== spec.version
}

const VAIN: Readonly<Partial<Record<ClusterVerb, string>>> = {
  'restart-k3s': 'a restart did not help',
  'rewrite-k3s': 'its declared configuration did not help',
}

/** Starts a stopped K3s, with its declared configuration if it did not stay up without. */
export function started(view: ClusterSituation, node: NodeView, local: LocalK3s): ClusterFinding {
  const why = local.failure ?? `K3s is ${local.service} on ${node.name}`
  return permitted(mayStart(view, node), node.name, (permit) => {
    if (isOutdated(view, node, local))
      return gently(view, node, 'rewrite-k3s', `${why}, and its configuration is not the declared one`, permit)
    if (node.tried.includes('restart-k3s') && mayWrite(view, local))
      return gently(view, node, 'rewrite-k3s', `${why}, ${VAIN['restart-k3s']}`, permit)
    return gently(view, node, 'restart-k3s', why, permit)
  })
}

/** Reports whether croft wrote its configuration from another declaration. */
export function isOutdated({ spec }: ClusterSituation, node: NodeView, { configHash: written }: LocalK3s): boolean {
  return node.spec !== undefined && written !== undefined && written !== configHash(spec, node.spec)
}

function gently(
  view: ClusterSituation,
  node: NodeView,
  verb: 'restart-k3s' | 'rewrite-k3s',
  reason: string,
  permit: MayStart | MayLower,
): ClusterFinding {
  const { name } = node
  return stepOn(
    view,
    node,
    verb,
    {
      summary: verb === 'restart-k3s' ? `start K3s on ${name}` : `write the configuration of ${name} and start K3s`,
      reason,
      awaits: `${name} Ready`,
      untilMs: view.nowMs + LIMITS.clusterJoinMs,
    },
    permit,
  )
}

/** Removes the learner of a failed join before any retry: it would stop the surviving servers. */
function removed(
  view: ClusterSituation,
  node: NodeView,
  member: EtcdMember,
  reason: string,
  permit: MayLower,
): ClusterFinding {
  return stepOn(
    view,
    node,
    'remove-member',
    {
      member: member.id,
      summary: `remove the etcd ${member.learner ? 'learner' : 'member'} that the failed join of ${node.name} left`,
      reason,
      awaits: `etcd without ${member.name || member.id}`,
    },
    permit,
  )
}

function wiped(view: ClusterSituation, node: NodeView, reason: string, permit: MayLower): ClusterFinding {
  return losingStep(
    view,
    node,
    'wipe-k3s',
    {
      because: 'ordered',
      summary: `wipe K3s from ${node.name} before it joins again`,
      reason,
      awaits: `no K3s data on ${node.name}`,
    },
    permit,
  )
}
