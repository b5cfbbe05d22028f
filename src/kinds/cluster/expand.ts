import { createHash } from 'node:crypto'
import { contains, networkProblems, parseCidr } from '../../k3s/cidr.ts'
import { flagProblems } from '../../k3s/flags.ts'
import { defined } from '../../lib/defined.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { SshTarget } from '../../model/secret.ts'
import { healthCheckSpec } from '../health-check.ts'
import type { Expanded, FieldProblem, Lookup, Part } from '../kind.ts'
import { expandWhole } from '../machines/machine-spec.ts'
import type { HostSpec } from '../schemas/host.ts'
import { sshTargetOf } from '../ssh-target.ts'
import { rangesOf } from './address-ranges.ts'
import { artifactsOf, clusterSpecOf } from './cluster-spec.ts'
import { drillMember } from './drill.ts'
import { classPath, machineFor } from './machines.ts'
import {
  type Cluster,
  isMade,
  type MadeMember,
  type Member,
  type MemberPath,
  membersOf,
  unknownDeclaration,
} from './members.ts'
import { nodeAddresses } from './node-addresses.ts'
import { gateSettings } from './user-data.ts'

type ClusterExpansion = Expanded | { readonly problems: readonly FieldProblem[] }

/** A cluster as the machines that are made for it and the declaration that the coordinator works from. */
export function expandCluster(cluster: Cluster, lookup: Lookup): ClusterExpansion {
  const { members, problems: claimed } = membersOf(cluster, lookup)
  const problems: FieldProblem[] = [...claimed, ...unknownChecks(cluster, lookup)]
  const warnings: FieldProblem[] = []
  const parts: Part[] = []
  const hosts = new Map<string, SshTarget>()
  for (const member of members) {
    const { on } = member
    if (isMade(member)) {
      const part = partOf(cluster, member, lookup)
      if ('problems' in part) problems.push(...part.problems)
      else {
        parts.push(part.part)
        warnings.push(...part.warnings)
      }
    } else if (on.kind === 'Host') {
      const target = sshTargetOf(on.of, lookup)
      if (!('problems' in target)) hosts.set(on.of.name, target)
      else problems.push(...target.problems.map((problem) => atReference(member, problem)))
    } else problems.push(...checkHostname(member))
  }
  const drill = drillOf(cluster, lookup)
  if (drill !== undefined && 'problems' in drill) problems.push(...drill.problems)
  // Addresses would only repeat what is wrong with the machines.
  if (problems.length > 0) return { problems }
  const { families } = rangesOf(cluster.spec)
  const spec = clusterSpecOf(cluster.name, cluster.spec, members, (member) =>
    nodeAddresses(member, families, lookup, member.on.kind === 'Host' ? hosts.get(member.on.of.name) : undefined),
  )
  problems.push(...specProblems(spec, members))
  if (problems.length > 0) return { problems }
  return {
    role: 'cluster',
    parts,
    ...(drill !== undefined && 'part' in drill ? { drill: drill.part } : {}),
    warnings,
    cluster: {
      key: cluster.key,
      name: cluster.name,
      spec,
      artifacts: artifactsOf(cluster.spec),
      ...defined({ checksums: cluster.spec.checksums }),
      hosts,
      otherHosts: otherHosts(hosts, lookup),
      gates: gatesOf(cluster),
      healthChecks: checksOf(cluster, lookup),
      ...defined({ proxy: cluster.spec.proxy }),
      policy: cluster.policy,
      origin: cluster.origin,
      generation: cluster.generation,
    },
  }
}

/** Returns declared boxes that are no nodes of this cluster. Problems of a box's SSH settings are reported there. */
function otherHosts(nodes: ReadonlyMap<string, SshTarget>, lookup: Lookup): ReadonlyMap<string, SshTarget> {
  return new Map(
    (lookup.all('Host') as readonly Declaration<HostSpec>[]).flatMap((host) => {
      if (nodes.has(host.name) || host.spec.ssh === undefined) return []
      const target = sshTargetOf(host, lookup)
      return 'problems' in target ? [] : [[host.name, target] as const]
    }),
  )
}

