// Small clusters for tests: a healthy one of any size, and the few turns that make it ill.
import type { ClusterSpec, NodeRole, NodeSpec } from '../../../model/cluster.ts'
import {
  type EtcdMember,
  type KubeNode,
  type LocalK3s,
  NO_REQUESTS,
  type ObservedCluster,
  type ObservedMachine,
  type ObservedNode,
} from '../../../model/observed-cluster.ts'

export const NOW = 1_800_000_000_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const CA = 'c'.repeat(64)
export const VERSION = 'v1.34.3+k3s1'
/** The target release of these tests: every node has downloaded it. */
export const NEXT_VERSION = 'v1.34.4+k3s1'

export function nodeSpec(name: string, more: Partial<NodeSpec> = {}): NodeSpec {
  const role: NodeRole = name.startsWith('a') ? 'agent' : 'server'
  return {
    name,
    role,
    machine: { key: `Machine/${name}` },
    nodeIps: [],
    labels: {},
    taints: [],
    power: 'always',
    ...more,
  }
}

/** Returns the spec for `s1 s2 s3 a1`: names that start with a are agents. */
export function clusterSpec(names: string, more: Partial<ClusterSpec> = {}): ClusterSpec {
  const nodes = names
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => nodeSpec(name))
  return {
    name: 'homelab',
    version: VERSION,
    endpoint: { vip: '192.168.4.79' },
    network: {
      podCidrs: ['10.42.0.0/16'],
      serviceCidrs: ['10.43.0.0/16'],
      flannelBackend: 'vxlan',
      kubeProxy: true,
      networkPolicy: true,
    },
    disable: [],
    tlsSans: [],
    secretsEncryption: true,
    serverFlags: {},
    nodeFlags: {},
    servers: nodes.filter(({ role }) => role === 'server'),
    agents: nodes.filter(({ role }) => role === 'agent'),
    upgrade: {
      method: 'inPlace',
      drain: { timeoutMs: 10 * MINUTE, onTimeout: 'wait' },
      soakMs: 10 * MINUTE,
      nodeTimeoutMs: 10 * MINUTE,
      healthChecks: [],
      windows: [],
      agentsSurge: 1,
    },
    remediation: {
      enabled: true,
      brake: { nodes: 1, percent: 20 },
      deadAfterMs: 5 * MINUTE,
      pauseMs: HOUR,
      dataMayGo: true,
    },
    staleState: 'refuse',
    ghostMembers: 'ask',
    allow: { degraded: false, interruption: false },
    ...more,
  }
}

export const kubeNode: KubeNode = {
  createdMs: NOW - 30 * 24 * HOUR,
  ready: 'yes',
  readySinceMs: NOW - 24 * HOUR,
  version: VERSION,
  unschedulable: false,
  podsToMove: 0,
  podCidrs: [],
  internalIps: [],
}

export const localK3s: LocalK3s = {
  service: 'running',
  sinceMs: NOW - 24 * HOUR,
  version: VERSION,
  fetched: NEXT_VERSION,
  data: CA,
}
export const cleanK3s: LocalK3s = { service: 'absent', sinceMs: NOW - HOUR, data: 'none' }

/** A test's changes of a node; `kube` and `k3s` are merged into the healthy ones. */
export interface NodeTurn {
  readonly role?: NodeRole
  readonly machine?: Partial<ObservedMachine>
  readonly kube?: Partial<KubeNode> | 'absent' | 'unknown'
  readonly k3s?: Partial<LocalK3s> | 'unknown'
  readonly passwordSecret?: ObservedNode['passwordSecret']
  readonly remediation?: ObservedNode['remediation']
  readonly silence?: string
  readonly tried?: ObservedNode['tried']
}

export function observedNode(name: string, turn: NodeTurn = {}): ObservedNode {
  const kube = turn.kube ?? {}
  const k3s = turn.k3s ?? {}
  return {
    name,
    role: turn.role ?? (name.startsWith('a') ? 'agent' : 'server'),
    machine: {
      exists: 'yes',
      power: 'on',
      ours: true,
      machineId: `id-${name}`,
      createdMs: NOW - 30 * 24 * HOUR,
      ...turn.machine,
    },
    kube: typeof kube === 'string' ? kube : { ...kubeNode, ...kube },
    k3s:
      typeof k3s === 'string'
        ? k3s
        : { ...localK3s, ...(name.startsWith('a') || (k3s.data ?? CA) !== CA ? {} : { datastore: 'etcd' }), ...k3s },
    passwordSecret: turn.passwordSecret ?? (kube === 'absent' ? 'no' : 'yes'),
    ...(turn.remediation === undefined ? {} : { remediation: turn.remediation }),
    ...(turn.tried === undefined ? {} : { tried: turn.tried }),
    ...(turn.silence === undefined ? {} : { silence: turn.silence }),
  }
}

export function member(node: string, more: Partial<EtcdMember> = {}): EtcdMember {
  return { id: `m-${node}`, name: `${node}-4a13e2cb`, node, learner: false, up: 'yes', ...more }
}

/** Returns a healthy cluster of these nodes, with the test's changes. */
export function observedCluster(
  names: string,
  turns: Readonly<Record<string, NodeTurn>> = {},
  more: Partial<ObservedCluster> = {},
): ObservedCluster {
  const list = names.split(' ').filter((name) => name !== '')
  return {
    api: 'yes',
    identity: { caHash: CA, firstServer: 's1', formed: true, recordedMs: NOW - 40 * 24 * HOUR },
    nodes: list.map((name) => observedNode(name, turns[name])),
    members: list.filter((name) => !name.startsWith('a')).map((name) => member(name)),
    membershipChanged: 'yes',
    snapshots: [],
    checks: [],
    requests: NO_REQUESTS,
    ...more,
  }
}

/** A clean machine that is on and not a member yet. */
export const FRESH: NodeTurn = { kube: 'absent', k3s: cleanK3s }
/** No machine yet. */
export const NOTHING: NodeTurn = { kube: 'absent', k3s: 'unknown', machine: { exists: 'no', power: 'unknown' } }
