import type { ResourceKey } from '../../model/declaration.ts'
import type { ObservedPowerHost, PowerNode } from '../../model/observed-power.ts'
import { type PowerHost, type PowerWorkload, type ScaledTier, type Tier, WORKLOAD_TIERS } from '../../model/power.ts'
import type { Step } from '../../model/step.ts'
import { awaiting, held, inTurn, merge, NOTHING, type PowerFinding, stepAndWait } from './finding.ts'
import { hooksOf } from './hooks.ts'
import { isDown, isLast, nodesOf, type PowerSituation, seenHost, spoken, waited } from './view.ts'

/** Shuts down everything that must be off: dependents before their dependencies. */
export function goDown(view: PowerSituation): PowerFinding {
  return inTurn([
    () => clusterSpeaks(view),
    () => (view.targets.cluster ? workloads(view) : NOTHING),
    () => (view.targets.nodes.size === 0 ? NOTHING : inTurn([() => disarmed(view), () => nodes(view)])),
    () => machines(view, 'machines'),
    () => hosts(view, 'hosts'),
    () => machines(view, 'infrastructure'),
    () => hosts(view, 'last-hosts'),
  ])
}

/** Waits for an API that is briefly away: the workloads have not been stopped yet. */
function clusterSpeaks(view: PowerSituation): PowerFinding {
  const { cluster } = view.observed
  if (!view.targets.cluster || cluster === undefined || cluster.api === 'yes') return NOTHING
  const servers = cluster.nodes.filter(({ role }) => role === 'server')
  const away = servers.filter((node) => isDown(node) || node.k3s === 'stopped' || node.k3s === 'absent')
  // Without a majority of servers the cluster can no longer stop its workloads, so the rest goes down. The state of
  // external servers is unknown, so they count as up.
  if (servers.length > 0 && servers.length - away.length < Math.floor(servers.length / 2) + 1) return NOTHING
  return awaiting(view, { tier: 'gitops', what: 'the API', awaits: 'an answer of the API', deadline: 'scale' })
}

function workloads(view: PowerSituation): PowerFinding {
  const cluster = spoken(view)
  if (cluster === undefined) return NOTHING
  return inTurn([
    ...WORKLOAD_TIERS.filter((tier) => tier !== 'storage-clients').flatMap((tier) => [
      () => hooksOf(view, tier, 'off'),
      () => tierDown(view, tier),
    ]),
    () => hooksOf(view, 'volumes', 'off'),
    () => detached(view),
    // If only a drain detaches a volume, its CSI client must run until then.
    () => (cluster.attachments === 'unknown' || cluster.attachments.length > 0 ? NOTHING : clientsDown(view)),
  ])
}

/** Stops the workloads that attach and detach volumes once none is attached. */
function clientsDown(view: PowerSituation): PowerFinding {
  if (!view.targets.cluster || spoken(view) === undefined) return NOTHING
  return inTurn([() => hooksOf(view, 'storage-clients', 'off'), () => tierDown(view, 'storage-clients')])
}

/** Scales a tier's workloads down in parallel. If a controller scales one up again, croft repeats it. */
function tierDown(view: PowerSituation, tier: ScaledTier): PowerFinding {
  const all = workloadsIn(view, tier)
  if (all === 'unknown') return awaiting(view, { tier, what: tier, awaits: 'the list of workloads', deadline: 'scale' })
  const running = all.filter(({ replicas, pods }) => replicas > 0 || pods > 0)
  const pausing = running.filter(({ replicas }) => replicas > 0)
  const waits = merge(
    running.map((workload) =>
      awaiting(view, {
        tier,
        what: `${workload.namespace}/${workload.name}`,
        awaits: workload.kind === 'Database' ? 'hibernation' : 'its last pod to be gone',
        deadline: 'scale',
      }),
    ),
  )
  return merge([{ ...NOTHING, steps: pausing.map((workload) => pause(tier, workload)) }, waits])
}

