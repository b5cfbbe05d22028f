import type { ClusterShown, PowerDriver } from '../../drivers/power-port.ts'
import type { Connection } from '../../model/estate.ts'
import type { ClusterInput } from '../../model/observed-cluster.ts'
import type { ClusterPower, ObservedPowerHost, PowerMachine, PowerNode } from '../../model/observed-power.ts'
import type { PowerSpec } from '../../model/power.ts'
import type { ClusterSessions } from '../clusters/sessions.ts'
import type { ExistingClusters } from '../existing-clusters.ts'

/** Reads the cluster's own report; undefined while its API does not answer. */
export async function showCluster(
  { declaration, observed }: ClusterInput,
  spec: PowerSpec,
  driver: PowerDriver,
  sessions: ClusterSessions,
  signal: AbortSignal,
): Promise<ClusterShown | undefined> {
  if (observed.api !== 'yes') return undefined
  const client = await (await sessions.of(declaration)).kubernetes()
  return client === undefined ? undefined : driver.observeCluster(client, declaration.spec, spec, signal)
}

/** The same for a cluster that croft does not manage. */
export async function showExisting(
  connection: Connection,
  spec: PowerSpec,
  driver: PowerDriver,
  clusters: ExistingClusters,
  signal: AbortSignal,
): Promise<ClusterShown | undefined> {
  const client = await clusters.client(connection, signal)
  return 'problem' in client ? undefined : driver.observeCluster(client, { agents: [] }, spec, signal)
}

/** croft switches the workloads of a cluster that it does not manage, but not its nodes. */
export function existingPower(shown: ClusterShown | undefined): ClusterPower {
  const answers = shown === undefined ? 'unknown' : 'yes'
  return {
    formed: true,
    api: answers,
    quorum: shown === undefined ? 'no' : 'yes',
    workloads: runningOn(shown, new Set()),
    attachments: stillAttached(shown, new Set()),
    nodes: [],
    wanting: {},
    dns: shown?.dns ?? { up: 'unknown', message: '' },
    storage: shown?.storage ?? { up: 'unknown', message: '' },
  }
}

/** Combines the reports of the API, the nodes, their machines and their boxes. */
export function clusterPower(
  { declaration, observed }: ClusterInput,
  shown: ClusterShown | undefined,
  machines: readonly PowerMachine[],
  hosts: readonly ObservedPowerHost[],
  spec: PowerSpec,
  driver: PowerDriver,
): ClusterPower {
  const seen = new Map(observed.nodes.map((node) => [node.name, node]))
  const declared = [...declaration.spec.servers, ...declaration.spec.agents]
  const nodes = declared.map((node): PowerNode => {
    const one = seen.get(node.name)
    const kube = shown?.nodes.get(node.name)
    const key = 'key' in node.machine ? node.machine.key : undefined
    const machine = machines.find((candidate) => candidate.key === key)
    const box = 'host' in node.machine ? node.machine.host : machine?.host
    const boxed = hosts.find(({ name }) => name === box)
    const service = one === undefined || one.k3s === 'unknown' ? 'unknown' : one.k3s.service
    const k3s = service === 'failed' ? 'starting' : service
    const back = kube?.mark === undefined || kube.rebooted || k3s === 'running'
    const blocked = driver.drainBlockedBy(node.name)
    return {
      name: node.name,
      role: node.role,
      onDemand: node.power === 'onDemand',
      ...(key === undefined ? {} : { machine: key }),
      ...(box === undefined || !spec.hosts.some(({ name }) => name === box) ? {} : { host: box }),
      power: machine?.power ?? boxed?.power ?? (k3s === 'unknown' ? 'unknown' : 'on'),
      kube: shown === undefined ? 'unknown' : kube === undefined ? 'absent' : kube.ready ? 'ready' : 'not-ready',
      back,
      unschedulable: kube?.unschedulable ?? false,
      tainted: kube?.tainted ?? false,
      ...(kube?.mark === undefined ? {} : { mark: kube.mark }),
      podsToMove: kube?.podsToMove ?? 'unknown',
      ...(kube?.clientsToMove === undefined ? {} : { clientsToMove: kube.clientsToMove }),
      ...(blocked === undefined ? {} : { drainBlockedBy: blocked }),
      k3s: machine?.power === 'off' ? 'stopped' : k3s,
    }
  })
  const off = new Set(nodes.filter(({ power }) => power === 'off').map(({ name }) => name))
  const members = observed.members === 'unknown' ? [] : observed.members.filter(({ learner }) => !learner)
  const up = members.filter((member) => member.up === 'yes').length
  return {
    formed: observed.identity?.formed === true || observed.api === 'yes',
    api: shown === undefined && observed.api === 'yes' ? 'unknown' : observed.api,
    // An API that answers calls for objects has a majority.
    quorum: observed.api === 'yes' || (members.length > 0 && up > members.length / 2) ? 'yes' : 'no',
    workloads: runningOn(shown, off),
    attachments: stillAttached(shown, off),
    nodes,
    wanting: shown?.wanting ?? {},
    dns: shown?.dns ?? { up: 'unknown', message: '' },
    storage: shown?.storage ?? { up: 'unknown', message: '' },
  }
}

/** Nothing runs on a node that is off, even if its Node and pods still exist. */
function runningOn(shown: ClusterShown | undefined, off: ReadonlySet<string>): ClusterPower['workloads'] {
  if (shown === undefined || shown.workloads === 'unknown') return 'unknown'
  return shown.workloads.map(({ podsOn, pods, ...workload }) => ({
    ...workload,
    pods: pods - podsOn.filter((node) => off.has(node)).length,
  }))
}

/** Nothing on a node that is off writes to a volume. */
function stillAttached(shown: ClusterShown | undefined, off: ReadonlySet<string>): ClusterPower['attachments'] {
  if (shown === undefined || shown.attachments === 'unknown') return 'unknown'
  return shown.attachments.filter(({ node }) => !off.has(node))
}
