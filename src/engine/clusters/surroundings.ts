import type { ClusterSurroundings, NodeReach } from '../../drivers/cluster-port.ts'
import { defined } from '../../lib/defined.ts'
import type { Shell } from '../../lib/shell.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { ClusterRequests, ObservedMachine, Remediation } from '../../model/observed-cluster.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { ThingIdentity } from '../../plan/things/identify.ts'
import type { Removal } from '../../plan/things/removals.ts'
import type { Ledger } from '../../plan/things/world.ts'
import type { HostReadiness } from './host-readiness.ts'

/** The observed machines, as far as a cluster needs them. */
export interface ObservedMachines {
  /** By resource key. */
  readonly resources: ReadonlyMap<ResourceKey, Resource>
  readonly identities: ReadonlyMap<ResourceKey, ThingIdentity>
  /** Machines with our mark that Git no longer declares. */
  readonly leaving: readonly Removal[]
  /** The machines that a guard would keep if they were no nodes. */
  readonly kept: ReadonlyMap<ResourceKey, NonNullable<ObservedMachine['mayNotGo']>>
  /** Changes that need a restart of the machine. */
  readonly restarts: ReadonlyMap<ResourceKey, string>
  /** Declared boxes that croft did not create, by name. */
  readonly hosts: ReadonlyMap<string, HostReadiness>
  readonly ledger: Ledger
  readonly nowMs: number
  /** Connections with missing things: absence proves nothing. */
  readonly suspect: ReadonlySet<string>
}

/** The shells of machines. */
export interface Ways {
  /** Through the hypervisor's agent. Undefined: this hypervisor has none. */
  intoGuest(observed: ObservedResource): Shell | undefined
  /** Over SSH, by the name in `NodeMachine.host`. */
  readonly hosts: ReadonlyMap<string, Shell>
  /** Boxes of former nodes, by node name: K3s may still be on them. */
  readonly former: ReadonlyMap<string, string>
}

/**
 * Returns the machines of a cluster for its session. Includes undeclared machines under their names; only the cluster
 * itself shows whether they were nodes.
 */
export function surroundingsOf(
  cluster: ClusterDeclaration,
  seen: ObservedMachines,
  ways: Ways,
  requests: ClusterRequests,
  remediations: ReadonlyMap<string, Remediation>,
): ClusterSurroundings {
  const nodes = new Map<string, NodeReach>()
  for (const { key, observed, proof } of seen.leaving) {
    // A drill's copy has the cluster's CA and names, but reports only about itself.
    if (key === cluster.drill?.key) continue
    // Without proof of a declaration here it may be another directory's: run no program in it.
    if (proof === undefined) continue
    const name = observed.name ?? key.slice(key.lastIndexOf('/') + 1)
    nodes.set(name, guestReach(machineOf({ is: 'ours', observed }, key, seen), observed, ways))
  }
  for (const [name, box] of ways.former) nodes.set(name, boxReach(box, seen, ways))
  for (const { name, machine } of [...cluster.spec.servers, ...cluster.spec.agents]) {
    if ('host' in machine) {
      nodes.set(name, boxReach(machine.host, seen, ways))
      continue
    }
    const identity = seen.identities.get(machine.key) ?? { is: 'unknown' }
    const observed = identity.is === 'ours' ? identity.observed : undefined
    nodes.set(name, guestReach(machineOf(identity, machine.key, seen), observed, ways))
  }
  return { nodes, requests, remediations }
}

function boxReach(box: string, seen: ObservedMachines, ways: Ways): NodeReach {
  const shell = ways.hosts.get(box)
  const machine = { exists: 'yes', power: 'unknown', ours: false, ...seen.hosts.get(box) } as const
  return { machine, lane: 'node-program', ...defined({ shell }) }
}

/** Returns the machine of a drill, if it exists. */
export function drillReach(key: ResourceKey, seen: ObservedMachines, ways: Ways): NodeReach {
  const identity = seen.identities.get(key) ?? { is: 'unknown' }
  const observed = identity.is === 'ours' ? identity.observed : undefined
  return guestReach(machineOf(identity, key, seen), observed, ways)
}

function guestReach(machine: ObservedMachine, observed: ObservedResource | undefined, ways: Ways): NodeReach {
  const shell = observed !== undefined && machine.power === 'on' ? ways.intoGuest(observed) : undefined
  return { machine, lane: 'agent', ...defined({ shell }) }
}

/** Returns a machine as the hypervisor shows it: `no` only if the whole connection was surveyed and looked right. */
function machineOf(identity: ThingIdentity, key: ResourceKey, seen: ObservedMachines): ObservedMachine {
  const intention = seen.ledger.intentions.get(key)
  const connection = seen.resources.get(key)?.connection
  const doubtful = connection === undefined || seen.suspect.has(connection)
  const busy = intention?.step.summary
  const common = { ours: true, ...defined({ busy }) }
  switch (identity.is) {
    case 'ours': {
      const { observed } = identity
      const power = observed.close?.power ?? observed.power
      const locked = observed.lock === undefined ? {} : { busy: `its machine is locked (${observed.lock})` }
      const createdMs = observed.close?.createdMs
      const record = seen.ledger.records.get(key)
      const firstSeenMs = record?.made === true ? (record.seenMs ?? seen.nowMs) : undefined
      const wantsRestart = seen.restarts.get(key)
      const mayNotGo = seen.kept.get(key)
      return {
        ...common,
        ...locked,
        exists: 'yes',
        power: power === 'running' ? 'on' : power === 'stopped' ? 'off' : 'unknown',
        ...defined({ createdMs, firstSeenMs }),
        ...(observed.uptimeSeconds === undefined ? {} : { upMs: observed.uptimeSeconds * 1_000 }),
        ...defined({ wantsRestart, mayNotGo }),
      }
    }
    case 'absent':
      return { ...common, exists: doubtful ? 'unknown' : 'no', power: doubtful ? 'unknown' : 'off' }
    default:
      return { ...common, exists: 'unknown', power: 'unknown' }
  }
}
