import type { LogQuestion, WorkloadNode, Workloads } from '../../model/workload.ts'
import { NOW } from './fake-moment.ts'

const EVENT = {
  type: 'Normal',
  reason: 'Started',
  message: 'Started container web',
  count: 1,
  atMs: NOW - 60_000,
} as const
const WARNING = {
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container web in pod web-7d9c-bad',
  count: 14,
  atMs: NOW - 5_000,
} as const

function pod(name: string, broken: boolean): WorkloadNode {
  const state = broken ? 'CrashLoopBackOff' : 'Running'
  return {
    id: name,
    parent: 'rs',
    kind: 'Pod',
    namespace: 'web',
    name,
    state: broken ? 'bad' : 'ok',
    status: state,
    createdMs: NOW - 7_200_000,
    node: 'k3s-vm-still-fawn',
    restarts: broken ? 14 : 0,
    containers: [
      {
        name: 'web',
        image: 'registry.lan/web:1.4.2',
        state,
        ready: !broken,
        restarts: broken ? 14 : 0,
        previous: broken,
      },
    ],
    events: broken ? [WARNING, EVENT] : [EVENT],
  }
}

const above = { namespace: 'web', createdMs: NOW - 7_200_000, events: [] } as const
/** An add-on `web` on `homelab`: a Deployment with one pod that runs and one that crashes. */
const NODES: readonly WorkloadNode[] = [
  { ...above, id: 'ns', kind: 'Namespace', name: 'web', state: 'ok', status: 'Active' },
  {
    ...above,
    id: 'd',
    key: 'Addon/web/Deployment-web',
    kind: 'Deployment',
    name: 'web',
    state: 'busy',
    status: '1/2 ready',
  },
  { ...above, id: 'rs', parent: 'd', kind: 'ReplicaSet', name: 'web-7d9c', state: 'busy', status: '1/2 ready' },
  pod('web-7d9c-fine', false),
  pod('web-7d9c-bad', true),
]

export interface FakeWorkloads extends Workloads {
  readonly asked: LogQuestion[]
  /** Sends a line to all followers. */
  say(line: string): void
}

export function fakeWorkloads(): FakeWorkloads {
  const followers = new Set<(line: string) => void>()
  const asked: LogQuestion[] = []
  return {
    asked,
    say(line) {
      for (const tell of followers) tell(line)
    },
    tree: async (cluster, addon) =>
      cluster === 'homelab' && addon === 'web'
        ? { nodes: NODES, notes: ['Only the newest 500 objects are shown.'] }
        : undefined,
    async log(question, onLine, signal) {
      asked.push(question)
      const { pod: name, previous, follow } = question
      const found = NODES.find((one) => one.kind === 'Pod' && one.name === name)
      if (found === undefined) return { ok: false, reason: 'not-found', message: `There is no pod ${name}.` }
      if (previous && found.state === 'ok')
        return { ok: false, reason: 'refused', message: `${name}: previous terminated container "web" not found` }
      onLine(previous ? 'panic: no database' : 'listening on :8080')
      if (!follow) return { ok: true }
      followers.add(onLine)
      await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
      followers.delete(onLine)
      return { ok: true }
    },
  }
}
