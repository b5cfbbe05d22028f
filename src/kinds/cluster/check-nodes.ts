import { logicalName } from '../fields/text.ts'
import { hardwareBlocks } from '../hypervisors/registry.ts'
import type { FieldProblem } from '../kind.ts'
import { countedName, type MemberPath } from './members.ts'
import type { AgentFields } from './node-schema.ts'
import type { ClusterFields } from './schema.ts'

/** Fields for creating a machine: meaningless if the machine is declared elsewhere. */
const OF_A_NEW_MACHINE = [
  'class',
  'devices',
  'address',
  'ipv6',
  'mac',
  'cpu',
  'memory',
  'disks',
  'proxmox',
  ...(Object.keys(hardwareBlocks) as (keyof typeof hardwareBlocks)[]),
] as const
/** Fields that belong to one machine and cannot be those of several. */
const OF_ONE_MACHINE = ['machine', 'address', 'ipv6', 'mac', 'addresses', 'externalAddresses', 'devices'] as const

/** Checks servers and agents beyond the schema. */
export function checkNodes(spec: ClusterFields, cluster: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const places = new Map<string, MemberPath>()
  const named = (name: string, path: MemberPath) => {
    const before = places.get(name)
    places.set(name, before ?? path)
    if (before === undefined) return
    problems.push({
      code: 'duplicate-node',
      path: [...path, 'name'],
      message: `two nodes are called ${name}: here and at ${before.slice(1).join('.')}`,
      hint: 'a name belongs to one node',
    })
  }
  for (const [index, server] of spec.servers.entries()) {
    const path = ['spec', 'servers', index]
    problems.push(...checkNode(server, path))
    if (server.power === 'onDemand') {
      problems.push({
        code: 'bad-value',
        path: [...path, 'power'],
        message: 'a server cannot be onDemand: it would hold a vote in etcd while it sleeps',
        hint: 'make it an agent, or leave power out',
      })
    }
    named(nameOf(server) ?? '', path)
  }
  for (const [index, agent] of (spec.agents ?? []).entries()) {
    const path = ['spec', 'agents', index]
    problems.push(...checkNode(agent, path), ...checkCount(agent, path))
    const prefix = agent.name ?? `${cluster}-agent`
    if (agent.count !== undefined && !logicalName.safeParse(countedName(prefix, agent.count)).success) {
      problems.push({
        code: 'bad-value',
        path: [...path, 'name'],
        message: `${countedName(prefix, agent.count)} cannot be the name of a node`,
        hint: 'set name to something short, of small letters, digits and dashes',
      })
    }
    if (agent.count === undefined) named(nameOf(agent) ?? '', path)
    else for (let at = 1; at <= agent.count; at++) named(countedName(prefix, at), path)
  }
  problems.push(...checkLabels(spec.labels, ['spec', 'labels']), ...checkNumber(spec))
  return problems.filter(({ message }) => !message.startsWith('two nodes are called :'))
}

/** Warns of an even number of servers even before a cluster is observed; the coordinator decides what to do. */
function checkNumber({ servers, allow }: ClusterFields): readonly FieldProblem[] {
  const count = servers.length
  if (count % 2 === 1 || allow.degraded) return []
  const survives = count / 2 - 1
  return [
    {
      code: 'even-servers',
      path: ['spec', 'servers'],
      severity: 'warning',
      message: `${count} servers survive the loss of ${survives === 0 ? 'none' : survives}, as ${count - 1} would: one more only adds another that can fail`,
      hint: `declare ${count - 1} or ${count + 1}, or say allow: {degraded: true}`,
    },
  ]
}

function nameOf({ name, machine }: AgentFields): string | undefined {
  return name ?? machine?.split('/')[1]
}

function checkNode(node: AgentFields, path: MemberPath): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const bad = (field: string, message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: [...path, field], message, ...(hint === undefined ? {} : { hint }) })
  const several = node.count !== undefined
  if (node.host !== undefined && node.machine !== undefined)
    bad('machine', 'host makes a machine and machine names one: a node has one of them')
  if (node.host === undefined && node.machine === undefined && !several) {
    problems.push({
      code: 'missing-field',
      path,
      message: 'neither host nor machine says where this node is',
      hint: 'host: NAME makes a machine there; machine: Machine/…, EnvironmentVM/… or Host/… uses one that is declared',
    })
  }
  if (node.name === undefined && node.machine === undefined && !several)
    problems.push({ code: 'missing-field', path, message: 'name is missing; it is text' })
  if (node.machine !== undefined) {
    for (const field of OF_A_NEW_MACHINE)
      if (node[field] !== undefined)
        bad(field, `${field} is for a machine that is made here; ${node.machine} is declared by itself`)
  } else if (node.addresses !== undefined) {
    bad('addresses', 'addresses are those of a machine that is there already', 'write address, and ipv6, instead')
  }
  problems.push(...checkLabels(node.labels ?? {}, [...path, 'labels']))
  return problems
}

function checkCount(agent: AgentFields, path: MemberPath): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const bad = (field: string, message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: [...path, field], message, ...(hint === undefined ? {} : { hint }) })
  if (agent.count === undefined) {
    for (const field of ['spread', 'hosts'] as const)
      if (agent[field] !== undefined) bad(field, `${field} is for several agents that are alike`, 'add count')
    return problems
  }
  for (const field of OF_ONE_MACHINE)
    if (agent[field] !== undefined) bad(field, `${field} belongs to one machine, and count makes several`)
  if (agent.proxmox?.vmid !== undefined) bad('proxmox', 'a vmid belongs to one machine, and count makes several')
  if (agent.host !== undefined && agent.hosts !== undefined) bad('hosts', 'host and hosts both say where: write one')
  return problems
}

/** Labels under kubernetes.io that a kubelet may set for itself. Others it refuses, and the node never comes up. */
const ALLOWED = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
])

function checkLabels(labels: Readonly<Record<string, string>>, path: MemberPath): readonly FieldProblem[] {
  return Object.keys(labels).flatMap((key) => {
    const prefix = key.includes('/') ? (key.split('/')[0] ?? '') : ''
    const reserved = /(?:^|\.)(?:kubernetes|k8s)\.io$/.test(prefix)
    const own = /(?:^|\.)(?:kubelet|node)\.kubernetes\.io$/.test(prefix)
    if (!reserved || own || ALLOWED.has(key)) return []
    return [
      {
        code: 'bad-value',
        path: [...path, key],
        message: `a node may not give itself the label ${key}: K3s would not start with it`,
        hint: 'use a prefix of your own, or node.kubernetes.io/',
      },
    ]
  })
}
