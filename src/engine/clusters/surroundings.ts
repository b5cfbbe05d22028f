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

/** What a pass has seen of machines, as far as a cluster needs it. */
export interface ObservedMachines {
  /** By resource key. */
  readonly resources: ReadonlyMap<ResourceKey, Resource>
  readonly identities: ReadonlyMap<ResourceKey, ThingIdentity>
  /** Machines with our mark that Git no longer declares. */
  readonly leaving: readonly Removal[]
  /** Which of these a guard would not let go, were they no nodes. */
  readonly kept: ReadonlyMap<ResourceKey, NonNullable<ObservedMachine['mayNotGo']>>
  /** What of a machine's declaration comes into force only with a restart. */
  readonly restarts: ReadonlyMap<ResourceKey, string>
  /** Boxes that were there before, by name, as far as something is declared of them. */
  readonly hosts: ReadonlyMap<string, HostReadiness>
  readonly ledger: Ledger
  readonly nowMs: number
  /** Connections on which things are missing that were there: absence proves nothing. */
  readonly suspect: ReadonlySet<string>
}

/** Ways into machines. */
export interface Ways {
  /** Through the hypervisor's agent. Undefined: this hypervisor has none. */
  intoGuest(observed: ObservedResource): Shell | undefined
  /** Over SSH, by the name in `NodeMachine.host`. */
  readonly hosts: ReadonlyMap<string, Shell>
  /** Boxes of former nodes, by the node's name: K3s may still be on them. */
  readonly former: ReadonlyMap<string, string>
}

/**
 * What a cluster's session is told about its machines. Machines that are no longer declared are among them under their
 * names; whether they ever were nodes, the cluster itself must say.
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
    // A copy of the cluster has the same CA and the same names: what it says is about itself.
    if (key === cluster.drill?.key) continue
    // Nothing says that it was declared here: it may be another directory's, and no program is run in it.
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

/** The machine of a drill, as far as it is there. */
export function drillReach(key: ResourceKey, seen: ObservedMachines, ways: Ways): NodeReach {
  const identity = seen.identities.get(key) ?? { is: 'unknown' }
  const observed = identity.is === 'ours' ? identity.observed : undefined
  return guestReach(machineOf(identity, key, seen), observed, ways)
}

function guestReach(machine: ObservedMachine, observed: ObservedResource | undefined, ways: Ways): NodeReach {
  const shell = observed !== undefined && machine.power === 'on' ? ways.intoGuest(observed) : undefined
  return { machine, lane: 'agent', ...defined({ shell }) }
}

/** A machine as the hypervisor shows it. `no` is said only where the whole connection was seen and looked right. */
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