function pause(tier: Tier, { kind, namespace, name, replicas }: PowerWorkload): Step<'power'> {
  const summary =
    kind === 'Database'
      ? `hibernate the database ${namespace}/${name}`
      : kind === 'CronJob'
        ? `suspend ${kind} ${namespace}/${name}`
        : `take ${kind} ${namespace}/${name} from ${replicas} to 0`
  return {
    about: 'power',
    verb: 'pause',
    tier,
    workload: { kind, namespace, name },
    lane: 'object',
    summary,
    awaits: kind === 'CronJob' ? 'it to be suspended' : 'its last pod to be gone',
  }
}

/** Waits for attached volumes. Those of pods that only a drain moves are awaited at their node. */
function detached(view: PowerSituation): PowerFinding {
  const cluster = spoken(view)
  if (cluster === undefined) return NOTHING
  const what = { tier: 'volumes', deadline: 'detach' } as const
  if (cluster.attachments === 'unknown')
    return awaiting(view, { ...what, what: 'volumes', awaits: 'the list of VolumeAttachments' })
  const busy = new Set(cluster.nodes.filter((node) => leftOn(node, true) !== 0).map(({ name }) => name))
  const hanging = cluster.attachments.filter(({ node }) => !busy.has(node))
  return merge(
    hanging.map(({ name, node }) =>
      awaiting(view, { ...what, what: `${name} on ${node}`, awaits: 'its VolumeAttachment to be gone' }),
    ),
  )
}

function disarmed(view: PowerSituation): PowerFinding {
  if (!view.spec.ha) return NOTHING
  const watching = view.observed.ha.filter(({ armed }) => armed === 'armed' || armed === 'disarming')
  return merge(
    watching.map(({ connection, armed }) => {
      const step: Step<'power'> = {
        about: 'power',
        verb: 'disarm-ha',
        tier: 'ha',
        connection,
        lane: 'rest',
        summary: `disarm HA on ${connection}`,
        awaits: 'HA to be disarmed',
      }
      const finding = stepAndWait(view, step, connection, 'stop')
      return armed === 'armed' ? finding : { ...finding, steps: [] }
    }),
  )
}

/** Marks and drains all nodes while the API answers; then workers stop, and servers after them. */
function nodes(view: PowerSituation): PowerFinding {
  const going = nodesOf(view).filter(({ name }) => view.targets.nodes.has(name))
  const [workers, servers] = [
    going.filter(({ role }) => role === 'agent'),
    going.filter(({ role }) => role === 'server'),
  ]
  return inTurn([
    () => hooksOf(view, 'workers', 'off'),
    () => marked(view, going),
    () =>
      merge(going.filter((node) => carriesVolumes(view, node)).map((node) => emptied(view, node, tierOfNode(node)))),
    () => clientsDown(view),
    () => merge(workers.map((node) => nodeDown(view, node, 'workers'))),
    () => (servers.length === 0 ? NOTHING : hooksOf(view, 'servers', 'off')),
    () => merge(servers.map((node) => emptied(view, node, 'servers'))),
    () => merge(servers.map((node) => stopped(view, node, 'servers'))),
  ])
}

function carriesVolumes(view: PowerSituation, { name }: PowerNode): boolean {
  const attachments = spoken(view)?.attachments ?? 'unknown'
  return view.targets.cluster && attachments !== 'unknown' && attachments.some(({ node }) => node === name)
}

function tierOfNode({ role }: PowerNode): Tier {
  return role === 'agent' ? 'workers' : 'servers'
}

/** Returns how many pods a drain has still to move; with the whole cluster, storage clients do not count. */
function leftOn({ podsToMove, clientsToMove = 0 }: PowerNode, sparesClients: boolean): number | 'unknown' {
  return podsToMove === 'unknown' || !sparesClients ? podsToMove : podsToMove - clientsToMove
}

function marked(view: PowerSituation, going: readonly PowerNode[]): PowerFinding {
  if (spoken(view) === undefined) return NOTHING
  const bare = going.filter(
    (node) => (node.kube === 'ready' || node.kube === 'not-ready') && (node.mark === undefined || !node.unschedulable),
  )
  return merge(
    bare.map((node) => {
      const step: Step<'power'> = {
        about: 'power',
        verb: 'mark-node',
        tier: tierOfNode(node),
        node: node.name,
        lane: 'object',
        summary: `cordon ${node.name} and taint it dns-unready`,
        awaits: 'cordon, taint and our mark',
      }
      return stepAndWait(view, step, node.name, 'drain')
    }),
  )
}

