import type { ObservedPower, PowerNode } from '../../../model/observed-power.ts'
import type { PowerHost, PowerRequests, PowerSpec, PowerWorkload } from '../../../model/power.ts'
import { coordinatePower } from '../coordinate.ts'

/** The default UPS, which feeds every host. */
export const UPS = 'rack@nut'

/** A host on which nothing runs. */
export const EMPTY = { mine: [], others: [], undeclared: [] }

export const NOW = 1_760_000_000_000

export function host(name: string, more: Partial<PowerHost> = {}): PowerHost {
  const wake = { mac: 'BC:24:11:00:00:01', broadcast: '255.255.255.255', port: 9 }
  return { name, connection: 'pve', node: name, wake, level: 1, own: false, fedBy: UPS, tells: [], ...more }
}

export function specWith(more: Partial<PowerSpec> = {}): PowerSpec {
  const rule = { afterMs: 60_000, choice: 'abort' } as const
  return {
    cluster: 'homelab',
    state: 'on',
    hosts: [],
    machines: [],
    infrastructure: [],
    rules: [],
    hooks: [],
    deadlines: {
      scale: rule,
      detach: rule,
      drain: rule,
      stop: { ...rule, choice: 'wait' },
      start: { ...rule, choice: 'force' },
    },
    holds: { people: true, idleMs: 3_600_000, backups: true, jobs: true, jobsMs: 86_400_000 },
    idleMs: 600_000,
    ha: true,
    strangers: 'hold',
    checks: { dns: [], storage: [] },
    ...more,
  }
}

export function workload(tier: PowerWorkload['tier'], name: string, more: Partial<PowerWorkload> = {}): PowerWorkload {
  return { kind: 'Deployment', namespace: 'default', name, tier, replicas: 2, pods: 2, ready: 2, ...more }
}

export function node(name: string, more: Partial<PowerNode> = {}): PowerNode {
  return {
    name,
    role: name.startsWith('s') ? 'server' : 'agent',
    onDemand: false,
    machine: `Machine/${name}`,
    power: 'on',
    kube: 'ready',
    back: true,
    unschedulable: false,
    tainted: false,
    podsToMove: 0,
    k3s: 'running',
    ...more,
  }
}

export function clusterWith(
  nodes: readonly PowerNode[],
  workloads: readonly PowerWorkload[],
  more: Partial<NonNullable<ObservedPower['cluster']>> = {},
): NonNullable<ObservedPower['cluster']> {
  return {
    formed: true,
    api: 'yes',
    quorum: 'yes',
    workloads,
    attachments: [],
    nodes,
    wanting: {},
    dns: { up: 'yes', message: '' },
    storage: { up: 'yes', message: '' },
    ...more,
  }
}

export function observedWith(more: Partial<ObservedPower> = {}): ObservedPower {
  const nodes = more.cluster?.nodes ?? []
  return {
    machines: nodes.flatMap(({ machine, name, power, host: on }) =>
      machine === undefined
        ? []
        : [{ key: machine, name, role: 'node', power, exists: 'yes', ...(on === undefined ? {} : { host: on }) }],
    ),
    hosts: [],
    ups: {},
    ha: [],
    holds: [],
    hooks: {},
    checks: {},
    waitedMs: {},
    ...more,
  }
}

export function ordered(state: 'on' | 'off', more: Partial<NonNullable<PowerRequests['wanted']>> = {}): PowerRequests {
  return { wanted: { state, by: 'tapas', why: '', atMs: NOW, ...more }, holds: [] }
}

export const SERVERS = ['s1', 's2', 's3']

/** Decides from an observation, by default under an order to go off. */
export function decide(spec: PowerSpec, observed: ObservedPower, requests: PowerRequests = ordered('off')) {
  return coordinatePower(spec, observed, requests, undefined, NOW)
}

/** Returns verbs and tiers of the due steps, without duplicates. */
export function did(spec: PowerSpec, observed: ObservedPower, requests?: PowerRequests): readonly string[] {
  return decide(spec, observed, requests).steps.map((step) => `${step.verb} ${step.tier}`)
}

/** One workload in each of three tiers. */
export const WORKLOADS = [workload('gitops', 'argo'), workload('apps', 'web'), workload('databases', 'db')]
export const GONE = { replicas: 0, pods: 0, ready: 0, remembered: 2 }

export const MARK = { sinceMs: NOW, cordoned: true, tainted: true }
export const MARKED = { mark: MARK, unschedulable: true, tainted: true }
