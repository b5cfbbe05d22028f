import type { ClusterHold, ClusterWait } from '../../model/observed-cluster.ts'
import type { ClusterVerb, Lane, Step } from '../../model/step.ts'
import type { GuardAnswer } from './quorum.ts'
import { type ClusterSituation, isKept, type NodeView } from './view.ts'

/** What one judgement found. Empty: it has nothing to say, the next one may speak. */
export interface ClusterFinding {
  readonly steps: readonly Step<'cluster'>[]
  readonly waits: readonly ClusterWait[]
  readonly holds: readonly ClusterHold[]
  readonly refusals: readonly ClusterHold[]
}

export const NOTHING: ClusterFinding = { steps: [], waits: [], holds: [], refusals: [] }

export function isEmpty({ steps, waits, holds, refusals }: ClusterFinding): boolean {
  return steps.length + waits.length + holds.length + refusals.length === 0
}

export function merge(findings: readonly ClusterFinding[]): ClusterFinding {
  return {
    steps: findings.flatMap(({ steps }) => steps),
    waits: findings.flatMap(({ waits }) => waits),
    holds: findings.flatMap(({ holds }) => holds),
    refusals: findings.flatMap(({ refusals }) => refusals),
  }
}

/** The first that has something to say. */
export function firstOf(judgements: readonly (() => ClusterFinding)[]): ClusterFinding {
  for (const judge of judgements) {
    const finding = judge()
    if (!isEmpty(finding)) return finding
  }
  return NOTHING
}

type StepFields = Omit<Step<'cluster'>, 'about' | 'verb' | 'lane' | 'sinceMs' | 'node'> & { readonly sinceMs?: number }

/** A step on one node, in the lane that its verb takes there. */
export function stepOn(view: ClusterSituation, node: NodeView, verb: ClusterVerb, fields: StepFields): ClusterFinding {
  const step: Step<'cluster'> = {
    ...fields,
    about: 'cluster',
    verb,
    node: node.name,
    lane: laneOf(view, node, verb),
    sinceMs: fields.sinceMs ?? view.nowMs,
  }
  return { ...NOTHING, steps: [step] }
}

export function waitFor(wait: ClusterWait): ClusterFinding {
  return { ...NOTHING, waits: [wait] }
}

export function holdFor(hold: ClusterHold): ClusterFinding {
  return { ...NOTHING, holds: [hold] }
}

export function refusalOf(refusal: ClusterHold): ClusterFinding {
  return { ...NOTHING, refusals: [refusal] }
}

/** The quorum guard's objection, when it has one. */
export function objection(answer: GuardAnswer, node?: string): ClusterFinding | undefined {
  if (answer.allowed) return undefined
  const { reason, allow } = answer
  return holdFor({ guard: 'quorum', reason, allow, ...(node === undefined ? {} : { node }) })
}

const KUBERNETES: readonly ClusterVerb[] = [
  'cordon',
  'drain',
  'uncordon',
  'remove-member',
  'clear-removed-mark',
  'delete-node',
  'delete-node-password',
  'delete-join-token',
]
const MACHINE: readonly ClusterVerb[] = [
  'create-machine',
  'start-machine',
  'stop-machine',
  'restart-machine',
  'destroy-machine',
]

/** Without a Node to annotate, a member is removed by etcd itself, asked on a server that is up. */
export function laneToEtcd(view: ClusterSituation): Lane {
  const server = view.servers.find(({ member }) => member?.up === 'yes')
  return server === undefined || isKept(server) ? 'agent' : 'node-program'
}

function laneOf(view: ClusterSituation, node: NodeView, verb: ClusterVerb): Lane {
  if (verb === 'remove-member' && node.kube === 'absent') return laneToEtcd(view)
  if (KUBERNETES.includes(verb)) return 'object'
  if (verb === 'record-first-server' || verb === 'note-formed' || verb === 'run-health-checks') return 'local'
  if (MACHINE.includes(verb)) return isKept(node) ? 'rest' : 'local'
  return isKept(node) ? 'agent' : 'node-program'
}
