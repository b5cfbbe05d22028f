import type { TierRow } from '../../model/observed-power.ts'
import { type Tier, WORKLOAD_TIERS } from '../../model/power.ts'
import type { PowerFinding } from './finding.ts'
import { isDown, isLast, nodesOf, type PowerSituation, seenHost, spoken } from './view.ts'

const DOWN: readonly Tier[] = [
  ...WORKLOAD_TIERS.filter((tier) => tier !== 'storage-clients'),
  'volumes',
  'storage-clients',
  'ha',
  'workers',
  'servers',
  'machines',
  'hosts',
  'infrastructure',
  'last-hosts',
]
const UP: readonly Tier[] = [
  'hosts',
  'infrastructure',
  'machines',
  'servers',
  'workers',
  'ha',
  'quorum',
  'dns',
  'storage',
  'nodes',
  ...[...WORKLOAD_TIERS].reverse(),
]

const EVIDENCE: Readonly<Record<Tier, { readonly down: string; readonly up: string }>> = {
  gitops: { down: 'no pod of a GitOps agent is left', up: 'GitOps agents are ready' },
  operators: { down: 'no pod of an operator is left', up: 'operators are ready' },
  apps: { down: 'no pod of an application is left', up: 'applications have their replicas back and are ready' },
  databases: { down: 'databases are hibernated', up: 'databases are ready' },
  'storage-clients': { down: 'no pod of a storage client is left', up: 'storage clients are ready' },
  volumes: { down: 'no VolumeAttachment is left', up: '' },
  ha: { down: 'HA is disarmed', up: 'HA is armed' },
  workers: { down: 'workers are drained, K3s is stopped, machines are off', up: 'machines of workers are on' },
  servers: { down: 'K3s is stopped on every server, machines are off', up: 'machines of servers are on' },
  machines: { down: 'other machines are off', up: 'other machines are on' },
  hosts: { down: 'hosts are off', up: 'hosts are on' },
  infrastructure: { down: 'gateway, DNS and DHCP are off', up: 'gateway, DNS and DHCP are on' },
  'last-hosts': { down: 'the last hosts are off', up: '' },
  quorum: { down: '', up: 'etcd has its majority and the API answers' },
  dns: { down: '', up: 'DNS answers' },
  storage: { down: '', up: 'storage is healthy' },
  nodes: { down: '', up: 'the taint is off, what croft cordoned is uncordoned' },
}

/** Returns the tiers in order, with progress and the awaited evidence. Omits tiers without members. */
export function tierRows(view: PowerSituation, finding: PowerFinding): readonly TierRow[] {
  const goesDown = view.wanted.state === 'off' || view.targets.cluster
  const doing = new Set<Tier>([
    ...finding.steps.map(({ tier }) => tier),
    ...finding.waits.map(({ tier }) => tier),
    ...finding.holds.flatMap(({ tier }) => (tier === undefined ? [] : [tier])),
  ])
  const order = goesDown ? DOWN : UP
  const rows = order.flatMap((tier) => {
    const count = goesDown ? countDown(view, tier) : countUp(view, tier)
    return count === undefined || count.of === 0 ? [] : [{ tier, ...count }]
  })
  return rows.map(({ tier, done, of }) => {
    // While work runs on a tier, the tier is not done, even if all its members look done.
    const state = doing.has(tier) ? 'doing' : done === of ? 'done' : 'todo'
    return { tier, state, progress: `${done} of ${of}`, awaits: EVIDENCE[tier][goesDown ? 'down' : 'up'] }
  })
}

interface TierCount {
  readonly done: number
  readonly of: number
}