function nodeDown(view: PowerSituation, node: PowerNode, tier: Tier): PowerFinding {
  return inTurn([() => emptied(view, node, tier), () => stopped(view, node, tier)])
}

/** Empties a node before its shutdown: its pods are moved and its volumes are detached. */
function emptied(view: PowerSituation, node: PowerNode, tier: Tier): PowerFinding {
  const cluster = spoken(view)
  if (cluster === undefined || isDown(node) || node.kube === 'absent' || node.kube !== 'ready') return NOTHING
  const { name } = node
  const sparesClients = view.targets.cluster && carriesVolumes(view, node)
  return inTurn([
    () => {
      if (leftOn(node, sparesClients) === 0) return NOTHING
      const blocked = node.drainBlockedBy === undefined ? '' : ` (${node.drainBlockedBy})`
      const step = (force: boolean): Step<'power'> => ({
        about: 'power',
        verb: 'drain-node',
        tier,
        node: name,
        ...(force ? { force } : {}),
        ...(sparesClients ? { sparesClients } : {}),
        lane: 'object',
        summary: `${force ? 'delete what is left on' : 'drain'} ${name}${blocked}`,
        awaits: 'its pods to be gone',
      })
      return stepAndWait(view, step(false), name, 'drain', step(true))
    },
    () => {
      const own = cluster.attachments === 'unknown' ? [] : cluster.attachments.filter((one) => one.node === name)
      return merge(
        own.map((one) =>
          awaiting(view, {
            tier,
            what: `${one.name} on ${name}`,
            awaits: 'its VolumeAttachment to be gone',
            deadline: 'detach',
          }),
        ),
      )
    },
  ])
}

/** Stops K3s, then the machine. If croft has no access to it, an orderly shutdown stops K3s as well. */
function stopped(view: PowerSituation, node: PowerNode, tier: Tier): PowerFinding {
  if (isDown(node)) return node.machine === undefined ? NOTHING : off(node.machine)
  const { name, machine } = node
  return inTurn([
    () => {
      if (node.k3s !== 'running' && node.k3s !== 'starting') return NOTHING
      const step: Step<'power'> = {
        about: 'power',
        verb: 'stop-k3s',
        tier,
        node: name,
        lane: machine === undefined ? 'node-program' : 'agent',
        summary: `stop K3s on ${name}`,
        awaits: 'K3s to be stopped',
      }
      return stepAndWait(view, step, name, 'stop')
    },
    () =>
      machine === undefined
        ? NOTHING
        : shutDown(view, name, { tier, node: name, machine, awaits: 'its machine to be off' }),
  ])
}

function shutDown(
  view: PowerSituation,
  name: string,
  of: Pick<Step<'power'>, 'tier' | 'node' | 'awaits'> & { readonly machine: ResourceKey },
): PowerFinding {
  const step: Step<'power'> = {
    about: 'power',
    verb: 'stop-machine',
    lane: 'rest',
    summary: `shut ${name} down`,
    ...of,
  }
  return merge([off(of.machine), stepAndWait(view, step, name, 'stop')])
}

function off(machine: string): PowerFinding {
  return { ...NOTHING, machines: { [machine]: 'off' } }
}

function machines(view: PowerSituation, tier: 'machines' | 'infrastructure'): PowerFinding {
  const role = tier === 'machines' ? 'machine' : 'infrastructure'
  const going = view.observed.machines.filter((one) => one.role === role && view.targets.machines.has(one.key))
  return inTurn([
    () => (going.length === 0 ? NOTHING : hooksOf(view, tier, 'off')),
    () =>
      merge(
        going.map(({ key, name, power, exists }) =>
          power === 'off' || exists === 'no'
            ? off(key)
            : shutDown(view, name, { tier, machine: key, awaits: 'it to be off' }),
        ),
      ),
  ])
}

