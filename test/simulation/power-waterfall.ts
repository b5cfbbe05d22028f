import { all } from '../../sim/kubernetes/store.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import type { Step } from '../../src/model/step.ts'
import { formed, order, orderOf, untilPhase } from './power-run.ts'

/** A part of a power-off or power-on: what the world takes, or what croft lets pass before it goes on. */
export interface Part {
  readonly label: string
  readonly whose: 'world' | 'croft'
  readonly fromMs: number
  readonly toMs: number
}

export interface Measured {
  readonly parts: readonly Part[]
  readonly totalMs: number
  /** What the world takes, one thing after the other. */
  readonly criticalMs: number
  readonly addedMs: number
}

/** A stage ends when the world has reached something, and the next begins when croft does something about it. */
interface Stage {
  readonly label: string
  /** The steps with which croft begins it. */
  begins(step: Step<'power'>): boolean
  reached(): boolean
}

/** Off and on of a whole cluster in simulated time. */
export async function measurePower(seed: number): Promise<{ readonly off: Measured; readonly on: Measured }> {
  const { simulation, process, cluster } = await formed(seed)
  const { world } = simulation.datacentre
  const podsOf = (...names: readonly string[]) =>
    all(cluster.store, '/pods').filter(({ metadata }) => names.some((name) => metadata.name.startsWith(name)))
  const ready = (...names: readonly string[]) =>
    ['apps/deployments', 'apps/statefulsets']
      .flatMap((table) => all(cluster.store, table))
      .filter(({ metadata }) => names.includes(metadata.name))
      .every((one) => {
        const wanted = (one.spec as { replicas?: number }).replicas ?? 1
        return wanted > 0 && ((one.status as { readyReplicas?: number } | undefined)?.readyReplicas ?? 0) >= wanted
      })
  const guests = (...names: readonly string[]) =>
    [...world.guests.values()].filter((guest) => names.includes(guest.config.get('name') ?? ''))
  const [workers, servers] = [
    ['a1', 'a2'],
    ['s1', 's2', 's3'],
  ] as const
  const stopped = (names: readonly string[]) => names.every((name) => cluster.kubelets.get(name)?.alive !== true)
  const off = (names: readonly string[]) => guests(...names).every(({ run }) => run.status === 'stopped')
  const pauses = (tier: string) => (step: Step<'power'>) => step.verb === 'pause' && step.tier === tier
  const restores = (tier: string) => (step: Step<'power'>) => step.verb === 'restore' && step.tier === tier
  const on = (verb: Step<'power'>['verb'], tier?: string) => (step: Step<'power'>) =>
    step.verb === verb && (tier === undefined || step.tier === tier)

  const databaseReady = () =>
    all(cluster.store, 'postgresql.cnpg.io/clusters').every(
      ({ status }) => (status as { readonly readyInstances?: number } | undefined)?.readyInstances === 1,
    )
  const drained = () =>
    podsOf('loner').every(({ spec }) => (spec as { readonly nodeName?: string }).nodeName === undefined)

  const down: readonly Stage[] = [
    { label: 'GitOps pods end', begins: pauses('gitops'), reached: () => podsOf('argocd').length === 0 },
    { label: 'operators end', begins: pauses('operators'), reached: () => podsOf('photos-operator').length === 0 },
    { label: 'applications end', begins: pauses('apps'), reached: () => podsOf('web', 'photos').length === 0 },
    {
      label: 'databases end',
      begins: pauses('databases'),
      reached: () => podsOf('postgres', 'orders').length === 0,
    },
    {
      label: 'volumes are detached',
      // Without a request: the attacher detaches them when their pods are gone.
      begins: () => false,
      reached: () => all(cluster.store, 'storage.k8s.io/volumeattachments').length === 0,
    },
    {
      label: 'storage clients end',
      begins: pauses('storage-clients'),
      reached: () => podsOf('cnpg', 'rook-ceph.rbd').length === 0,
    },
    { label: 'nodes are drained', begins: on('mark-node'), reached: drained },
    { label: 'K3s on workers stops', begins: on('stop-k3s', 'workers'), reached: () => stopped(workers) },
    { label: 'workers go off', begins: on('stop-machine', 'workers'), reached: () => off(workers) },
    { label: 'K3s on servers stops', begins: on('stop-k3s', 'servers'), reached: () => stopped(servers) },
    { label: 'servers go off', begins: on('stop-machine', 'servers'), reached: () => off(servers) },
  ]
  const nodesReady = () =>
    all(cluster.store, '/nodes').every((node) => {
      const conditions = (node.status as { conditions?: readonly { type: string; status: string }[] }).conditions ?? []
      const lives = cluster.kubelets.get(node.metadata.name)?.alive === true
      return lives && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
    })
  const booted = () =>
    guests(...workers, ...servers).every(
      ({ run }) => run.bootedAtMs !== undefined && run.bootedAtMs <= world.clock.now(),
    )
  const up: readonly Stage[] = [
    { label: 'machines boot', begins: on('start-machine'), reached: booted },
    {
      label: 'K3s starts; nodes, DNS and storage are ready',
      begins: on('start-k3s'),
      reached: () => nodesReady() && ready('coredns', ...servers.map((name) => `rook-ceph-osd-${name}`)),
    },
    {
      label: 'storage clients start',
      begins: restores('storage-clients'),
      reached: () => ready('cnpg-controller-manager'),
    },
    {
      label: 'databases start',
      begins: restores('databases'),
      reached: () => ready('postgres') && databaseReady(),
    },
    { label: 'applications start', begins: restores('apps'), reached: () => ready('web', 'photos') },
    { label: 'operators start', begins: restores('operators'), reached: () => ready('photos-operator') },
    { label: 'GitOps is resumed', begins: restores('gitops'), reached: () => true },
  ]

  const measure = async (state: 'off' | 'on', stages: readonly Stage[]): Promise<Measured> => {
    const { clock } = simulation
    const startMs = clock.now()
    const beganMs: (number | undefined)[] = stages.map(() => undefined)
    const reachedMs: (number | undefined)[] = stages.map(() => undefined)
    let measuring = true
    const sample = () => {
      stages.forEach((stage, at) => {
        if (reachedMs[at] === undefined && (at === 0 || reachedMs[at - 1] !== undefined) && stage.reached())
          reachedMs[at] = clock.now()
        else if (reachedMs[at] !== undefined && !stage.reached() && beganMs[at + 1] === undefined)
          reachedMs[at] = undefined
      })
      if (measuring) clock.schedule(clock.now() + 20, sample)
    }
    await order(simulation, orderOf(simulation, state))
    const onPass = (report: PassReport) => {
      for (const step of report.powers?.[0]?.decision.steps ?? []) {
        // The last of its steps counts: what is done for one node early gains nothing.
        stages.forEach((stage, at) => {
          if (stage.begins(step) && (beganMs[at] === undefined || (at === 1 && state === 'on')))
            beganMs[at] = clock.now()
        })
      }
    }
    clock.schedule(clock.now() + 1, sample)
    await untilPhase(simulation, process, state === 'off' ? 'Off' : 'On', { onPass })
    measuring = false
    const endMs = clock.now()
    const parts: Part[] = []
    let beforeMs = startMs
    stages.forEach((stage, at) => {
      const began = Math.max(beganMs[at] ?? beforeMs, beforeMs)
      const reached = Math.max(reachedMs[at] ?? began, began)
      parts.push({ label: stage.label, whose: 'croft', fromMs: beforeMs, toMs: began })
      parts.push({ label: stage.label, whose: 'world', fromMs: began, toMs: reached })
      beforeMs = reached
    })
    parts.push({ label: 'all is seen', whose: 'croft', fromMs: beforeMs, toMs: endMs })
    const sum = (whose: Part['whose']) =>
      parts.filter((part) => part.whose === whose).reduce((total, { fromMs, toMs }) => total + toMs - fromMs, 0)
    return { parts, totalMs: endMs - startMs, criticalMs: sum('world'), addedMs: sum('croft') }
  }
  const offMeasured = await measure('off', down)
  const onMeasured = await measure('on', up)
  return { off: offMeasured, on: onMeasured }
}
