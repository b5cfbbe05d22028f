import type { ClusterSpec, NodeSpec } from '../../model/cluster.ts'
import type { ClusterOperation, ObservedCluster } from '../../model/observed-cluster.ts'
import type { Step } from '../../model/step.ts'
import { serversWhole } from './removals.ts'
import { hold, local, on, release } from './restore.ts'
import { viewOf } from './view.ts'

export type Rotation = 'token' | 'ca' | 'certificates' | 'encryption-keys'

/**
 * Plans a rotation as a list of steps. New secrets are recorded before their first use, so that a crash never loses
 * them; servers restart one at a time, each once the previous one votes and is Ready; then the agents.
 */
export function planRotation(
  what: Rotation,
  spec: ClusterSpec,
  observed: ObservedCluster,
  nowMs: number,
): ClusterOperation {
  const name = `rotation of the ${WORDS[what]} of ${spec.name}`
  const refusals = refusalsOf(what, spec, observed, nowMs)
  const [first] = spec.servers
  if (first === undefined || refusals.length > 0) return { name, steps: [], refusals, warnings: [] }
  return {
    name,
    steps: [
      hold(`the ${WORDS[what]} of ${spec.name} is being rotated`),
      on(first, 'snapshot', 'take a snapshot with the present token', 'a snapshot whose token is kept', 'job-done'),
      ...begin(what, first, spec),
      ...spec.servers.map((node) => taking(what, node, `${node.name} an etcd voter and Ready`)),
      // The agent's join token is deleted, and its certificate is renewed now: it needs a new token for the request.
      ...(isOfNodes(what) ? spec.agents.filter(({ power }) => power === 'always') : []).flatMap((node) => [
        on(node, 'write-files', `write a token of its own on ${node.name}`, 'it on its disk'),
        taking(what, node, `${node.name} Ready`),
      ]),
      release(),
    ],
    refusals: [],
    warnings: WARNINGS[what],
  }
}

/** Reports whether the rotation includes agents. */
function isOfNodes(what: Rotation): boolean {
  return what === 'ca' || what === 'certificates'
}

/** Returns how a node applies the new secrets: at a restart, or by renewing them while it is stopped. */
function taking(what: Rotation, node: NodeSpec, awaits: string): Step<'operation'> {
  return what === 'certificates'
    ? on(
        node,
        'renew-certificates',
        `stop K3s on ${node.name}, exchange its certificates, start it`,
        awaits,
        'node-well',
      )
    : on(node, 'restart-k3s', `restart K3s on ${node.name}`, awaits, 'node-well')
}

const WORDS = {
  token: 'token',
  ca: 'CA',
  certificates: 'certificates of nodes',
  'encryption-keys': 'encryption keys',
} as const

const WARNINGS: Readonly<Record<Rotation, readonly string[]>> = {
  token: ['snapshots from before still need the old token; it is kept'],
  ca: ['pods that have read the old CA from their service account go on with the root, which stays'],
  certificates: ['the CAs stay: kubeconfigs and tokens remain valid'],
  'encryption-keys': ['do not interrupt it: keys that were half exchanged cannot be repaired'],
}

function begin(what: Rotation, first: NodeSpec, spec: ClusterSpec): readonly Step<'operation'>[] {
  switch (what) {
    case 'token':
      return [
        local('make-password', 'make a new password and record it next to the old one', 'both kept'),
        on(
          first,
          'rotate-token',
          `hand the new password to K3s on ${first.name}`,
          'its bootstrap data encrypted again',
        ),
        ...spec.servers.map((node) => on(node, 'write-files', `write the new token on ${node.name}`, 'it on its disk')),
      ]
    case 'ca':
      return [
        local('make-authorities', 'make new CAs under the same roots and write them down', 'both kept'),
        on(first, 'rotate-ca', `hand the new CAs to K3s on ${first.name}`, 'K3s having taken them'),
      ]
    case 'certificates':
      return []
    case 'encryption-keys':
      return [
        on(
          first,
          'rotate-keys',
          `have K3s on ${first.name} make new keys and encrypt everything again`,
          'its end',
          'job-done',
        ),
      ]
  }
}

function refusalsOf(
  what: Rotation,
  spec: ClusterSpec,
  observed: ObservedCluster,
  nowMs: number,
): ClusterOperation['refusals'] {
  if (what === 'encryption-keys' && !spec.secretsEncryption) {
    return [{ reason: 'secrets are not encrypted in this cluster', allow: 'set secretsEncryption: true' }]
  }
  const view = viewOf(spec, observed, nowMs)
  if (!serversWhole(view)) {
    return [{ reason: 'not every declared server is in the cluster, voting and Ready', allow: 'wait until all are' }]
  }
  const unseen = spec.servers.filter(({ name }) => observed.nodes.find((node) => node.name === name)?.k3s === 'unknown')
  if (unseen.length > 0) {
    const names = unseen.map(({ name }) => name).join(', ')
    return [{ reason: `${names} cannot be reached`, allow: 'make every server reachable' }]
  }
  return []
}
