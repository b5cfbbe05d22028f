import type { ObservedPower, PowerNode } from '../../model/observed-power.ts'
import type { PowerSpec } from '../../model/power.ts'
import { IDLE } from './sleepers.ts'
import type { Targets } from './view.ts'
import { waitName } from './view.ts'
import type { WantedPower } from './wanted.ts'

/** Nothing is to go down. */
export const NONE: Targets = {
  cluster: false,
  nodes: new Set(),
  machines: new Set(),
  hosts: new Set(),
  asleep: new Set(),
}

export function targetsOf(spec: PowerSpec, observed: ObservedPower, wanted: WantedPower): Targets {
  const nodes = observed.cluster?.nodes ?? []
  const whole = wanted.state === 'off'
  const hosts = new Set(whole ? spec.hosts.map(({ name }) => name) : wanted.shed)
  const asleep = new Set(whole ? [] : nodes.filter((node) => sleeps(node, spec, observed)).map(({ name }) => name))
  for (const node of nodes) {
    // A box of its own goes down with the node that sleeps on it.
    if (asleep.has(node.name) && node.machine === undefined && node.host !== undefined) hosts.add(node.host)
  }
  const onShed = (host: string | undefined) => host !== undefined && hosts.has(host)
  const servers = nodes.filter(({ role }) => role === 'server')
  const left = servers.filter(({ host }) => !onShed(host))
  // Without a majority the rest would stand there without a cluster: then it goes down in order, as a whole.
  const cluster = whole || (servers.length > 0 && left.length < Math.floor(servers.length / 2) + 1)
  const machines = observed.machines.filter((machine) => machine.role !== 'node' && (whole || onShed(machine.host)))
  return {
    cluster,
    nodes: new Set(
      nodes.filter((node) => cluster || onShed(node.host) || asleep.has(node.name)).map(({ name }) => name),
    ),
    machines: new Set(machines.map(({ key }) => key)),
    hosts,
    asleep,
  }
}

/** Off while no pod waits for it; on until it has been idle long enough. What has been begun is finished. */
function sleeps(node: PowerNode, spec: PowerSpec, observed: ObservedPower): boolean {
  // A server holds a vote: it never sleeps, whatever is declared.
  if (!node.onDemand || node.role === 'server') return false
  // It has to have joined before anybody can tell which pods it could run.
  if (node.kube === 'absent') return false
  if ((observed.cluster?.wanting[node.name] ?? []).length > 0) return false
  if (node.power === 'off' || (node.mark !== undefined && node.podsToMove === 0)) return true
  const idleMs = observed.waitedMs[waitName('workers', node.name, IDLE)] ?? 0
  return node.podsToMove === 0 && idleMs >= spec.idleMs
}
