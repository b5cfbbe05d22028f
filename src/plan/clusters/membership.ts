import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterPlan, ObservedNode } from '../../model/observed-cluster.ts'
import { mayDestroyMachine } from './coordinate.ts'
import type { GuardAnswer } from './quorum.ts'
import { isFormed } from './view.ts'

/** The reason of a deletion that waits until the node has left its cluster. */
export const LEAVES_CLUSTER = 'LeavesCluster'

/** A machine that is a node of a cluster, or that has not fully left it. */
export interface Membership {
  readonly look: ClusterPlan
  readonly node: string
}

/** The coordinator's order about a machine, for the hypervisor. */
export interface MachineOrder {
  readonly order: 'destroy' | 'stop' | 'restart'
  readonly reason: string
}

/** An undeclared machine of ours that may be a node: its key and name. */
export interface Leaving {
  readonly key: ResourceKey
  readonly name: string
}

/**
 * Maps machines to the clusters whose nodes they are. A machine that Git no longer names is a node as long as its
 * cluster shows anything under its name.
 */
export function memberships(
  looks: readonly ClusterPlan[],
  leaving: readonly Leaving[],
): ReadonlyMap<ResourceKey, Membership> {
  const members = new Map<ResourceKey, Membership>()
  for (const look of looks) {
    const { servers, agents } = look.declaration.spec
    const declared = [...servers, ...agents]
    for (const { name, machine } of declared)
      members.set('key' in machine ? machine.key : hostMember(machine.host), { look, node: name })
    const seen = new Set(look.observed.nodes.map((node) => node.name))
    for (const { key, name } of leaving) {
      if (seen.has(name) && !members.has(key)) members.set(key, { look, node: name })
    }
  }
  return members
}

/** Returns the member key of a box that croft did not create. No resource has such a key. */
export function hostMember(host: string): ResourceKey {
  return `host/${host}`
}

/** Returns the coordinator's order for the machine of a membership. */
export function machineOrder({ look, node }: Membership): MachineOrder | undefined {
  for (const step of look.decision.steps) {
    if (step.node !== node) continue
    if (step.verb === 'destroy-machine') return { order: 'destroy', reason: step.reason }
    if (step.verb === 'stop-machine') return { order: 'stop', reason: step.reason }
    if (step.verb === 'restart-machine') return { order: 'restart', reason: step.reason }
  }
  return undefined
}

/** Reports whether croft may destroy the machine now, regardless of the reason. */
export function mayDestroy(membership: Membership): GuardAnswer {
  if (machineOrder(membership)?.order === 'destroy') return { allowed: true }
  const { look, node } = membership
  return mayDestroyMachine(look.declaration.spec, look.observed, node)
}

/** Reports whether croft may restart the machine now: only once the coordinator has drained it for that. */
export function mayRestart(membership: Membership): GuardAnswer {
  const { look, node } = membership
  const { name } = look.declaration
  const seen = look.observed.nodes.find((one) => one.name === node)
  if (!isFormed(look.observed)) return mayLive(look, seen) ? unasked(look, node) : { allowed: true }
  if (seen?.kube === 'absent' || machineOrder(membership)?.order === 'restart') return { allowed: true }
  // A clean machine without a running K3s is about to join or to return.
  const local = seen?.k3s === 'unknown' ? undefined : seen?.k3s
  if (local?.data === 'none' && local.service !== 'starting' && local.service !== 'running') return { allowed: true }
  const members = look.observed.members === 'unknown' ? [] : look.observed.members
  // A restart costs nothing if its member is down.
  if (members.some((member) => member.node === node && member.up === 'no')) return { allowed: true }
  return {
    allowed: false,
    reason: `${node} is a node of ${name}: it is cordoned and drained before its machine is restarted`,
    allow: 'nothing: croft does it when its turn comes, one node at a time',
  }
}

/**
 * Reports whether the machine may hold a living cluster. Without a record only the machine can prove that it does not.
 */
function mayLive({ observed }: ClusterPlan, seen: ObservedNode | undefined): boolean {
  if (observed.identity !== undefined || seen?.machine.power === 'off' || seen?.machine.exists === 'no') return false
  return seen === undefined || seen.k3s === 'unknown' || seen.k3s.data !== 'none'
}

function unasked({ declaration: { name } }: ClusterPlan, node: string): GuardAnswer {
  return {
    allowed: false,
    reason: `croft has no record of ${name} and does not know yet what runs on ${node}: it may be a node of a running cluster`,
    allow: `wait until croft has looked into ${node} (guest agent or SSH); or restart it yourself`,
  }
}

/** Reports whether the node is leaving: then no step may start its machine again. */
export function isLeaving({ look, node }: Membership): boolean {
  return look.decision.nodes.some((row) => row.name === node && row.phase === 'Leaving')
}

/** Reports whether the cluster removes the node without a person's consent: no part of that is held or refused. */
export function goesByItself(membership: Membership): boolean {
  const { look, node } = membership
  const { holds, refusals } = look.decision
  const concerns = (one: { readonly node?: string }) => one.node === undefined || one.node === node
  return isLeaving(membership) && ![...holds, ...refusals].some(concerns)
}
