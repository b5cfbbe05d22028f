import { nearest } from '../../lib/nearest.ts'
import type { NodeRole } from '../../model/cluster.ts'
import { type Declaration, type ResourceKey, resourceKey, showOrigin } from '../../model/declaration.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import { connectionOf, findHost, nodeOf } from '../machines/bindings.ts'
import type { AgentFields, ServerFields } from './node-schema.ts'
import type { ClusterFields } from './schema.ts'

export type Cluster = Declaration<ClusterFields>
export type MemberPath = readonly (string | number)[]

/** One node of a cluster, as declared. */
export interface Member {
  readonly name: string
  readonly role: NodeRole
  readonly fields: ServerFields
  /** Path in the declaration. */
  readonly path: MemberPath
  readonly on: MadeOn | Existing
}

/** A machine that croft makes for it. */
export interface MadeOn {
  readonly kind: 'made'
  readonly key: ResourceKey
  readonly host: string
}

/** A member with its own declaration. */
export interface Existing {
  readonly kind: 'Machine' | 'EnvironmentVM' | 'Host'
  readonly of: Declaration
}

export interface Members {
  /** Sorted by name: the order of the list has no meaning. */
  readonly members: readonly Member[]
  readonly problems: readonly FieldProblem[]
}

const known = new WeakMap<Lookup, ReadonlyMap<ResourceKey, Members>>()

/** Returns the nodes of a cluster. A machine shared by two nodes is reported on both. */
export function membersOf(cluster: Cluster, lookup: Lookup): Members {
  const all = known.get(lookup) ?? everyCluster(lookup)
  known.set(lookup, all)
  return all.get(cluster.key) ?? { members: [], problems: [] }
}

export function clustersIn(lookup: Lookup): readonly Cluster[] {
  return (lookup.all('Cluster') as readonly Cluster[]).filter(({ spec }) => spec.type !== 'existing')
}

/** Returns the machine of a node: two nodes cannot share one. */
export function machineOf(member: Member): ResourceKey {
  return member.on.kind === 'made' ? member.on.key : member.on.of.key
}

export type MadeMember = Member & { readonly on: MadeOn }

export function isMade(member: Member): member is MadeMember {
  return member.on.kind === 'made'
}

/** The name of each of several agents that are alike. */
export function countedName(prefix: string, count: number): string {
  return `${prefix}-${count}`
}

/** Returns the addresses that clusters state themselves, to reserve them. */
export function clusterAddresses(lookup: Lookup): readonly { readonly address: string; readonly owner: string }[] {
  return clustersIn(lookup).flatMap((cluster) => {
    const { vip } = cluster.spec.endpoint ?? {}
    const nodes = membersOf(cluster, lookup).members.flatMap(({ name, fields }) =>
      (fields.addresses ?? []).map((address) => ({ address, owner: `node ${name} of ${cluster.key}` })),
    )
    return vip === undefined ? nodes : [{ address: vip, owner: `the endpoint of ${cluster.key}` }, ...nodes]
  })
}

function everyCluster(lookup: Lookup): ReadonlyMap<ResourceKey, Members> {
  const clusters = clustersIn(lookup)
  const found = new Map(clusters.map((cluster) => [cluster.key, readMembers(cluster, lookup)]))
  const owners = new Map<ResourceKey, { readonly cluster: Cluster; readonly member: Member }[]>()
  for (const cluster of clusters) {
    for (const member of found.get(cluster.key)?.members ?? []) {
      if (isForeign(cluster, member, lookup)) continue
      const key = machineOf(member)
      owners.set(key, [...(owners.get(key) ?? []), { cluster, member }])
    }
  }
  return new Map(
    clusters.map((cluster) => {
      const { members, problems } = found.get(cluster.key) ?? { members: [], problems: [] }
      const more = members.flatMap((member) =>
        isForeign(cluster, member, lookup)
          ? []
          : claimProblems(cluster, member, owners.get(machineOf(member)) ?? [], lookup),
      )
      return [cluster.key, { members, problems: [...problems, ...more] }]
    }),
  )
}

/** Reports whether the cluster's grant forbids the machine. Then it is not claimed: another cluster may have it. */
function isForeign(cluster: Cluster, { on }: Member, lookup: Lookup): boolean {
  return on.kind !== 'made' && lookup.mayUse?.(cluster, on.of) === false
}

