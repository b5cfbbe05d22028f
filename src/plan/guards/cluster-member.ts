import type { Action, Doing } from '../../model/plan.ts'
import {
  goesByItself,
  hostMember,
  isLeaving,
  LEAVES_CLUSTER,
  type Membership,
  machineOrder,
  mayDestroy,
  mayRestart,
} from '../clusters/membership.ts'
import type { GuardAnswer } from '../clusters/quorum.ts'
import type { Guard } from './guard.ts'

const LOOK_SOON_MS = 1_000

export const clusterMember: Guard = {
  name: 'cluster-member',
  stops: 'taking down or destroying the machine of a node while its cluster needs it',
  judge(action, { entry }, { members }) {
    if (entry.type === 'item') {
      const node = members.get(hostMember(entry.host ?? ''))
      const restarts = 'steps' in action && action.steps[0]?.disruption === 'restart'
      if (node === undefined || !restarts) return action
      return judged(action, mayRestart(node))
    }
    const membership = members.get(entry.key)
    if (membership === undefined) return action
    switch (action.do) {
      case 'delete':
        return keptBy(action, membership) ?? afterLeaving(action, membership)
      case 'replace':
        return judged(action, mayDestroy(membership), allowReplacing(action, membership))
      case 'update':
      case 'adopt':
        if (machineOrder(membership)?.order === 'stop') return action
        if (action.steps[0]?.verb === 'start' && isLeaving(membership)) return leaving(action, membership)
        return action.steps[0]?.disruption === 'none' ? action : judged(action, mayRestart(membership))
      case 'create':
        return action
    }
  },
}

/** Returns the hold that keeps the node in its cluster. A person must answer it before the node leaves. */
function keptBy(action: Action & Doing, { look, node }: Membership): Action | undefined {
  const kept = look.observed.nodes.find(({ name }) => name === node)?.machine.mayNotGo
  if (kept === undefined || machineOrder({ look, node })?.order === 'destroy') return undefined
  const { key: _key, ...hold } = kept
  return { do: 'hold', held: action, ...hold }
}

/** The deletion of a node that leaves its cluster needs no consent: the plan shows it as waiting, not as held. */
function afterLeaving(action: Action & Doing, membership: Membership): Action {
  const answer = mayDestroy(membership)
  if (answer.allowed || !goesByItself(membership)) return judged(action, answer)
  const message = `${membership.node} leaves ${membership.look.declaration.name} first`
  return { do: 'wait', reason: LEAVES_CLUSTER, message, lookAgainMs: LOOK_SOON_MS, next: action }
}

function judged(action: Action & Doing, answer: GuardAnswer, allow?: string): Action {
  if (answer.allowed) return action
  return { do: 'hold', guard: 'cluster-member', held: action, reason: answer.reason, allow: allow ?? answer.allow }
}

function allowReplacing(action: Doing, { look, node }: Membership): string | undefined {
  if (action.do !== 'replace') return undefined
  return `run croft cluster replace ${look.declaration.name} ${node}: it is drained and leaves etcd first`
}

function leaving(action: Action & Doing, { look, node }: Membership): Action {
  return {
    do: 'hold',
    guard: 'cluster-member',
    held: action,
    reason: `${node} is leaving ${look.declaration.name}`,
    allow: 'nothing: it continues by itself',
  }
}
