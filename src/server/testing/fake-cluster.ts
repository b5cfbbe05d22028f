import type { ClusterView } from '../../model/estate-view.ts'
import {
  type ClusterDecision,
  type ClusterPhase,
  NO_REQUESTS,
  type NodePhase,
  type ObservedCluster,
  type ObservedNode,
} from '../../model/observed-cluster.ts'
import { DAY, HOUR, MINUTE, NOW } from './fake-moment.ts'

export interface NodeLook {
  readonly name: string
  readonly role?: 'server' | 'agent'
  readonly version?: string
  readonly phase?: NodePhase
  readonly ready?: boolean
  readonly message?: string
  readonly working?: string
}

export function cluster(
  name: string,
  version: string,
  nodes: readonly NodeLook[],
  phase: ClusterPhase = 'Ready',
): ClusterView {
  const servers = nodes.filter(({ role }) => role !== 'agent')
  const up = servers.filter(({ ready }) => ready !== false).length
  const observed: ObservedCluster = {
    api: 'yes',
    identity: { caHash: 'caHash-is-not-shown', formed: true, recordedMs: NOW - 40 * DAY },
    nodes: nodes.map((node, index) => observedNode(node, version, index)),
    members: servers.map((node, index) => ({
      id: (0x8e9e05c52164694dn + BigInt(index * 7919)).toString(16),
      name: `${node.name}-4a13e2cb`,
      node: node.name,
      learner: false,
      up: node.ready === false ? 'no' : 'yes',
      leader: index === 0,
      etcd: '3.6.5',
    })),
    membershipChanged: 'yes',
    snapshots: [
      { name: 'etcd-snapshot-1763118000', atMs: NOW - 30 * MINUTE, tokenKept: 'yes', bytes: 14_680_064 },
      { name: 'etcd-snapshot-1763096400', atMs: NOW - 6.5 * HOUR, tokenKept: 'yes', bytes: 14_650_112 },
      { name: 'on-demand-1762923600', atMs: NOW - 3 * DAY, tokenKept: 'no', bytes: 13_980_112 },
    ],
    checks: [{ name: 'ingress answers', passed: 'yes', output: '200 in 14 ms', atMs: NOW - MINUTE }],
    requests: NO_REQUESTS,
  }
  const hops = nodes.some((node) => node.version !== undefined && node.version !== version) ? [version] : []
  const decision: ClusterDecision = {
    phase,
    steps: nodes
      .filter((node) => node.working !== undefined)
      .map((node) => ({
        about: 'cluster' as const,
        verb: 'upgrade-k3s' as const,
        node: node.name,
        version,
        lane: 'node-program' as const,
        summary: `${node.working ?? ''}`,
        reason: `runs ${node.version ?? version} and ${version} is declared`,
        awaits: `${node.name} to be Ready with ${version}`,
        sinceMs: NOW - 2 * MINUTE,
      })),
    waits: [],
    holds: [],
    refusals: [],
    warnings: [],
    faultTolerance: `${servers.length} servers: etcd survives the loss of ${Math.floor((servers.length - 1) / 2)}`,
    hops,
    nodes: nodes.map(({ name: node, phase: at, message, ready }) => ({
      name: node,
      phase: at ?? (ready === false ? 'NotReady' : 'Ready'),
      message: message ?? '',
    })),
  }
  return {
    key: `Cluster/${name}`,
    name,
    version,
    endpoint: 'https://192.168.4.79:6443',
    decision,
    observed,
    quorumMargin: up - (Math.floor(servers.length / 2) + 1),
  }
}

function observedNode({ name, role, ready, version, working }: NodeLook, pinned: string, index: number): ObservedNode {
  return {
    name,
    role: role ?? 'server',
    machine: { exists: 'yes', power: 'on', ours: true },
    kube: {
      createdMs: NOW - 40 * DAY,
      ready: ready === false ? 'no' : 'yes',
      readySinceMs: NOW - (ready === false ? 3 * MINUTE : 3 * DAY),
      version: version ?? pinned,
      unschedulable: working !== undefined,
      podsToMove: working === undefined ? 0 : 7,
      podCidrs: [`10.42.${index}.0/24`],
      internalIps: [`192.168.4.${80 + (index % 150)}`],
      ...(working === undefined
        ? {}
        : { work: { purpose: 'upgrade' as const, target: pinned, sinceMs: NOW - 2 * MINUTE, cordoned: true } }),
    },
    k3s: { service: 'running', sinceMs: NOW - 3 * DAY, data: 'caHash-is-not-shown' },
    passwordSecret: 'yes',
  }
}