function hosts(view: PowerSituation, tier: 'hosts' | 'last-hosts'): PowerFinding {
  const { spec, observed, targets } = view
  const going = spec.hosts.filter(
    (host) => targets.hosts.has(host.name) && isLast(host, observed.machines) === (tier === 'last-hosts'),
  )
  // After the rest the NUT servers, whose readings say how long it may take, and then croft's own host.
  const rank = ({ own, tells }: PowerHost) => (own ? 2 : tells.length > 0 ? 1 : 0)
  const ordered = [0, 1, 2].map((one) => going.filter((host) => rank(host) === one))
  return inTurn([
    () => (going.length === 0 ? NOTHING : hooksOf(view, tier, 'off')),
    ...ordered.map((some) => () => merge(some.map((host) => hostDown(view, host, tier)))),
  ])
}

const HOST_OFF = 'the host to be off'

function hostDown(view: PowerSituation, host: PowerHost, tier: Tier): PowerFinding {
  const { name, own, bmc } = host
  const seen = seenHost(view, name)
  if (seen === undefined || seen.power === 'off') return NOTHING
  const step = (force: boolean): Step<'power'> => ({
    about: 'power',
    verb: 'stop-host',
    tier,
    host: name,
    ...(force ? { force } : {}),
    lane: own ? 'local' : 'power',
    summary: own
      ? `let ${name}, on which croft runs, go down by itself`
      : `${force ? 'take the power of' : 'shut'} the host ${name}${force ? '' : ' down'}`,
    awaits: HOST_OFF,
  })
  // Only a management controller can force it off; without one, croft asks the host again and continues.
  const forced = bmc === undefined || own ? undefined : step(true)
  if (own && !areOthersTold(view)) {
    return awaiting(view, { tier, what: name, awaits: 'the other hosts to be told', deadline: 'stop' })
  }
  return inTurn([() => emptyOfOthers(view, seen, tier), () => stepAndWait(view, step(false), name, 'stop', forced)])
}

/** However late it is, croft's own host goes in a later pass than the one that tells the others. */
function areOthersTold(view: PowerSituation): boolean {
  return view.spec.hosts.every((host) => {
    if (host.own || !view.targets.hosts.has(host.name)) return true
    const tier = isLast(host, view.observed.machines) ? 'last-hosts' : 'hosts'
    return (seenHost(view, host.name)?.power ?? 'off') === 'off' || waited(view, tier, host.name, HOST_OFF) > 0
  })
}

/** Guests outside this Power keep their host up: declared ones always, undeclared ones if configured. */
function emptyOfOthers(view: PowerSituation, { name, guests }: ObservedPowerHost, tier: Tier): PowerFinding {
  const keep = (some: readonly string[], guard: string, why: string, allow: string): PowerFinding => {
    if (some.length === 0) return NOTHING
    const shown = some.slice(0, 5).join(', ')
    const awaited = { tier, what: name, awaits: `${shown} to be off`, deadline: 'stop' } as const
    return held(view, awaited, { guard, reason: `${shown} run on ${name}, and ${why}`, allow })
  }
  if (guests === 'unknown') {
    const awaited = { tier, what: name, awaits: 'the list of its guests', deadline: 'stop' } as const
    const reason = `the hypervisor does not say what runs on ${name}`
    return held(view, awaited, {
      guard: 'stranger',
      reason,
      allow: `bring its connection back, or stop ${name} by hand`,
    })
  }
  const { others, undeclared } = guests
  const ignored = view.spec.strangers === 'shutdown' || view.wanted.urgent !== 'no'
  return merge([
    keep(others, 'others', 'this Power does not switch them', `stop them, or name them under machines of this Power`),
    keep(
      ignored ? [] : undeclared,
      'stranger',
      'no manifest declares them',
      `stop them, declare them, or set strangers: shutdown`,
    ),
  ])
}

export function workloadsIn(view: PowerSituation, tier: ScaledTier): readonly PowerWorkload[] | 'unknown' {
  const workloads = spoken(view)?.workloads ?? 'unknown'
  return workloads === 'unknown' ? 'unknown' : workloads.filter((workload) => workload.tier === tier)
}
