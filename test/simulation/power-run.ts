import assert from 'node:assert/strict'
import type { Datacentre } from '../../sim/datacentre.ts'
import { all, put } from '../../sim/kubernetes/store.ts'
import type { EtcdCluster } from '../../sim/world/types.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { powerRequestsName } from '../../src/engine/power/notes.ts'
import type { PowerPhase } from '../../src/model/observed-power.ts'
import type { PowerRequests } from '../../src/model/power.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { addDatabase, startActors } from './power-actors.ts'
import { attachStorage } from './power-storage.ts'
import type { Process } from './process.ts'
import type { Simulation } from './run.ts'

export function powerManifest(spec = ''): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: homelab}
spec:
  cluster: homelab
${spec}`
}

/** Notes an order as the CLI does. */
export async function order(simulation: Simulation, requests: PowerRequests): Promise<void> {
  const store = createMemoryStore(simulation.disk)
  await store.putRequests(powerRequestsName('homelab'), JSON.stringify(requests))
}

export function orderOf(simulation: Simulation, state: 'on' | 'off'): PowerRequests {
  return { wanted: { state, by: 'tapas', why: 'test', atMs: simulation.clock.now() }, holds: [] }
}

/** Lets a controller run until the Power is in a phase, nothing more is under way, or the time is over. */
export async function untilPhase(
  simulation: Simulation,
  process: Process,
  phase: PowerPhase,
  options: {
    readonly mostMs?: number
    readonly onPass?: (report: PassReport) => void
    /** Something else that counts as the end. */
    readonly orWhen?: (report: PassReport) => boolean
  } = {},
): Promise<'reached' | 'killed' | 'late'> {
  const { clock } = simulation
  const endMs = clock.now() + (options.mostMs ?? 3_600_000)
  const signal = new AbortController().signal
  while (clock.now() < endMs) {
    const pass = process.engine.pass(simulation.estate, signal)
    const report = await clock.runUntil(Promise.race([pass, process.death]), { maxMs: 3_600_000 })
    if ('killed' in report) return 'killed'
    options.onPass?.(report)
    const decision = report.powers?.[0]?.decision
    if (decision?.phase === phase && decision.ended === undefined && (report.settled || phase !== 'On'))
      return 'reached'
    if (options.orWhen?.(report) === true) return 'reached'
    await clock.advanceTo(clock.now() + Math.max(report.lookAgainMs, 10))
  }
  return 'late'
}

/** Workloads of the sort that a homelab has: GitOps, an operator, applications with a volume, a database. */
export function fillCluster(cluster: EtcdCluster): void {
  const workload = (
    kind: 'Deployment' | 'StatefulSet',
    namespace: string,
    name: string,
    replicas: number,
    more: {
      readonly labels?: Record<string, string>
      readonly claim?: string
      readonly node?: string
      readonly containers?: readonly string[]
    } = {},
  ) => {
    const labels = { app: name, ...more.labels }
    put(cluster.store, kind === 'Deployment' ? 'apps/deployments' : 'apps/statefulsets', {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, namespace, labels, uid: `${namespace}-${name}`, generation: 1 },
      spec: {
        replicas,
        serviceName: name,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 30,
            containers: (more.containers ?? ['main']).map((one) => ({ name: one, image: `example/${one}:1` })),
            ...(more.node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': more.node } }),
            ...(more.claim === undefined
              ? {}
              : { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: more.claim } }] }),
          },
        },
      },
    })
  }
  const argocd = { labels: { 'app.kubernetes.io/part-of': 'argocd' } }
  workload('StatefulSet', 'argocd', 'argocd-application-controller', 1, argocd)
  workload('Deployment', 'argocd', 'argocd-server', 2, argocd)
  workload('Deployment', 'default', 'photos-operator', 1)
  workload('Deployment', 'default', 'web', 3)
  workload('Deployment', 'default', 'photos', 1, { claim: 'photos' })
  workload('Deployment', 'default', 'resting', 0)
  workload('StatefulSet', 'data', 'postgres', 1, {
    labels: { 'app.kubernetes.io/component': 'database' },
    claim: 'postgres',
  })
  const cnpg = { labels: { 'app.kubernetes.io/name': 'cloudnative-pg' } }
  workload('Deployment', 'cnpg-system', 'cnpg-controller-manager', 1, cnpg)
  // What attaches and detaches volumes, as Rook 1.19 names it.
  workload('Deployment', 'rook-ceph', 'rook-ceph.rbd.csi.ceph.com-ctrlplugin', 2, {
    containers: ['csi-rbdplugin', 'csi-provisioner', 'csi-resizer', 'csi-attacher', 'csi-snapshotter'],
  })
  addDatabase(cluster, 'data', 'orders')
  // Storage daemons are bound to the node whose disk they serve.
  const daemon = { labels: { 'app.kubernetes.io/managed-by': 'rook-ceph-operator' } }
  for (const node of ['s1', 's2', 's3'])
    workload('Deployment', 'rook-ceph', `rook-ceph-osd-${node}`, 1, { ...daemon, node })
  // It is not scaled: only a drain moves its pod.
  put(cluster.store, 'apps/replicasets', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'loner', namespace: 'default', uid: 'default-loner', generation: 1 },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'loner' } },
      template: {
        metadata: { labels: { app: 'loner' } },
        spec: { containers: [{ name: 'main', image: 'example/main:1' }] },
      },
    },
  })
}

interface Workload {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly annotations?: Record<string, string>
  }
  readonly spec: { readonly replicas?: number }
}

/** Replicas by name, without the system's own. */
export function replicasOf(cluster: EtcdCluster): Readonly<Record<string, number>> {
  const found = ['apps/deployments', 'apps/statefulsets'].flatMap(
    (table) => all(cluster.store, table) as unknown as readonly Workload[],
  )
  return Object.fromEntries(
    found
      .filter(({ metadata }) => metadata.namespace !== 'kube-system')
      .map(({ metadata, spec }) => [metadata.name, spec.replicas ?? 1])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
}

/** Nothing of ours is left: no mark, no cordon, no taint, and every workload has what it had. */
export function nothingLeft(simulation: Simulation, replicas: Readonly<Record<string, number>>, hint: string): void {
  const cluster = etcdOf(simulation, hint)
  assert.ok(cluster, hint)
  assert.deepEqual(replicasOf(cluster), replicas, `replicas; ${hint}`)
  for (const table of ['apps/deployments', 'apps/statefulsets', 'postgresql.cnpg.io/clusters', '/nodes']) {
    for (const { metadata } of all(cluster.store, table)) {
      const marks = Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('croft.dev/power'))
      assert.deepEqual(marks, [], `${metadata.name} carries our mark; ${hint}`)
      assert.equal(metadata.annotations?.['cnpg.io/hibernation'], undefined, `${metadata.name} is hibernated; ${hint}`)
    }
  }
  for (const node of all(cluster.store, '/nodes')) {
    const spec = node.spec as { unschedulable?: boolean; taints?: readonly { key: string }[] }
    assert.notEqual(spec.unschedulable, true, `${node.metadata.name} is cordoned; ${hint}`)
    assert.ok(
      !(spec.taints ?? []).some(({ key }) => key === 'dns-unready'),
      `${node.metadata.name} is tainted; ${hint}`,
    )
  }
}

/** Which guests run. */
export function running(datacentre: Datacentre): readonly number[] {
  return [...datacentre.world.guests.values()].filter(({ run }) => run.status === 'running').map(({ vmid }) => vmid)
}

/** A cluster that has formed, with workloads and storage, and a Power over it. */
export async function formed(
  seed: number,
  power = '',
  more: {
    readonly agents?: readonly string[]
    readonly manifests?: string
    readonly power?: Parameters<typeof simulateCluster>[0]['power']
    readonly onKubernetes?: Parameters<typeof simulateCluster>[0]['onKubernetes']
    readonly hostLines?: (name: string) => string
  } = {},
) {
  const manifests = clusterManifest({ agents: more.agents ?? ['a1', 'a2'] }) + (more.manifests ?? '')
  const simulation = simulateCluster({
    seed,
    estate: clusterEstate(manifests + powerManifest(power), more.hostLines),
    ...(more.power === undefined ? {} : { power: more.power }),
    ...(more.onKubernetes === undefined ? {} : { onKubernetes: more.onKubernetes }),
  })
  const process = simulation.start()
  const hint = `seed ${seed}`
  assert.equal(await simulation.untilSettled(process), 'settled', hint)
  const cluster = etcdOf(simulation, hint)
  assert.ok(cluster)
  const storage = attachStorage(simulation, cluster)
  fillCluster(cluster)
  const actors = startActors(simulation, cluster)
  await simulation.clock.advanceTo(simulation.clock.now() + 60_000)
  return { simulation, process, cluster, storage, actors, hint, replicas: replicasOf(cluster) }
}

/** Lets a controller run until something is so. Undefined: it never was, in so much time. */
export async function until(
  simulation: Simulation,
  process: Process,
  want: (report: PassReport) => boolean,
  mostMs: number,
): Promise<PassReport | undefined> {
  const { clock } = simulation
  const endMs = clock.now() + mostMs
  const signal = new AbortController().signal
  while (clock.now() < endMs) {
    const report = await clock.runUntil(process.engine.pass(simulation.estate, signal), { maxMs: 3_600_000 })
    if (want(report)) return report
    await clock.advanceTo(clock.now() + Math.min(Math.max(report.lookAgainMs, 10), 10_000))
  }
  return undefined
}
