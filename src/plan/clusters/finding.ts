import { losingData, losingMachine } from '../../model/destruction.ts'
import type { Loss } from '../../model/loss.ts'
import type { ClusterHold, ClusterWait, EtcdMember } from '../../model/observed-cluster.ts'
import type { ClusterVerb, Lane, LosingVerb, Step } from '../../model/step.ts'
import type { MayLower, MayStart, PermitAnswer } from './quorum.ts'
import { type ClusterSituation, isKept, type NodeView } from './view.ts'

/** The result of one judgement. If empty, the next judgement decides. */
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

/** Returns the first finding that is not empty. */
export function firstOf(judgements: readonly (() => ClusterFinding)[]): ClusterFinding {
  for (const judge of judgements) {
    const finding = judge()
    if (!isEmpty(finding)) return finding
  }
  return NOTHING
}

/** Steps that stop etcd or one of its members, or change the membership. */
type Lowering =
  | 'stop-k3s'
  | 'stop-machine'
  | 'restart-machine'
  | 'destroy-machine'
  | 'wipe-k3s'
  | 'upgrade-k3s'
  | 'configure-k3s'
  | 'remove-member'
  | 'join-server'

/** The proof that a step needs: only the judgement of membership creates it. */
type Permit<V extends ClusterVerb> = V extends Lowering
  ? readonly [MayLower]
  : V extends 'start-machine'
    ? readonly [MayStart]
    : V extends 'restart-k3s' | 'rewrite-k3s'
      ? readonly [MayStart | MayLower]
      : readonly []

type StepFields = Omit<Step<'cluster'>, 'about' | 'verb' | 'lane' | 'sinceMs' | 'node' | 'destroys'> & {
  readonly sinceMs?: number
}

/** Creates a step on one node, in the lane of its verb there. */
export function stepOn<V extends Exclude<ClusterVerb, LosingVerb>>(
  view: ClusterSituation,
  node: NodeView,
  verb: V,
  fields: StepFields,
  ..._permit: Permit<V>
): ClusterFinding {
  return { ...NOTHING, steps: [{ ...fields, ...onNode(view, node, fields, verb), verb }] }
}

type Losing = Extract<ClusterVerb, LosingVerb>

/** The same for a step that destroys data: it lists the data that this pass saw. */
export function losingStep(
  view: ClusterSituation,
  node: NodeView,
  verb: Losing,
  { because, ...fields }: StepFields & { readonly because: Loss['because'] },
  _permit: MayLower,
): ClusterFinding {
  const { destroys } = verb === 'wipe-k3s' ? losingData(node, because) : losingMachine(node, because)
  return { ...NOTHING, steps: [{ ...fields, ...onNode(view, node, fields, verb), verb, destroys }] }
}

function onNode(view: ClusterSituation, node: NodeView, { sinceMs = view.nowMs }: StepFields, verb: ClusterVerb) {
  return { about: 'cluster', node: node.name, lane: laneOf(view, node, verb), sinceMs } as const
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

/** Returns the step if permitted, else the objection. */
export function permitted<P>(
  answer: PermitAnswer<P>,
  node: string,
  step: (permit: P) => ClusterFinding,
): ClusterFinding {
  if (answer.allowed) return step(answer.permit)
  const { reason, allow } = answer
  return holdFor({ guard: 'quorum', node, reason, allow })
}

const KUBERNETES: readonly ClusterVerb[] = [
  'cordon',
  'drain',
  'uncordon',
  'remove-member',
  'clear-removed-mark',
  'delete-node',
  'delete-node-password',
  'label-node',
  'delete-join-token',
]
const MACHINE: readonly ClusterVerb[] = [
  'create-machine',
  'start-machine',
  'stop-machine',
  'restart-machine',
  'destroy-machine',
]

/** Removes a member without a node. */
export function ghostStep(
  view: ClusterSituation,
  { id, name, node }: EtcdMember,
  reason: string,
  _permit: MayLower,
): ClusterFinding {
  const step: Step<'cluster'> = {
    about: 'cluster',
    verb: 'remove-member',
    node,
    member: id,
    lane: laneToEtcd(view),
    summary: `remove the ghost member ${name || id}`,
    reason,
    awaits: `etcd without ${name || id}`,
    sinceMs: view.nowMs,
  }
  return { ...NOTHING, steps: [step] }
}

/** Without a Node to annotate, etcd itself removes a member, through a server that is up. */
function laneToEtcd(view: ClusterSituation): Lane {
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
