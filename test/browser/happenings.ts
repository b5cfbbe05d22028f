import type { EstateView } from '../../src/model/estate-view.ts'
import { cluster } from '../../src/server/testing/fake-cluster.ts'
import { type FakeController, withResource } from '../../src/server/testing/fake-controller.ts'
import { conditions, machine, smallEstate, step } from '../../src/server/testing/fake-estate.ts'
import { NOW } from '../../src/server/testing/fake-moment.ts'

export const FAWN = 'Machine/k3s-vm-still-fawn'
const PUSHED = 'feedc0ffee0123456789abcdef0123456789abcd'

/** Adds the machine and the cluster of the tests to an estate. */
export function withFawn(view: EstateView): EstateView {
  const small = smallEstate()
  const known = new Set(view.resources.map(({ key }) => key))
  return {
    ...view,
    hosts: [
      ...small.hosts.slice(0, 2),
      ...view.hosts.filter(({ name }) => !small.hosts.some((host) => host.name === name)),
    ],
    resources: [...small.resources.filter(({ key }) => !known.has(key)), ...view.resources],
    clusters: [...small.clusters, ...view.clusters.filter(({ name }) => name !== 'homelab')],
  }
}

export function withDrift(view: EstateView): EstateView {
  const by = { user: 'root@pam', task: 'qmset', atMs: NOW - 120_000 }
  const drift = {
    key: FAWN,
    field: 'cpu.cores',
    declared: '4',
    observed: '6',
    sinceMs: NOW - 120_000,
    by,
    policy: 'report' as const,
  }
  return { ...view, drifts: [drift, ...view.drifts] }
}

export function push(controller: FakeController): void {
  const steps = [
    step('create', 'create VM 900 (web-new) on still-fawn', 'still-fawn', 'POST', '/nodes/still-fawn/qemu'),
  ]
  const fresh = machine('web-new', 'still-fawn', 900, {
    status: 'Creating',
    conditions: conditions(false, false),
    origin: { file: 'machines/web-new.yaml', line: 2, commit: PUSHED },
    action: { do: 'create', externalId: '900', host: 'still-fawn', steps, reason: 'declared, does not exist yet' },
  })
  const commit = { source: 'homelab', commit: PUSHED, subject: 'Add web-new', author: 'Anna', committedMs: NOW - 1000 }
  controller.set(
    (view) => ({
      sources: view.sources.map((one) => ({ ...one, ...commit })),
      commits: [commit, ...(view.commits ?? [])],
      resources: [...view.resources, fresh],
    }),
    [{ key: fresh.key, type: 'Normal', reason: 'Started', message: 'create VM 900', commit: PUSHED }],
  )
}

export function finish(controller: FakeController): void {
  const done = { key: 'Machine/web-new', type: 'Normal' as const, commit: PUSHED }
  controller.set(() => ({}), [{ ...done, reason: 'Done', message: 'create VM 900' }], NOW + 5_000)
  controller.set(
    (view) => withResource(view, 'Machine/web-new', () => machine('web-new', 'still-fawn', 900)),
    [{ ...done, reason: 'Ready', message: 'running, agent up' }],
    NOW + 20_000,
  )
}

const NODES = ['k3s-vm-pumped-piglet-gpu', 'k3s-vm-still-fawn', 'k3s-vm-fun-bedbug']

function setHomelab(controller: FakeController, next: EstateView['clusters'][number]): void {
  controller.set((view) => ({ clusters: view.clusters.map((one) => (one.name === 'homelab' ? next : one)) }))
}

export function fail(controller: FakeController): void {
  const nodes = NODES.map((name, index) => ({
    name,
    ready: index !== 1,
    ...(index === 1 ? { message: 'the kubelet stopped posting' } : {}),
  }))
  setHomelab(controller, cluster('homelab', 'v1.34.3+k3s1', nodes, 'Degraded'))
}

export function upgrade(controller: FakeController, done: number): void {
  const nodes = NODES.map((name, index) => ({
    name,
    ...(index < done ? {} : { version: 'v1.34.3+k3s1' }),
    ...(index === done ? { working: `install v1.35.0+k3s1 on ${name}`, phase: 'Working' as const } : {}),
  }))
  const next = cluster('homelab', 'v1.35.0+k3s1', nodes, done === 3 ? 'Ready' : 'Upgrading')
  const before = controller.view().clusters.find(({ name }) => name === 'homelab')
  const requests = before?.observed.requests ?? next.observed.requests
  setHomelab(controller, { ...next, observed: { ...next.observed, requests } })
}