function countDown(view: PowerSituation, tier: Tier): TierCount | undefined {
  const { observed, targets, spec } = view
  const scaled = WORKLOAD_TIERS.find((one) => one === tier)
  if (scaled !== undefined) return workloadCount(view, scaled, ({ replicas, pods }) => replicas === 0 && pods === 0)
  switch (tier) {
    case 'volumes': {
      if (observed.cluster === undefined) return undefined
      const left = spoken(view)?.attachments
      return left === undefined || left === 'unknown' ? { done: 1, of: 1 } : { done: left.length === 0 ? 1 : 0, of: 1 }
    }
    case 'ha':
      return spec.ha ? counted(watched(observed), ({ armed }) => armed !== 'armed' && armed !== 'disarming') : undefined
    case 'workers':
    case 'servers': {
      const role = tier === 'workers' ? 'agent' : 'server'
      return counted(
        nodesOf(view).filter((node) => node.role === role && targets.nodes.has(node.name)),
        isDown,
      )
    }
    case 'machines':
    case 'infrastructure':
      return counted(machinesIn(view, tier), ({ power }) => power === 'off')
    case 'hosts':
    case 'last-hosts': {
      const own = spec.hosts.filter(
        (host) => targets.hosts.has(host.name) && isLast(host, observed.machines) === (tier === 'last-hosts'),
      )
      return counted(own, ({ name }) => seenHost(view, name)?.power === 'off')
    }
    default:
      return undefined
  }
}

function countUp(view: PowerSituation, tier: Tier): TierCount | undefined {
  const { observed, targets, spec } = view
  const scaled = WORKLOAD_TIERS.find((one) => one === tier)
  if (scaled !== undefined) {
    return workloadCount(
      view,
      scaled,
      ({ remembered, ready, replicas }) => remembered === undefined && ready >= replicas,
    )
  }
  const flag = (yes: boolean): TierCount | undefined =>
    observed.cluster === undefined ? undefined : { done: yes ? 1 : 0, of: 1 }
  switch (tier) {
    case 'hosts':
      return counted(
        spec.hosts.filter(({ name }) => !targets.hosts.has(name)),
        ({ name }) => seenHost(view, name)?.power === 'on',
      )
    case 'infrastructure':
    case 'machines':
      return counted(machinesIn(view, tier), ({ power }) => power === 'on')
    case 'servers':
    case 'workers': {
      const role = tier === 'workers' ? 'agent' : 'server'
      const own = nodesOf(view).filter((node) => node.role === role && !targets.nodes.has(node.name))
      return counted(own, ({ power }) => power === 'on')
    }
    case 'ha':
      return spec.ha
        ? counted(watched(observed), ({ armed }) => armed !== 'disarmed' && armed !== 'disarming')
        : undefined
    case 'quorum':
      return flag(observed.cluster?.api === 'yes' && observed.cluster.quorum === 'yes')
    case 'dns':
      return flag(observed.cluster?.dns.up === 'yes')
    case 'storage':
      return flag(observed.cluster?.storage.up === 'yes')
    case 'nodes':
      return counted(
        nodesOf(view).filter(({ name }) => !targets.nodes.has(name)),
        ({ mark, kube }) => mark === undefined && kube === 'ready',
      )
    default:
      return undefined
  }
}

/** Returns hypervisors whose HA manages guests: without any the tier is empty. */
function watched({ ha }: PowerSituation['observed']): PowerSituation['observed']['ha'] {
  return ha.filter(({ armed }) => armed !== 'none')
}

function machinesIn({ observed }: PowerSituation, tier: 'machines' | 'infrastructure') {
  return observed.machines.filter(({ role }) => role === (tier === 'machines' ? 'machine' : 'infrastructure'))
}

type Workload = Exclude<NonNullable<ReturnType<typeof spoken>>['workloads'], 'unknown'>[number]

/** Counts workloads while the API is gone: a tier that is no longer visible went down before its servers. */
function workloadCount(
  view: PowerSituation,
  tier: Tier,
  isDone: (workload: Workload) => boolean,
): TierCount | undefined {
  const workloads = spoken(view)?.workloads
  if (workloads === undefined || workloads === 'unknown') {
    if (view.observed.cluster === undefined) return undefined
    return view.wanted.state === 'off' ? { done: 1, of: 1 } : { done: 0, of: 1 }
  }
  return counted(
    workloads.filter((one) => one.tier === tier),
    isDone,
  )
}

function counted<T>(all: readonly T[], isDone: (one: T) => boolean): TierCount {
  return { done: all.filter(isDone).length, of: all.length }
}
