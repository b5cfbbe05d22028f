import { defined } from '../../lib/defined.ts'
import type { PowerNode } from '../../model/observed-power.ts'
import { type ScaledTier, WORKLOAD_TIERS } from '../../model/power.ts'
import type { Step } from '../../model/step.ts'
import { workloadsIn } from './down.ts'
import { awaiting, inTurn, merge, NOTHING, type PowerFinding, stepAndWait } from './finding.ts'
import { hooksOf } from './hooks.ts'
import { nodesOf, type PowerSituation, seenHost, spoken } from './view.ts'

/** Starts everything that must be on: dependencies before their dependents. */
export function goUp(view: PowerSituation): PowerFinding {
  return inTurn([
    () => hosts(view),
    () => infrastructure(view),
    () => machines(view),
    () => armed(view),
    () => (view.targets.cluster || view.observed.cluster === undefined ? NOTHING : cluster(view)),
  ])
}

/** Starts all boxes that must be on at once. Starting a running one does nothing. */
function hosts(view: PowerSituation): PowerFinding {
  const { spec, targets } = view
  const wanted = spec.hosts.filter(({ name }) => !targets.hosts.has(name))
  const sleeping = wanted.filter(({ name }) => seenHost(view, name)?.power !== 'on')
  const all = merge(
    sleeping.map(({ name }) => {
      if (view.wanted.unwoken.has(name)) return unwoken(name, view.wanted.unwoken.get(name))
      const step: Step<'power'> = {
        about: 'power',
        verb: 'wake-host',
        tier: 'hosts',
        host: name,
        lane: 'power',
        summary: `wake the host ${name}`,
        awaits: 'the host to be on',
      }
      return stepAndWait(view, step, name, 'start')
    }),
  )
  return inTurn([() => all, () => hooksOf(view, 'hosts', 'on')])
}

/** Reports a host that must not be woken. It blocks no tier: what needs the host waits for it by itself. */
function unwoken(name: string, why: string | undefined): PowerFinding {
  if (why === undefined) return NOTHING
  const allow = 'the UPS answers and is charged, or croft power on --ignore-holds'
  return { ...NOTHING, holds: [{ tier: 'hosts', guard: 'ups', reason: `${name} is not woken: ${why}`, allow }] }
}

function infrastructure(view: PowerSituation): PowerFinding {
  const own = view.observed.machines.filter(
    ({ role, key }) => role === 'infrastructure' && !view.targets.machines.has(key),
  )
  return inTurn([
    () =>
      merge(
        own
          .filter(({ power, exists }) => power !== 'on' && exists === 'yes')
          .map(({ key, name }) =>
            stepAndWait(view, startMachine(name, { tier: 'infrastructure', machine: key }), name, 'start'),
          ),
      ),
    () => (own.length === 0 ? NOTHING : hooksOf(view, 'infrastructure', 'on')),
  ])
}

/** Starts all others at once: a worker waits for its servers by itself, so only the longest boot counts. */
function machines(view: PowerSituation): PowerFinding {
  const { observed, targets } = view
  const roles = new Map(nodesOf(view).flatMap((node) => (node.machine === undefined ? [] : [[node.machine, node]])))
  const steps = observed.machines.flatMap(({ key, name, role, power, exists }): readonly Step<'power'>[] => {
    const node = roles.get(key)
    const off = node === undefined ? targets.machines.has(key) : targets.nodes.has(node.name)
    if (off || role === 'infrastructure' || power !== 'off' || exists !== 'yes') return []
    const tier = node === undefined ? 'machines' : node.role === 'server' ? 'servers' : 'workers'
    return [startMachine(name, defined({ tier, machine: key, node: node?.name }))]
  })
  return { ...NOTHING, steps }
}

function startMachine(name: string, of: Pick<Step<'power'>, 'tier' | 'machine' | 'node'>): Step<'power'> {
  return { about: 'power', verb: 'start-machine', lane: 'rest', summary: `start ${name}`, awaits: 'it to be on', ...of }
}

/** Arms HA again, since its guests are started by now. */
function armed(view: PowerSituation): PowerFinding {
  const { spec, observed, targets } = view
  if (!spec.ha || targets.nodes.size > targets.asleep.size || targets.machines.size > 0) return NOTHING
  const off = observed.machines.some(
    ({ key, power, exists }) =>
      exists === 'yes' && power !== 'on' && ![...targets.asleep].some((name) => machineOf(view, name) === key),
  )
  if (off) return NOTHING
  return {
    ...NOTHING,
    steps: observed.ha
      .filter(({ armed: now }) => now === 'disarmed' || now === 'disarming')
      .map(({ connection }) => ({
        about: 'power',
        verb: 'arm-ha',
        tier: 'ha',
        connection,
        lane: 'rest',
        summary: `arm HA on ${connection} again`,
        awaits: 'HA to be armed',
      })),
  }
}

function machineOf(view: PowerSituation, name: string): string | undefined {
  return nodesOf(view).find((node) => node.name === name)?.machine
}

/** Brings up only what croft put down: without a mark of croft and without an order it does nothing. */
function cluster(view: PowerSituation): PowerFinding {
  if (!view.changing && !hasMarks(view)) return NOTHING
  return inTurn([
    () => started(view),
    () => speaks(view),
    () => hooksOf(view, 'servers', 'on'),
    () => answered(view),
    () => healthy(view),
    () => freed(view),
    ...[...WORKLOAD_TIERS].reverse().flatMap((tier) => [() => restored(view, tier), () => hooksOf(view, tier, 'on')]),
  ])
}