/** The machine for restore drills, where one is declared. */
function drillOf(cluster: Cluster, lookup: Lookup): ReturnType<typeof partOf> | undefined {
  if (cluster.spec.backup?.drill === undefined) return undefined
  const member = drillMember(cluster, lookup)
  if (member !== undefined) return partOf(cluster, member, lookup)
  const message = 'no server is made here, so there is nothing to make a machine for the drill like'
  const hint = 'take drill away and try backups with croft cluster backup --drill on a spare host'
  return { problems: [{ code: 'bad-value', path: ['spec', 'backup', 'drill'], message, hint }] }
}

function unknownChecks({ spec, namespace }: Cluster, lookup: Lookup): readonly FieldProblem[] {
  return spec.upgrade.healthChecks.flatMap((name, index) => {
    const found = lookup.declaration('HealthCheck', name, namespace) ?? lookup.declaration('HealthCheck', name)
    const path = ['spec', 'upgrade', 'healthChecks', index]
    return found === undefined ? [unknownDeclaration('HealthCheck', name, path, lookup)] : []
  })
}

function checksOf({ spec, namespace }: Cluster, lookup: Lookup): NonNullable<ClusterDeclaration['healthChecks']> {
  return Object.fromEntries(
    spec.upgrade.healthChecks.flatMap((name) => {
      const found = lookup.declaration('HealthCheck', name, namespace) ?? lookup.declaration('HealthCheck', name)
      return found === undefined ? [] : [[name, healthCheckSpec(found, lookup)]]
    }),
  )
}

/** For nodes that were there before: what those that are made here read at their first boot. */
function gatesOf({ spec }: Cluster): NonNullable<ClusterDeclaration['gates']> {
  const { hostname: _hostname, ...gates } = gateSettings(spec, '', true)
  return gates
}

function partOf(
  cluster: Cluster,
  member: MadeMember,
  lookup: Lookup,
):
  | { readonly part: Part; readonly warnings: readonly FieldProblem[] }
  | { readonly problems: readonly FieldProblem[] } {
  const machine = machineFor(cluster, member, lookup)
  if ('problems' in machine) return machine
  const expanded = expandWhole(machine, lookup)
  if ('problems' in expanded) return { problems: expanded.problems.map((problem) => atNode(cluster, member, problem)) }
  const { connection, needs, placement } = expanded
  const wanted = member.fields.power === 'onDemand' ? whateverPower : (desired: Part['desired']) => desired
  const generation = createHash('sha256')
    .update(JSON.stringify([machine.spec, machine.policy]))
    .digest('hex')
    .slice(0, 16)
  return {
    part: {
      key: machine.key,
      ...defined({ connection }),
      desired: wanted(expanded.desired),
      needs,
      ...(placement === undefined
        ? {}
        : {
            placement: {
              ...placement,
              candidates: placement.candidates.map((one) => ({ ...one, desired: wanted(one.desired) })),
            },
          }),
      as: { kind: 'Machine', name: machine.name, policy: machine.policy, generation, path: member.path },
    },
    warnings: (expanded.warnings ?? []).map((warning) => atNode(cluster, member, warning)),
  }
}

/** Makes either power state right: the users of the machine decide it. */
function whateverPower(desired: Part['desired']): Part['desired'] {
  if (desired.type !== 'vm') return desired
  const { power: _power, ...vm } = desired.vm
  return { type: 'vm', vm }
}

/** A finding about the machine, at the place in the cluster that led to it. */
function atNode(cluster: Cluster, member: Member, problem: FieldProblem): FieldProblem {
  const [, field, index, inner] = problem.path
  const text = `${member.name}: ${problem.message}`
  const at = (path: MemberPath, message = text): FieldProblem => ({
    ...problem,
    path,
    message,
    ...hintFor(member, problem),
  })
  if (field === 'host')
    return at([...member.path, member.fields.host === undefined ? 'hosts' : 'host'], problem.message)
  if (field === 'networks' && index === 0) {
    if (inner === 'address') return at([...member.path, 'address'], problem.message)
    return at(inner === 'network' && cluster.spec.network !== undefined ? ['spec', 'network'] : member.path)
  }
  if (field !== undefined && Object.hasOwn(member.fields, field))
    return at([...member.path, ...problem.path.slice(1)], problem.message)
  return at(classPath(member))
}

