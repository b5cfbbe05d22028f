import { majority } from '../../lib/majority.ts'
import type { ClusterAllowances } from '../../model/cluster.ts'
import type { EtcdMember, ObservedCluster } from '../../model/observed-cluster.ts'
import { refusesAdd, refusesRemove } from './etcd-rules.ts'
import { type ClusterSituation, localOf, type NodeView } from './view.ts'

export interface Quorum {
  readonly voters: number
  readonly majority: number
  /** Voters that are known to be up. A voter in an unknown state counts as down. */
  readonly up: number
  readonly held: boolean
  /** How many more voters may fail. */
  readonly spare: number
}

export function quorum(members: readonly EtcdMember[]): Quorum {
  const voters = members.filter((member) => !member.learner)
  const up = voters.filter(isUp).length
  const needed = majority(voters.length)
  return { voters: voters.length, majority: needed, up, held: up >= needed, spare: Math.max(0, up - needed) }
}

export type ServerAction =
  /** Away for a while, then back with the same data. */
  | { readonly do: 'reboot' | 'upgrade' | 'stop'; readonly node: string }
  /** Away for good: stopped, then its member removed. A replacement is that and a join. */
  | { readonly do: 'delete' | 'replace'; readonly node: string }
  /** Only removes the member: of a stopped server, or of a running one. */
  | { readonly do: 'remove-member' | 'remove-live'; readonly node: string; readonly member?: string }
  | { readonly do: 'add' }

export type GuardAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string; readonly allow: string }

/** An answer whose permission is a value: a step that needs one cannot be built otherwise. */
export type PermitAnswer<P> =
  | { readonly allowed: true; readonly permit: P }
  | { readonly allowed: false; readonly reason: string; readonly allow: string }

declare const judged: unique symbol

/** Permits to stop, restart, wipe, remove or join: without this member a majority of the known members is up. */
export interface MayLower {
  readonly [judged]: 'lower'
}

/** Permits to start a stopped K3s with our data. Needs no majority, so that a cluster recovers after a blackout. */
export interface MayStart {
  readonly [judged]: 'start'
}

const ALLOWED: PermitAnswer<MayLower> = { allowed: true, permit: {} as MayLower }
const MAY_START: PermitAnswer<MayStart> = { allowed: true, permit: {} as MayStart }
const NO_OVERRIDES: ClusterAllowances = { degraded: false, interruption: false }

/**
 * Reports whether this may be done to a server without taking etcd below its majority. An unknown voter counts as down,
 * and stopping one that may be up counts as a loss, so the answer holds for every possible truth.
 */
export function allowed(
  action: ServerAction,
  observed: Pick<ObservedCluster, 'members'>,
  overrides: ClusterAllowances = NO_OVERRIDES,
): PermitAnswer<MayLower> {
  const { members } = observed
  if (members === 'unknown') return refuse('the members of etcd are not known', 'wait until etcd can be asked')
  if (action.do === 'add') return mayAdd(members)
  const id = 'member' in action ? action.member : undefined
  const target = members.find((member) => (id === undefined ? member.node === action.node : member.id === id))
  const now = quorum(members)
  // It may be a running member that this list lacks.
  if (target === undefined) return now.held ? ALLOWED : unknownTarget(action.node, now)
  const others = quorum(members.filter((member) => member !== target))
  switch (action.do) {
    case 'reboot':
    case 'upgrade':
    case 'stop':
      if (target.learner || target.up === 'no' || others.up >= now.majority) return ALLOWED
      // With one or two servers every stop interrupts the API, which then returns by itself.
      if (overrides.interruption && now.voters <= 2 && now.up === now.voters) return ALLOWED
      return tooFew(action.node, others.up, now)
    case 'remove-live': {
      if (!now.held) return tooFew(action.node, now.up, now)
      if (target.learner) return ALLOWED
      const refusal = refusesRemove({ voters: now.voters, othersUp: others.up, targetUp: true })
      return refusal === undefined ? ALLOWED : tooFew(action.node, others.up, now)
    }
    case 'delete':
    case 'replace':
    case 'remove-member':
      if (target.learner) return now.held ? ALLOWED : tooFew(action.node, now.up, now)
      // The other members alone must have a majority, for the removal and afterwards.
      return others.up >= now.majority ? ALLOWED : tooFew(action.node, others.up, now)
  }
}

/** The same for a node of any role: an agent has no vote, and before the cluster exists nothing can be lost. */
export function mayLower(
  { formed, observed, members }: Pick<ClusterSituation, 'formed' | 'observed' | 'members'>,
  node: NodeView,
  action: Exclude<ServerAction['do'], 'add'>,
  overrides?: ClusterAllowances,
): PermitAnswer<MayLower> {
  const server = node.role === 'server' || node.member !== undefined || localOf(node)?.role === 'server'
  if (!server || (!formed && observed.members === 'unknown')) return ALLOWED
  return allowed({ do: action, node: node.name }, { members }, overrides)
}

/** Reports whether the stopped K3s, or machine, of this node may be started. */
export function mayStart({ observed, spec }: ClusterSituation, node: NodeView): PermitAnswer<MayStart> {
  const local = localOf(node)
  const foreign = local !== undefined && local.data !== 'none' && local.data !== observed.identity?.caHash
  if (node.strange === undefined && !foreign) return MAY_START
  return refuse(
    `${node.name} holds data that is not of ${spec.name}${node.strange === undefined ? '' : `: ${node.strange}`}`,
    `run croft cluster replace ${spec.name} ${node.name} if it is to start empty`,
  )
}

function mayAdd(members: readonly EtcdMember[]): PermitAnswer<MayLower> {
  const { voters, up, held } = quorum(members)
  if (!held) return refuse(`etcd has lost its majority: ${up} of ${voters} voters are up`, 'bring servers back')
  const learners = members.filter(({ learner }) => learner).length
  const etcd = members.find(({ etcd }) => etcd !== undefined)?.etcd
  const refusal = refusesAdd({ voters, connected: up, learners, etcd })
  if (refusal === undefined) return ALLOWED
  return refuse(
    learners > 0
      ? 'another server is still joining, and etcd takes one at a time'
      : `etcd takes no new member while voters are away (${up} of ${voters} are up)`,
    learners > 0 ? 'wait until it has joined' : 'bring the missing server back, or remove its member first',
  )
}

function tooFew(node: string, left: number, { voters, majority }: Quorum): PermitAnswer<never> {
  const plural = (count: number) => `${count} of ${voters} etcd voter${voters === 1 ? '' : 's'}`
  return refuse(
    `without ${node} only ${plural(left)} would certainly be up, ${majority} are needed`,
    voters <= 2
      ? 'add servers, or allow the interruption with allow: {interruption: true}'
      : 'bring the other servers back first',
  )
}

function unknownTarget(node: string, { up, voters }: Quorum): PermitAnswer<never> {
  return refuse(
    `${node} is not among the known members of etcd, and no majority of them is seen (${up} of ${voters} voters are up)`,
    'bring the other servers back first',
  )
}

function refuse(reason: string, allow: string): PermitAnswer<never> {
  return { allowed: false, reason, allow }
}

function isUp(member: EtcdMember): boolean {
  return member.up === 'yes'
}
