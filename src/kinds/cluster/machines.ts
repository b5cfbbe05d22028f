import { defined } from '../../lib/defined.ts'
import type { Declaration, Policy } from '../../model/declaration.ts'
import { blocksOf } from '../hypervisors/registry.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import { findClass, unknownClass, withClass } from '../machines/with-class.ts'
import type { NetworkSpec } from '../network.ts'
import type { MachineSpec, WrittenMachine } from '../schemas/machine.ts'
import { drillMember, drillName, drillPolicy } from './drill.ts'
import {
  type Cluster,
  clustersIn,
  isMade,
  type MadeMember,
  type Member,
  type MemberPath,
  membersOf,
} from './members.ts'
import { nodeUserData } from './user-data.ts'

export type MadeMachine = Declaration<MachineSpec>

/** Machines of clusters whose source has a grant. */
export const heldMachines = new WeakSet<MadeMachine>()

/** Returns the machines made for all clusters as declarations. Leaves out those with a problem. */
export function clusterMachines(lookup: Lookup): readonly MadeMachine[] {
  return clustersIn(lookup).flatMap((cluster) => {
    const drill = drillMember(cluster, lookup)
    return [...membersOf(cluster, lookup).members.filter(isMade), ...(drill === undefined ? [] : [drill])].flatMap(
      (member) => {
        const machine = machineFor(cluster, member, lookup)
        if ('problems' in machine) return []
        if (lookup.isBounded?.(cluster) === true) heldMachines.add(machine)
        return [machine]
      },
    )
  })
}

/** The machine of one node. Its key is that of a Machine of the same name, and so is everything that follows from it. */
export function machineFor(
  cluster: Cluster,
  member: MadeMember,
  lookup: Lookup,
): MadeMachine | { readonly problems: readonly FieldProblem[] } {
  const { fields, path } = member
  const name = fields.class ?? cluster.spec.class
  const at = classPath(member)
  const base = name === undefined ? undefined : findClass(name, cluster.namespace, lookup)
  if (name !== undefined && base === undefined) return { problems: [unknownClass(name, at, lookup)] }
  const networks = cardsFor(cluster, member, base?.spec.networks ?? [])
  const document = nodeUserData(cluster, member, base?.spec.userData, isRouted(networks, cluster, lookup))
  if ('problems' in document) return document
  const written = defined<WrittenMachine>({
    host: member.on.host,
    placement: member.on.host === 'auto' ? placementOf(cluster, member) : undefined,
    class: name,
    proxmox: fields.proxmox,
    ...blocksOf((field) => fields[field]),
    cpu: fields.cpu,
    memory: fields.memory,
    disks: fields.disks ?? [],
    networks,
    devices: fields.devices,
    user: cluster.spec.user,
    sshKeys: cluster.spec.sshKeys,
    hostname: member.name,
    userData: document.tree,
    cloudInit: { removeAfterSeconds: 300, ...base?.spec.cloudInit, onChange: 'ignore' },
    power: 'on',
    onBoot: base?.spec.onBoot ?? true,
  } as WrittenMachine)
  const problem = (
    message: string,
    hint: string,
    where: MemberPath = at,
  ): { readonly problems: readonly FieldProblem[] } => ({
    problems: [{ code: 'missing-field', path: where, message, hint }],
  })
  if (written.networks.length === 0)
    return problem(`${member.name} is connected to no network`, 'set network of the cluster', path)
  const whole = withClass(written, cluster.namespace, lookup)
  if ('problems' in whole)
    return problem(`nothing says how large ${member.name} is`, 'name a class with cpu and memory, or write them here')
  if (!whole.spec.disks.some((disk) => disk.image !== undefined))
    return problem(`${member.name} has no disk that is made from an image`, 'add disks with an image to its class')
  return {
    key: member.on.key,
    apiVersion: cluster.apiVersion,
    kind: 'Machine',
    name: member.name,
    ...defined({ namespace: cluster.namespace }),
    labels: {},
    annotations: {},
    spec: whole.spec,
    policy: member.name === drillName(cluster.name) ? drillPolicy(cluster) : machinePolicy(cluster, member),
    origin: cluster.origin,
    generation: cluster.generation,
  }
}

/** Servers never share a host, which would take two votes with it. Equal agents are spread. */
function placementOf({ name, spec }: Cluster, { role, fields }: Member): WrittenMachine['placement'] {
  const group = role === 'server' ? `${name}-servers` : `${name}-${fields.name ?? 'agents'}`
  return defined<NonNullable<WrittenMachine['placement']>>({
    apart: role === 'server' ? group : undefined,
    spread: role === 'agent' ? group : undefined,
    connection: spec.connection,
  } as NonNullable<WrittenMachine['placement']>)
}

/** Reports whether there can be a default route: from DHCP, router advertisements, or a gateway of the network. */
function isRouted(cards: WrittenMachine['networks'], { namespace }: Cluster, lookup: Lookup): boolean {
  return cards.some(({ network, address, ipv6 }) => {
    const found = lookup.declaration('Network', network, namespace) ?? lookup.declaration('Network', network)
    const { addressPool, gateway, gateway6 } = (found as Declaration<NetworkSpec> | undefined)?.spec ?? {}
    const byDhcp = address === 'dhcp' || (address === undefined && addressPool === undefined)
    return byDhcp || ipv6 === 'auto' || gateway !== undefined || gateway6 !== undefined
  })
}

/** Returns the path of a node's class, or the path where it could be written. */
export function classPath({ fields, path }: Member): MemberPath {
  return fields.class === undefined ? ['spec', 'class'] : [...path, 'class']
}

/** The cluster's network first: what the node is known by. Then what else its class connects it to. */
function cardsFor(
  { spec }: Cluster,
  { fields }: Member,
  others: WrittenMachine['networks'],
): WrittenMachine['networks'] {
  const first = spec.network ?? others[0]?.network
  if (first === undefined) return []
  const base = others.find((card) => card.network === first)
  const card = defined<WrittenMachine['networks'][number]>({
    network: first,
    address: fields.address ?? base?.address,
    ipv6: fields.ipv6 ?? base?.ipv6,
    mac: fields.mac,
    firewall: base?.firewall,
  })
  return [card, ...others.filter((other) => other !== base)]
}

/**
 * Returns the policy of a node's machine. Servers hold the cluster's data: removing the whole cluster from Git does not
 * destroy them, unless it had `protect: false`.
 */
function machinePolicy(cluster: Cluster, member: Member): Policy {
  const { adopt: _adopt, rotate: _rotate, ...policy } = cluster.policy
  return {
    ...policy,
    ...(member.role === 'server' && cluster.spec.protect !== false ? { serverOf: cluster.key } : {}),
  }
}