/** Several that are alike have no place of their own to write an address. */
function hintFor({ fields }: Member, { code }: FieldProblem): { readonly hint?: string } {
  const several = 'count' in fields && fields.count !== undefined
  return several && code === 'address-moved' ? { hint: 'list these agents one by one, each with its address' } : {}
}

function atReference(member: Member, problem: FieldProblem): FieldProblem {
  return { ...problem, path: [...member.path, 'machine'] }
}

/** K3s starts only when the machine calls itself what the node is called. */
function checkHostname(member: Member): readonly FieldProblem[] {
  const { on } = member
  if (on.kind !== 'Machine') return []
  const { hostname } = on.of.spec as { readonly hostname?: string }
  const called = hostname ?? on.of.name.split('.')[0]
  if (called === member.name) return []
  return [
    {
      code: 'bad-value',
      path: [...member.path, member.fields.name === undefined ? 'machine' : 'name'],
      message: `the node is called ${member.name} and ${on.of.key} calls itself ${called}`,
      hint: `set hostname: ${member.name} of the machine, or name: ${called} here`,
    },
  ]
}

/** Checks the cluster as a whole, at the fields in question. */
function specProblems(spec: ClusterSpec, members: readonly Member[]): readonly FieldProblem[] {
  const pathOf = (name: string) => members.find((member) => member.name === name)?.path ?? ['spec']
  const nodes = [...spec.servers, ...spec.agents]
  const bad = (path: MemberPath, message: string): FieldProblem => ({ code: 'bad-value', path, message })
  const network = networkProblems(spec.network, nodes).map(({ field, message }) => {
    const range = /^network\.(podCidrs|serviceCidrs)(?:\[([0-9]+)\])?$/.exec(field)
    if (range !== null)
      return bad(['spec', range[1] ?? '', ...(range[2] === undefined ? [] : [Number(range[2])])], message)
    if (field === 'network') return bad(['spec', 'podCidrs'], message)
    const path = pathOf(field.replace(/\.nodeIps$/, ''))
    const member = members.find((one) => one.path === path)
    const inner =
      member?.fields.addresses !== undefined ? 'addresses' : member?.fields.address === undefined ? [] : 'address'
    return bad([...path, ...[inner].flat()], message)
  })
  const flags = flagProblems(spec).map((text) => {
    const [, place = '', flag = '', message = ''] = /^(\S+): (?:"?([^\s":]+)"?.*)$/.exec(text) ?? []
    const owner = place.endsWith('.flags') ? [...pathOf(place.slice(0, -'.flags'.length)), 'flags'] : ['spec', place]
    return bad([...owner, flag], text.slice(place.length + 2) || message)
  })
  return [...network, ...flags, ...endpointProblems(spec)]
}

function endpointProblems({ endpoint, network, servers, agents }: ClusterSpec): readonly FieldProblem[] {
  if (!('vip' in endpoint)) return []
  const { vip } = endpoint
  const path = ['spec', 'endpoint', 'vip']
  const range = [...network.podCidrs, ...network.serviceCidrs].find((text) => {
    const cidr = parseCidr(text)
    return cidr !== undefined && contains(cidr, vip)
  })
  const node = [...servers, ...agents].find(({ nodeIps }) => nodeIps.includes(vip))
  if (range !== undefined) return [{ code: 'bad-value', path, message: `the vip ${vip} lies in ${range}` }]
  if (node !== undefined)
    return [{ code: 'address-conflict', path, message: `the vip ${vip} is also the address of ${node.name}` }]
  return []
}
