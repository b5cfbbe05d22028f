import { seededRandom } from '../../lib/random.ts'
import { overwriting } from '../../model/destruction.ts'
import type { EstateView, HostView, ResourceView } from '../../model/estate-view.ts'
import type { Action } from '../../model/plan.ts'
import type { Condition } from '../../model/record.ts'
import { harmOf, type Step } from '../../model/step.ts'
import { cluster, type NodeLook } from './fake-cluster.ts'
import { COMMIT, DAY, HOUR, MINUTE, NOW } from './fake-moment.ts'
import { fakePower } from './fake-power.ts'

export function conditions(synced: boolean, ready: boolean, words: Partial<Record<string, string>> = {}): Condition[] {
  const of = (type: Condition['type'], yes: boolean, reason: string, message: string): Condition => ({
    type,
    status: yes ? 'True' : 'False',
    reason,
    message,
    sinceMs: NOW - (yes ? 3 * DAY : 4 * MINUTE),
  })
  return [
    of('Synced', synced, synced ? 'InSync' : (words.synced ?? 'OutOfSync'), words.syncedMessage ?? 'as declared'),
    of(
      'Ready',
      ready,
      ready ? 'Up' : (words.ready ?? 'NotUp'),
      words.readyMessage ?? (ready ? 'running, agent up' : 'not up'),
    ),
    of('Stalled', words.stalled !== undefined, words.stalled ?? 'NotStalled', words.stalledMessage ?? ''),
  ]
}

export function machine(name: string, host: string, id: number, more: Partial<ResourceView> = {}): ResourceView {
  return {
    key: `Machine/${name}`,
    kind: 'Machine',
    name,
    connection: 'default',
    host,
    externalId: String(id),
    status: 'Running',
    conditions: conditions(true, true),
    action: { do: 'nothing' },
    power: 'running',
    addresses: [`192.168.4.${id % 250}`],
    origin: { file: `machines/${name}.yaml`, line: 2, commit: COMMIT },
    paused: false,
    observed: {
      'cpu.cores': '4',
      'memory.dedicatedMb': '8192',
      'disks.scsi0.sizeGb': '50',
      'network.net0.bridge': 'vmbr0',
      onBoot: 'true',
      agent: 'running',
    },
    ...more,
  }
}

export function step(
  verb: Step['verb'],
  summary: string,
  host: string,
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
): Step {
  const goes = verb === 'delete'
  return {
    ...harmOf(
      goes
        ? { verb, disruption: 'data-loss', ...overwriting(`vm on ${host}`, []) }
        : { verb, disruption: verb === 'reboot' ? 'restart' : 'none' },
    ),
    summary,
    lane: 'rest',
    host,
    queues: [`host/${host}`],
    call: { method, path, params: { cores: '4', memory: '8192', ciuser: 'ubuntu', cipassword: 'ref:password' } },
    secretParams: ['cipassword'],
  }
}

export function heldDeletion(name: string, host: string, id: number): Action {
  return {
    do: 'hold',
    guard: 'blast-radius',
    reason: 'this commit would delete 4 of 6 machines, and at most one is deleted without being asked',
    allow: 'approve it here, or commit an Approval that names them',
    shows: [`VM ${id} (${name}) and its discs`],
    held: {
      do: 'delete',
      externalId: String(id),
      host,
      steps: [
        step('shutdown', `shut down VM ${id}`, host, 'POST', `/nodes/${host}/qemu/${id}/status/shutdown`),
        step('delete', `delete VM ${id} (${name}) and its discs`, host, 'DELETE', `/nodes/${host}/qemu/${id}`),
      ],
    },
  }
}

const GIB = 1024 ** 3

function host(name: string, cpus: number, gib: number, load: number, used: number, temperatureC: number): HostView {
  const memoryBytes = gib * GIB
  return {
    connection: 'default',
    name,
    online: true,
    cpus,
    memoryBytes,
    memoryUsedBytes: memoryBytes * used,
    temperatureC,
    watts: Math.round(20 + cpus * (1 + 2 * load)),
    load,
  }
}

const SOURCE = {
  name: 'homelab',
  remote: 'ssh://git@git.lan/homelab.git',
  ref: 'main',
  commit: COMMIT,
  subject: 'Give k3s-vm-still-fawn 8 GiB',
  author: 'Anna',
  committedMs: NOW - 3 * HOUR,
  lookedMs: NOW - 12_000,
}