/** Reports whether croft's marks are left in the cluster. */
export function hasMarks(view: PowerSituation): boolean {
  const workloads = spoken(view)?.workloads ?? 'unknown'
  const some = workloads !== 'unknown' && workloads.some(({ remembered }) => remembered !== undefined)
  return some || nodesOf(view).some((node) => node.mark !== undefined && !view.targets.nodes.has(node.name))
}

/** Starts K3s on nodes where it was stopped for this: it does not start at boot. Idempotent. */
function started(view: PowerSituation): PowerFinding {
  const stopped = wantedNodes(view).filter(({ power, k3s }) => power === 'on' && k3s === 'stopped')
  return {
    ...NOTHING,
    steps: stopped.map(({ name, role, machine }) => ({
      about: 'power',
      verb: 'start-k3s',
      tier: role === 'server' ? 'servers' : 'workers',
      node: name,
      lane: machine === undefined ? 'node-program' : 'agent',
      summary: `start K3s on ${name}`,
      awaits: 'K3s to run',
    })),
  }
}

function wantedNodes(view: PowerSituation): readonly PowerNode[] {
  return nodesOf(view).filter(({ name }) => !view.targets.nodes.has(name))
}

function speaks(view: PowerSituation): PowerFinding {
  const { cluster: seen } = view.observed
  if (seen === undefined || (seen.api === 'yes' && seen.quorum === 'yes')) return NOTHING
  const awaits = 'its majority and an answer'
  return awaiting(view, { tier: 'quorum', what: 'etcd', awaits, deadline: 'start', essential: true })
}

function answered(view: PowerSituation): PowerFinding {
  const { cluster: seen } = view.observed
  const failing = failingCheck(view, 'dns')
  if (seen?.dns.up === 'yes' && failing === undefined) return NOTHING
  const instead = seen?.dns.up === 'yes' && failing !== undefined ? failing : { what: 'DNS', seen: seen?.dns.message }
  return missing(view, 'dns', 'DNS to answer', instead)
}

function healthy(view: PowerSituation): PowerFinding {
  const { cluster: seen } = view.observed
  const failing = failingCheck(view, 'storage')
  if (seen?.storage.up === 'yes' && failing === undefined) return hooksOf(view, 'storage', 'on')
  const instead =
    seen?.storage.up === 'yes' && failing !== undefined ? failing : { what: 'storage', seen: seen?.storage.message }
  return missing(view, 'storage', 'storage to be healthy', instead)
}

interface Instead {
  readonly what: string
  readonly seen: string | undefined
}

/** Returns the first declared HealthCheck that has not passed yet. */
function failingCheck({ spec, observed }: PowerSituation, sort: 'dns' | 'storage'): Instead | undefined {
  const name = spec.checks[sort].find((one) => observed.checks[one]?.passed !== 'yes')
  return name === undefined ? undefined : { what: `the check ${name}`, seen: observed.checks[name]?.output }
}

function missing(view: PowerSituation, tier: 'dns' | 'storage', awaits: string, { what, seen }: Instead): PowerFinding {
  return awaiting(view, { tier, what, awaits, deadline: 'start', ...(seen === undefined ? {} : { seen }) })
}

/** Removes our taint, and uncordons exactly the nodes that our mark says we cordoned. */
function freed(view: PowerSituation): PowerFinding {
  const nodes = wantedNodes(view)
  const steps = nodes
    .filter(({ mark, kube, back }) => mark !== undefined && kube === 'ready' && back)
    .map(({ name }) => {
      const step: Step<'power'> = {
        about: 'power',
        verb: 'unmark-node',
        tier: 'nodes',
        node: name,
        lane: 'object',
        summary: `take the taint off ${name} and uncordon it`,
        awaits: 'our mark to be gone',
      }
      return stepAndWait(view, step, name, 'start')
    })
  // A node that never joined is not awaited here: its cluster joins it.
  const missing = nodes.filter(({ kube, back }) => kube !== 'absent' && (kube !== 'ready' || !back))
  const waits = missing.map(({ name }) =>
    awaiting(view, { tier: 'nodes', what: name, awaits: 'the node to be Ready', deadline: 'start' }),
  )
  return merge([...steps, ...waits])
}

/** Restores the replicas of workloads that croft scaled down. Workloads that croft did not scale stay untouched. */
function restored(view: PowerSituation, tier: ScaledTier): PowerFinding {
  const all = workloadsIn(view, tier)
  if (all === 'unknown')
    return awaiting(view, { tier, what: tier, awaits: 'the list of workloads', deadline: 'start', essential: true })
  const marked = all.filter(({ remembered }) => remembered !== undefined)
  if (marked.length > 0)
    return merge(
      marked.map(({ kind, namespace, name, remembered }) => {
        const summary =
          kind === 'Deployment' || kind === 'StatefulSet'
            ? `take ${kind} ${namespace}/${name} back to ${remembered ?? 0}`
            : `let ${kind} ${namespace}/${name} go on`
        const step: Step<'power'> = {
          about: 'power',
          verb: 'restore',
          tier,
          workload: { kind, namespace, name },
          lane: 'object',
          summary,
          awaits: 'its pods to be ready',
        }
        return stepAndWait(view, step, `${namespace}/${name}`, 'start')
      }),
    )
  const later = WORKLOAD_TIERS.slice(0, WORKLOAD_TIERS.indexOf(tier))
  const someLater = later.some((one) => {
    const rest = workloadsIn(view, one)
    return rest !== 'unknown' && rest.some(({ remembered }) => remembered !== undefined)
  })
  if (!someLater) return NOTHING
  const unready = all.filter(({ kind, replicas, ready }) => kind !== 'CronJob' && ready < replicas)
  return merge(
    unready.map(({ namespace, name }) =>
      awaiting(view, { tier, what: `${namespace}/${name}`, awaits: 'its pods to be ready', deadline: 'start' }),
    ),
  )
}
