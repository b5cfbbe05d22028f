import type { ClusterView, EstateView, ResourceView } from '../../model/estate-view.ts'
import type { Action } from '../../model/plan.ts'
import { cluster } from './fake-cluster.ts'
import { withResource } from './fake-controller.ts'
import { heldDeletion, smallEstate } from './fake-estate.ts'
import { NOW } from './fake-moment.ts'
import { fakePower, goingOff } from './fake-power.ts'
import { KEY } from './questions.ts'

const NODES = ['k3s-vm-pumped-piglet-gpu', 'k3s-vm-still-fawn', 'k3s-vm-fun-bedbug']
const HOLD = { tier: 'apps' as const, guard: 'person', reason: 'r', allow: 'a', sinceMs: NOW, untilMs: NOW }
const HELD = { by: 'anna', why: 'demo', sinceMs: NOW, untilMs: NOW }

/** An estate in which every optional field is there. */
export function richEstate(): EstateView {
  const estate = smallEstate()
  const { resources } = withResource(estate, KEY, (one) => ({
    ...one,
    action: heldDeletion('k3s-vm-still-fawn', 'still-fawn', 109),
  }))
  const [machine] = resources
  if (machine === undefined) throw new Error('the small estate is empty')
  const origin = { file: 'machines/broken.yaml', line: 4, column: 7 }
  return {
    ...estate,
    resources: [
      ...resources,
      changing(machine, 'changing', {
        do: 'update',
        reason: 'differs',
        externalId: '120',
        steps: [],
        changes: [
          { path: 'cipassword', from: 'hunter2', to: 'hunter2-new', effect: 'restart', secret: true },
          { path: 'cpu.cores', from: 2, to: 4, effect: 'live', blocked: { message: 'm', allow: 'a' } },
        ],
      }),
      changing(machine, 'waiting', { do: 'wait', reason: 'Locked', message: 'a backup runs', lookAgainMs: 1000 }),
    ],
    problems: [
      {
        code: 'unknown-field',
        origin,
        object: 'Machine/x',
        field: 'spec.cpus',
        message: 'm',
        hint: 'h',
        excerpt: '3 | port: 22 # as-a-person-wrote-it',
        severity: 'error',
      },
    ],
    // One host with another name in Git, and one with an unrelated namesake.
    hosts: [
      ...estate.hosts,
      { connection: 'host/cow', name: 'cow', online: true },
      { connection: 'host/twin', name: 'fun-bedbug', online: true },
    ],
    connections: [
      ...estate.connections.map((one) => ({
        ...one,
        state: 'suspect' as const,
        message: 'm',
        allow: 'a',
        computers: { 'still-fawn': '192.168.4.17:22', 'fun-bedbug': '192.168.4.18:22' },
      })),
      sshBox('host/cow', '192.168.4.17:22'),
      sshBox('host/twin', '192.168.4.19:22'),
    ],
    sources: estate.sources.map((one) => ({
      ...one,
      trouble: 'not signed',
      waiting: {
        commit: '1f2e3d4c5b6a79880716253443526170fedcba98',
        subject: 'Give everything more memory',
        author: 'Anna',
        plan: 'c31de1ead2c4',
        summary: 'Plan: 0 to add, 3 to change, 0 to destroy.',
        text: '  ~ Machine/k3s-vm-still-fawn\n      memory: 8192 → 16384\n\nPlan: 0 to add, 3 to change, 0 to destroy.\n',
        rows: [
          {
            key: 'Machine/k3s-vm-still-fawn',
            do: 'update' as const,
            text: 'memory differs',
            file: 'machines/fawn.yaml',
          },
          { key: 'Machine/k3s-vm-fun-bedbug', do: 'hold' as const, next: 'delete' as const, text: 'held' },
          { key: 'Machine/waiting', do: 'wait' as const, text: 'a backup runs', file: 'machines/other.yaml' },
        ],
        sinceMs: one.committedMs ?? 0,
      },
    })),
    power: [
      fakePower({
        ...goingOff(),
        holds: [HOLD],
        refusals: [HOLD],
        held: [HELD],
        warnings: ['w'],
        onDemand: [{ node: 'duck', power: 'off', wanting: ['ml/train'] }],
      }),
    ],
    drifts: [
      {
        key: KEY,
        field: 'cpu.cores',
        declared: '4',
        observed: '6',
        sinceMs: NOW,
        by: { user: 'root@pam', task: 'qmset', atMs: NOW },
        policy: 'report',
      },
    ],
    clusters: [upgrading()],
    disruption: {
      worst: 'data-loss',
      destroyed: 1,
      items: [
        {
          subject: 'Machine/changing',
          worst: 'data-loss',
          restarts: 1,
          drains: 0,
          votesAway: 0,
          minutesAway: 10,
          minutes: 10,
          lost: ['Machine/changing'],
          text: 'is destroyed with its disks and created again',
        },
      ],
    },
  }
}

function changing(like: ResourceView, name: string, action: Action): ResourceView {
  return { ...like, key: `Machine/${name}`, kind: 'Machine', name, status: 'Pending', conditions: [], action }
}

/** A cluster in which something is done, awaited, held and refused at once. */
function upgrading(): ClusterView {
  const [first = '', ...others] = NODES
  const working = { name: first, version: 'v1.34.3+k3s1', working: 'install v1.35.0+k3s1', phase: 'Working' as const }
  const one = cluster('homelab', 'v1.35.0+k3s1', [working, ...others.map((name) => ({ name }))], 'Upgrading')
  const nodes = one.observed.nodes.map((node) =>
    typeof node.kube === 'string' ? node : { ...node, kube: { ...node.kube, drainBlockedBy: 'media/jellyfin' } },
  )
  return {
    ...one,
    observed: { ...one.observed, nodes },
    operation: { name: 'restore', step: 'start the first server', sinceMs: NOW, stopped: false },
    decision: {
      ...one.decision,
      holds: [{ node: first, guard: 'quorum', reason: 'r', allow: 'a' }],
      refusals: [{ node: first, guard: 'version', reason: 'r', allow: 'a' }],
      waits: [{ node: first, awaits: 'w', sinceMs: NOW, untilMs: NOW }],
      warnings: ['w'],
    },
  }
}

function sshBox(name: string, place: string): EstateView['connections'][number] {
  return { name, driver: 'ssh', endpoint: `ssh://root@${place}`, state: 'ok', computers: { '': place } }
}