/** Three hosts, three machines, one cluster: what most people have. */
export function smallEstate(): EstateView {
  const nodes = ['k3s-vm-pumped-piglet-gpu', 'k3s-vm-still-fawn', 'k3s-vm-fun-bedbug']
  const hosts = ['pumped-piglet', 'still-fawn', 'fun-bedbug']
  return {
    version: 1,
    atMs: NOW,
    sources: [SOURCE],
    problems: [],
    connections: [{ name: 'default', driver: 'proxmox', endpoint: 'https://192.168.4.175:8006', state: 'ok' }],
    hosts: [
      host('pumped-piglet', 24, 64, 0.34, 0.62, 54),
      host('still-fawn', 8, 32, 0.12, 0.41, 47),
      host('fun-bedbug', 4, 16, 0.71, 0.83, 78),
    ],
    resources: [
      {
        ...machine('ubuntu-noble', 'still-fawn', 1),
        key: 'Image/ubuntu-noble',
        kind: 'Image',
        externalId: 'local:import/noble.qcow2',
        status: 'Present',
        addresses: [],
        observed: { size: '612 MiB', sha256: '3f1c…9a' },
        origin: { file: 'images/ubuntu-noble.yaml', line: 1, commit: COMMIT },
      },
      ...nodes.map((name, index) =>
        machine(name, hosts[index] ?? '', [108, 109, 114][index] ?? 0, { cluster: 'homelab' }),
      ),
    ].map((one) => (one.kind === 'Image' ? withoutPower(one) : one)),
    clusters: [
      cluster(
        'homelab',
        'v1.34.3+k3s1',
        nodes.map((name) => ({ name })),
      ),
    ],
    power: [fakePower()],
    drifts: [],
    checks: [
      { name: 'ingress answers', passed: 'yes', output: '200 in 14 ms', atMs: NOW - MINUTE },
      { name: 'dns resolves', passed: 'yes', output: 'homelab.lan → 192.168.4.79', atMs: NOW - MINUTE },
    ],
    commits: [
      {
        source: 'homelab',
        commit: COMMIT,
        subject: SOURCE.subject,
        author: 'Anna',
        committedMs: SOURCE.committedMs,
        seenMs: SOURCE.committedMs + 400,
      },
      {
        source: 'homelab',
        commit: '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
        subject: 'Add k3s-vm-fun-bedbug as third server',
        author: 'Anna',
        committedMs: NOW - 26 * HOUR,
        seenMs: NOW - 26 * HOUR + 600,
      },
    ],
    pass: { endedMs: NOW - 4_000, tookMs: 182, effects: 0, nextMs: NOW + 6_000 },
  }
}

function withoutPower({ power: _, ...rest }: ResourceView): ResourceView {
  return rest
}

/** Twenty hosts, four clusters, a thousand machines, and some of everything that can be wrong. */
export function largeEstate(count = 1000): EstateView {
  const random = seededRandom(7)
  const hosts = Array.from({ length: 20 }, (_, index) =>
    host(
      `pve-${String(index + 1).padStart(2, '0')}`,
      32,
      256,
      0.1 + random.next() * 0.7,
      0.3 + random.next() * 0.6,
      42 + Math.floor(random.next() * 30),
    ),
  )
  const names = ['prod', 'staging', 'edge', 'lab']
  const resources: ResourceView[] = []
  for (let index = 0; index < count; index += 1) {
    const where = hosts[index % hosts.length]?.name ?? ''
    const own = index % 5 === 0 ? undefined : names[index % 4]
    const name = own === undefined ? `web-${index}` : `${own}-node-${index}`
    let one = machine(name, where, 100 + index, own === undefined ? {} : { cluster: own })
    if (index % 97 === 3)
      one = {
        ...one,
        status: 'Stalled',
        conditions: conditions(false, false, {
          stalled: 'PermissionDenied',
          stalledMessage: 'the token may not change VM.Config.Memory on this pool',
          syncedMessage: 'memory differs',
        }),
      }
    else if (index % 61 === 5)
      one = {
        ...one,
        status: 'Waiting',
        conditions: conditions(false, false, {
          ready: 'AgentSilent',
          readyMessage: 'the guest agent has not answered for 4 minutes',
        }),
      }
    else if (index % 89 === 7) one = { ...one, paused: true }
    else if (index % 113 === 11)
      one = {
        ...one,
        status: 'Held',
        action: heldDeletion(name, where, 100 + index),
        conditions: conditions(false, true, { synced: 'Held', syncedMessage: 'held by blast-radius' }),
      }
    resources.push(one)
  }
  const clusters = names.map((name, at) => {
    const own = resources.filter((one) => one.cluster === name)
    return cluster(
      name,
      'v1.34.3+k3s1',
      own.slice(0, 60).map(
        ({ name: node, conditions: seen }, index): NodeLook => ({
          name: node,
          role: index < 3 ? 'server' : 'agent',
          ready: index < 3 ? !(at === 2 && index === 1) : seen[1]?.status === 'True',
          ...(at === 1 && index > 20 ? { version: 'v1.33.6+k3s1' } : {}),
          ...(at === 1 && index === 21
            ? { working: `install v1.34.3+k3s1 on ${node}`, phase: 'Working' as const }
            : {}),
        }),
      ),
      at === 1 ? 'Upgrading' : at === 2 ? 'Degraded' : 'Ready',
    )
  })
  const drifts = resources
    .filter((_, index) => index % 83 === 17)
    .map(({ key }, index) => ({
      key,
      field: index % 2 === 0 ? 'cpu.cores' : 'memory.dedicatedMb',
      declared: index % 2 === 0 ? '4' : '8192',
      observed: index % 2 === 0 ? '6' : '4096',
      sinceMs: NOW - (index + 1) * 11 * MINUTE,
      by: { user: 'root@pam', task: 'qmconfig', atMs: NOW - (index + 1) * 11 * MINUTE },
      policy: 'report' as const,
    }))
  return { ...smallEstate(), hosts, resources, clusters, drifts }
}