function claimProblems(
  cluster: Cluster,
  member: Member,
  owners: readonly { readonly cluster: Cluster; readonly member: Member }[],
  lookup: Lookup,
): readonly FieldProblem[] {
  const key = machineOf(member)
  const declared = isMade(member) ? lookup.declaration('Machine', member.name, cluster.namespace) : undefined
  if (declared !== undefined) {
    return [
      {
        code: 'machine-declared-twice',
        path: [...member.path, 'host'],
        message: `the machine of ${member.name} would be ${key}, and that is declared at ${showOrigin(declared.origin)}`,
        hint: `write machine: ${key} instead of host, or take the declaration away`,
      },
    ]
  }
  const others = owners.filter((owner) => owner.member !== member)
  if (others.length === 0) return []
  const claims = others.map((owner) =>
    owner.cluster === cluster ? `node ${owner.member.name}` : `node ${owner.member.name} of ${owner.cluster.key}`,
  )
  return [
    {
      code: 'machine-claimed-twice',
      path: isMade(member) ? [...member.path, 'name'] : [...member.path, 'machine'],
      message: `${key} is also ${claims.join(' and ')}`,
      hint: 'a machine is one node of one cluster',
    },
  ]
}

function readMembers(cluster: Cluster, lookup: Lookup): Members {
  const problems: FieldProblem[] = []
  const { servers, agents = [] } = cluster.spec
  const members = [
    ...servers.flatMap((fields, index) =>
      readOne(cluster, 'server', fields, ['spec', 'servers', index], lookup, problems),
    ),
    ...agents.flatMap((fields, index) => {
      const path = ['spec', 'agents', index]
      return fields.count === undefined
        ? readOne(cluster, 'agent', fields, path, lookup, problems)
        : readSeveral(cluster, fields, fields.count, path, lookup)
    }),
  ]
  return { members: members.sort((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

function readOne(
  cluster: Cluster,
  role: NodeRole,
  fields: ServerFields,
  path: MemberPath,
  lookup: Lookup,
  problems: FieldProblem[],
): readonly Member[] {
  if (fields.machine === undefined) {
    const { name, host } = fields
    // The kind's check has reported missing fields.
    if (name === undefined || host === undefined) return []
    return [
      { name, role, fields, path, on: { kind: 'made', key: resourceKey('Machine', name, cluster.namespace), host } },
    ]
  }
  const [kind, wanted] = fields.machine.split('/') as [Existing['kind'], string]
  const of = lookup.declaration(kind, wanted, cluster.namespace) ?? lookup.declaration(kind, wanted)
  if (of === undefined) {
    problems.push(unknownDeclaration(kind, wanted, [...path, 'machine'], lookup))
    return []
  }
  return [{ name: fields.name ?? of.name, role, fields, path, on: { kind, of } }]
}

/**
 * Reads several equal agents. One on a listed host stays there; the others go, in the order of their numbers, to the
 * host with the fewest of them. Without a list croft places them.
 */
function readSeveral(
  cluster: Cluster,
  fields: AgentFields,
  count: number,
  path: MemberPath,
  lookup: Lookup,
): readonly Member[] {
  const hosts = fields.host === undefined ? [...new Set(fields.hosts ?? ['auto'])].sort() : [fields.host]
  const prefix = fields.name ?? `${cluster.name}-agent`
  const agents = Array.from({ length: count }, (_, index) => {
    const name = countedName(prefix, index + 1)
    const key = resourceKey('Machine', name, cluster.namespace)
    return { name, key, host: hosts.length < 2 ? hosts[0] : keptHost(key, hosts, cluster.namespace, lookup) }
  })
  const load = new Map(hosts.map((host) => [host, agents.filter((agent) => agent.host === host).length]))
  return agents.map(({ name, key, host: kept }) => {
    const host = kept ?? hosts.reduce((a, b) => ((load.get(b) ?? 0) < (load.get(a) ?? 0) ? b : a))
    if (kept === undefined) load.set(host, (load.get(host) ?? 0) + 1)
    return { name, role: 'agent' as const, fields, path, on: { kind: 'made' as const, key, host } }
  })
}

/** The listed host that the machine is on. */
function keptHost(
  key: ResourceKey,
  hosts: readonly string[],
  namespace: string | undefined,
  lookup: Lookup,
): string | undefined {
  const { node, connection } = lookup.kept?.get(key) ?? {}
  if (node === undefined) return undefined
  return hosts.find((name) => {
    const host = findHost(name, namespace, lookup)
    if (host === undefined || nodeOf(host) !== node) return false
    const bound = connectionOf(host, [], lookup)
    const of = 'connection' in bound ? bound.connection : undefined
    return of === undefined || connection === undefined || of === connection
  })
}

/** A reference that leads nowhere, with what may have been meant. */
export function unknownDeclaration(kind: string, name: string, path: MemberPath, lookup: Lookup): FieldProblem {
  const names = lookup.all(kind).map((one) => one.name)
  const meant = nearest(name, names)
  return {
    code: 'unknown-reference',
    path,
    message: `there is no ${kind} ${name}`,
    hint:
      meant !== undefined
        ? `did you mean ${kind}/${meant}?`
        : names.length === 0
          ? `declare ${kind} ${name}`
          : `declared: ${names.join(', ')}`,
  }
}
