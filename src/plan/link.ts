import { endpointUrl } from '../k3s/config.ts'
import type { Expanded, FieldProblem, Kind, Lookup, Part } from '../kinds/kind.ts'
import { defined } from '../lib/defined.ts'
import { failedOn } from '../lib/failed-on.ts'
import { atOnce, type Steps } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import {
  type Declaration,
  type Origin,
  type Policy,
  type Problem,
  type ResourceKey,
  resourceUid,
  showOrigin,
} from '../model/declaration.ts'
import {
  type Approval,
  type ClusterDeclaration,
  type Connection,
  type Estate,
  estateMark,
  type KeptChoices,
} from '../model/estate.ts'
import { volumeId } from '../model/file.ts'
import { type Grant, holderOf } from '../model/grant.ts'
import type { HealthCheckSpec } from '../model/health-check.ts'
import { HYPERVISORS } from '../model/hypervisors.ts'
import type { PowerDeclaration } from '../model/power.ts'
import { guestIn, type Resource } from '../model/resource.ts'
import { type Dependable, dependencyProblems, withDependencies } from './dependencies.ts'
import { boundCluster, boundResource, type Surroundings } from './grants.ts'
import { withImpliedNeeds } from './implied-needs.ts'
import { createTally } from './quotas.ts'
import { isKept } from './things/kept.ts'

/** The result of reading one revision, as linking needs it. */
export interface ReadRevision {
  readonly id: string
  readonly declarations: readonly Declaration[]
  readonly problems: readonly Problem[]
  readonly unreadable: readonly ResourceKey[]
  readonly incomplete: boolean
  /** Documents that croft does not read. */
  readonly ignored?: readonly { readonly kind: string }[]
  /** Paths that are not read as manifests. */
  readonly unread?: Estate['unread']
  objectsAt?(place: string, declaration: Declaration): ReturnType<NonNullable<Lookup['objectsAt']>>
  /** Returns the grant of a declaration's source. */
  grantOf?(declaration: Declaration): Grant | undefined
  /** Returns the grant of the source that declares an unreadable key, if it has one. */
  unreadableOf?(key: ResourceKey): Grant | undefined
  /** Sources with a grant whose content was read only in part. */
  readonly partlyRead?: NonNullable<Estate['partlyRead']>
  /** The address of the source, if there is only one. */
  readonly place?: string
  /** If there are several sources, returns the source of a declaration. */
  sourceOf?(declaration: Declaration): LinkedSource | undefined
}

/** The source of a declaration: its place, and the uid of its estate. */
interface LinkedSource {
  readonly place: string
  readonly uid?: string
}

export interface LinkTools {
  findKind(apiVersion: string, kind: string): Kind | undefined
  /** Adds the exact place and excerpt in the source. Absent: the object's own position is used. */
  problemAt?(declaration: Declaration, problem: FieldProblem): Problem
}

/**
 * Links declarations into an estate: each resource gets its connection, its uid and its needs. A declaration that
 * cannot be linked becomes one problem and hides no other.
 */
export function link(read: ReadRevision, tools: LinkTools): Estate {
  return atOnce(linking(read, tools))
}

/** Links in steps of one declaration or resource, so that a controller can answer requests in between. */
export function* linking(read: ReadRevision, tools: LinkTools): Steps<Estate> {
  const estate = yield* linkingWith(read, tools)
  const isOpen = read.declarations.some(({ kind }) => kind === 'AddressPool' || kind === 'Cluster')
  return isOpen ? { ...estate, keeping: keepingIn(estate, (kept) => atOnce(linkingWith(read, tools, kept))) } : estate
}

/** Links again only if the world contradicts the choices, once for each state of the world. */
function keepingIn(chosen: Estate, again: (kept: KeptChoices) => Estate): NonNullable<Estate['keeping']> {
  let last: { readonly stamp: string; readonly estate: Estate } | undefined
  const keeping = (kept: KeptChoices): Estate => {
    if (isKept(chosen, kept)) return { ...chosen, keeping }
    const stamp = JSON.stringify([...kept].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (last?.stamp !== stamp && (last === undefined || !isKept(last.estate, kept)))
      last = { stamp, estate: again(kept) }
    return { ...(last?.estate ?? chosen), keeping }
  }
  return keeping
}

function* linkingWith(read: ReadRevision, tools: LinkTools, had?: KeptChoices): Steps<Estate> {
  const problems: Problem[] = [...read.problems]
  const connections: Connection[] = []
  const idleHosts: Connection[] = []
  const approvals: Approval[] = []
  const clusters: ExpandedCluster[] = []
  const powers: PowerDeclaration[] = []
  const checks = new Map<string, HealthCheckSpec>()
  const parts: { readonly declaration: Declaration; readonly part: Part }[] = []

  const complain = (declaration: Declaration, found: FieldProblem) => {
    problems.push(tools.problemAt?.(declaration, found) ?? withoutExcerpt(declaration, found))
  }

  const tallies = new Map<string, ReturnType<typeof createTally>>()
  const tallyOf = (grant: Grant) => {
    const tally = tallies.get(grant.source) ?? createTally(grant)
    tallies.set(grant.source, tally)
    return tally
  }
  /** A resource above its source's quota is invisible to all others too: each add-on is ordered among all of them. */
  const admitted: Declaration[] = []
  const sizes = new Map<string, number>()
  const everything = lookupIn(read.declarations, read, had)
  for (const declaration of read.declarations) {
    const counted = yield* surviving(declaration, () =>
      inOneStep(() => ({
        size: tools.findKind(declaration.apiVersion, declaration.kind)?.size?.(declaration, everything) ?? 0,
      })),
    )
    const size = 'size' in counted ? counted.size : 0
    const grant = read.grantOf?.(declaration)
    const most = grant?.quota.objects ?? LIMITS.sourceObjects
    const together = (sizes.get(grant?.source ?? '') ?? 0) + size
    if (size > 0 && together > most + LIMITS.addonObjects) {
      if (grant !== undefined) tallyOf(grant).exceed()
      complain(declaration, tooManyObjects(most))
      continue
    }
    sizes.set(grant?.source ?? '', together)
    admitted.push(declaration)
  }
  const lookup = lookupIn(admitted, read, had)
  const declared = new Map(read.grantOf === undefined ? [] : read.declarations.map((one) => [one.key, one]))
  /** The machines that a cluster creates are not declared. */
  const isOfOthers = (grant: Grant) => (key: ResourceKey) => {
    const machine = declared.get(key)
    return machine !== undefined && read.grantOf?.(machine)?.source !== grant.source
  }

  const unlinked: ResourceKey[] = []
  for (const declaration of admitted) {
    yield
    const kind = tools.findKind(declaration.apiVersion, declaration.kind)
    if (kind === undefined) continue
    const grant = read.grantOf?.(declaration)
    const expanded = yield* surviving(declaration, function* () {
      const whole =
        kind.expanding === undefined ? kind.expand(declaration, lookup) : yield* kind.expanding(declaration, lookup)
      return 'problems' in whole || grant === undefined
        ? whole
        : withinGrant(whole, grant, declaration, isOfOthers(grant))
    })
    if ('problems' in expanded) {
      // An invalid cluster is one problem, without another one for each of its add-ons.
      if (expanded.problems.every(isOfUnreadCluster(declaration, read))) unlinked.push(declaration.key)
      else for (const one of expanded.problems) complain(declaration, one)
      continue
    }
    const warnings = 'warnings' in expanded ? (expanded.warnings ?? []) : []
    for (const warning of warnings) complain(declaration, { severity: 'warning', ...warning })
    switch (expanded.role) {
      case 'connection':
        connections.push(expanded.connection)
        break
      case 'fact':
        if (expanded.idle !== undefined) idleHosts.push(expanded.idle)
        if (declaration.kind === 'Approval') approvals.push(approvalOf(declaration))
        break
      case 'resource': {
        const { connection, desired, needs, placement } = expanded
        parts.push({
          declaration,
          part: defined({ key: declaration.key, desired, needs, connection, placement }),
        })
        break
      }
      case 'cluster':
        clusters.push(defined({ declaration, cluster: expanded.cluster, drill: expanded.drill }))
        for (const part of expanded.parts) parts.push({ declaration, part })
        break
      case 'power':
        powers.push(expanded.power)
        break
      case 'check':
        checks.set(expanded.name, expanded.check)
        break
      case 'resources':
        for (const part of expanded.parts) parts.push({ declaration, part })
        break
    }
  }

  const clusterConnections = clusters.map((one) => clusterConnection(one.declaration, clusterOf(one, [], connections)))
  const placeOf = (declaration: Declaration, path: FieldProblem['path']): Origin =>
    tools.problemAt?.(declaration, { code: '', path, message: '' }).origin ?? declaration.origin

  const sourceOf = sources(read)
  for (const second of read.declarations.filter(({ kind }) => kind === 'Estate').slice(1)) {
    complain(second, {
      code: 'two-estates',
      path: ['spec', 'uid'],
      message: 'this directory declares two Estates',
      hint: 'keep the one whose uid is on what exists (croft plan names it), and remove the other',
    })
  }
  const around = surroundings(parts, clusters)
  /** Returns the resource if its source's grant permits it. */
  const made = (declaration: Declaration, part: Part, connection: Connection): readonly Resource[] => {
    const resource = resourceOf(declaration, part, connection, placeOf, sourceOf(declaration))
    const grant = read.grantOf?.(declaration)
    if (grant === undefined) return [resource]
    const written = { spec: declaration.spec, path: part.as?.path ?? ['spec'] }
    const bound = boundResource(resource, grant, written, around(read.grantOf, grant))
    if (!('problems' in bound)) return [bound]
    for (const found of bound.problems) complain(declaration, found)
    return []
  }

  /** Returns the resources within the quota of their source. The others are neither created nor deleted. */
  const withinQuota = (declaration: Declaration, found: readonly Resource[], path?: FieldProblem['path']) => {
    const grant = read.grantOf?.(declaration)
    if (grant === undefined) return found
    const tally = tallyOf(grant)
    return found.filter((resource) => {
      const problem = tally.take(resource)
      if (problem !== undefined) complain(declaration, { ...problem, path: path ?? problem.path })
      return problem === undefined
    })
  }

  const refusedYet = new Set([...read.unreadable, ...refusedKeys(problems)])
  const brokenConnection = [...refusedYet].some((key) => HYPERVISORS.some(({ kind }) => key.startsWith(`${kind}/`)))
  const isOfRefusedCluster = (asked = '') => refusedYet.has(`Cluster/${asked.replace(/^cluster\//, '')}`)
  const resources: Resource[] = []
  const allConnections = [...connections, ...clusterConnections]
  for (const { declaration, part } of parts) {
    const connection = connectionFor(part.connection, allConnections, lookup, brokenConnection)
    // An invalid connection or cluster is one problem, without another one for each of its resources.
    if (!('message' in connection)) {
      const found = yield* surviving(declaration, () =>
        inOneStep(() => ({ resources: made(declaration, part, connection) })),
      )
      if ('problems' in found) for (const one of found.problems) complain(declaration, one)
      else resources.push(...withinQuota(declaration, found.resources, part.as?.path))
    } else if (brokenConnection || isOfRefusedCluster(part.connection)) unlinked.push(part.key)
    else complain(declaration, connection)
  }
  const distinct = yield* refuseSharedPlaces(resources, complain, new Map(parts.map((one) => [one.part.key, one])))
  const dependable = dependableIn(admitted, read, parts, clusters)
  const disordered = dependencyProblems(distinct, dependable, (declaration, index) => {
    const path = tools.findKind(declaration.apiVersion, declaration.kind)?.orderedBy?.dependsOn ?? ['spec']
    const written = (declaration.spec as { readonly dependsOn?: readonly string[] }).dependsOn
    const at = written?.indexOf(declaration.policy.after?.[index] ?? '') ?? -1
    return at < 0 ? path : [...path, at]
  })
  for (const { declaration, problem } of disordered) complain(declaration, problem)
  const endless = new Set(
    disordered.flatMap(({ declaration: { key } }) => [key, ...(dependable.thingsOf.get(key) ?? [])]),
  )
  const accepted = distinct.filter(({ key }) => !endless.has(key))
  const kept = new Set(accepted.map(({ key }) => key))
  const unmade = clusters.filter(({ cluster }) => machineKeys(cluster).some((key) => !kept.has(key)))
  for (const { declaration, cluster } of brokenConnection ? [] : unmade) {
    const lost = machineKeys(cluster).filter((key) => !kept.has(key))
    complain(declaration, {
      code: 'member-refused',
      path: ['spec'],
      message: `${lost.join(', ')} could not be accepted, and a cluster is followed whole or not at all`,
    })
  }
  const refused = unmade.map(({ cluster }) => cluster.key)
  const broken = new Set([...read.unreadable, ...unlinked, ...refused, ...refusedKeys(problems)])
  const unreadable = [...broken]
  const followed = clusters.filter(({ cluster }) => !broken.has(cluster.key))
  const reached = followed.map((one) =>
    clusterConnection(one.declaration, clusterOf(one, accepted, connections), clusterConnections),
  )
  return {
    revision: read.id,
    connections: [...connections, ...reached],
    resources: withDependencies(withImpliedNeeds(accepted), afterOf(parts), dependable),
    ...(idleHosts.length === 0 ? {} : { idleHosts }),
    approvals,
    ...declaringSources(read, sourceOf),
    ...(followed.length === 0
      ? {}
      : {
          clusters: followed.map((one) => ({
            ...clusterOf(one, accepted, connections),
            ...drillOf(one, (part) => {
              const connection = connectionFor(part.connection, connections, lookup, brokenConnection)
              return 'message' in connection ? undefined : made(one.declaration, part, connection)[0]
            }),
          })),
        }),
    ...(powers.length === 0 ? {} : { powers }),
    ...(checks.size === 0 ? {} : { checks }),
    unreadable,
    ...leftAloneIn(read),
    ...(read.unread === undefined || read.unread.length === 0 ? {} : { unread: read.unread }),
    ...unproven(read, unreadable),
    ...(tallies.size === 0 ? {} : { quotas: [...tallies.values()].map((tally) => tally.result()) }),
    problems,
  }
}

/** Returns the uid that a directory declares, or undefined if it has none yet. */
export function estateUidOf(declarations: readonly Declaration[]): string | undefined {
  const uid = (declarations.find(({ kind }) => kind === 'Estate')?.spec as { readonly uid?: unknown } | undefined)?.uid
  return typeof uid === 'string' ? uid : undefined
}

function leftAloneIn({ ignored = [] }: ReadRevision): Pick<Estate, 'leftAlone'> {
  const kinds = new Set(ignored.flatMap(({ kind }) => (kind === '' ? [] : [kind])))
  return kinds.size === 0 ? {} : { leftAlone: kinds }
}

function sources(read: ReadRevision): (declaration: Declaration) => LinkedSource | undefined {
  const of = read.sourceOf
  if (of !== undefined) return of
  const uid = estateUidOf(read.declarations)
  const only =
    read.place === undefined && uid === undefined
      ? undefined
      : { place: read.place ?? '', ...(uid === undefined ? {} : { uid }) }
  return () => only
}

/** Returns all sources here, by each name that a record may use for them. */
function declaringSources(read: ReadRevision, of: (declaration: Declaration) => LinkedSource | undefined) {
  const names = new Set<string>()
  for (const source of [...read.declarations.map(of), ...(read.declarations.length === 0 ? [emptySource(read)] : [])]) {
    if (source === undefined) continue
    if (source.uid !== undefined) names.add(source.uid)
    if (source.place !== '') names.add(source.place)
  }
  return names.size === 0 ? {} : { sources: [...names] }
}

function emptySource({ place }: ReadRevision): LinkedSource | undefined {
  return place === undefined ? undefined : { place }
}

/**
 * While a cluster is unreadable, its machines are unknown, so a missing declaration proves nothing. If its source has a
 * grant, only keys that the grant allows are unproven.
 */
function unproven(read: ReadRevision, unreadable: readonly ResourceKey[]): Pick<Estate, 'incomplete' | 'partlyRead'> {
  const declared = new Map(read.declarations.map((one) => [one.key, one]))
  const clusters = unreadable
    .filter((key) => key.startsWith('Cluster/'))
    .map((key) => {
      const declaration = declared.get(key)
      return declaration === undefined ? read.unreadableOf?.(key) : read.grantOf?.(declaration)
    })
  const bounded = clusters.filter((grant) => grant !== undefined).map(({ source, names }) => ({ source, names }))
  const partlyRead = [...(read.partlyRead ?? []), ...bounded]
  return {
    incomplete: read.incomplete || clusters.includes(undefined),
    ...(partlyRead.length === 0 ? {} : { partlyRead }),
  }
}

function* inOneStep<T>(work: () => T): Steps<T> {
  yield
  return work()
}

/** If croft fails on a declaration, reports a problem. It still counts as declared, and the others are unaffected. */
function* surviving<T>(
  { key }: Declaration,
  work: () => Steps<T>,
): Steps<T | { readonly problems: readonly FieldProblem[] }> {
  try {
    return yield* work()
  } catch (error) {
    return { problems: [{ path: [], ...failedOn(key, error) }] }
  }
}

function tooManyObjects(most: number): FieldProblem {
  return {
    code: 'over-quota',
    path: ['spec'],
    message: `add-ons before it make ${most} objects already, which is as many as their source may have`,
    hint: 'declare fewer objects, or split them among sources',
  }
}

function withoutExcerpt(declaration: Declaration, found: FieldProblem): Problem {
  return {
    code: found.code,
    origin: declaration.origin,
    object: declaration.key,
    field: found.path.join('.'),
    message: found.message,
    severity: found.severity ?? 'error',
    ...(found.hint === undefined ? {} : { hint: found.hint }),
  }
}

const EXISTING_NOT_GRANTED = (grant: Grant) =>
  `${holderOf(grant)} has a grant and may not declare how an existing cluster is reached`

/** Judges a cluster as a whole, and other expansions resource by resource. */
function withinGrant(
  expanded: Expanded,
  grant: Grant,
  { spec }: Declaration,
  isOfOthers: (machine: ResourceKey) => boolean,
): Expanded | { readonly problems: readonly FieldProblem[] } {
  // The way to an existing cluster is a kubeconfig or croft's own pod, and no list of a grant can bound that.
  if (expanded.role === 'connection')
    return {
      problems: [{ code: 'outside-grant', path: ['spec', 'type'], message: EXISTING_NOT_GRANTED(grant) }],
    }
  if (expanded.role !== 'cluster') return expanded
  const { cluster, problems } = boundCluster(expanded.cluster, grant, spec, isOfOthers)
  return problems.length > 0 ? { problems } : { ...expanded, cluster }
}

/** The facts that grants are judged by: which object brings which volume, and which clusters a source declares. */
function surroundings(
  parts: readonly { readonly part: Part }[],
  clusters: readonly ExpandedCluster[],
): (grantOf: ReadRevision['grantOf'], grant: Grant) => Surroundings {
  const volumes = new Map<string, string[]>()
  for (const { part } of parts) {
    if (part.desired.type !== 'file') continue
    const { file } = part.desired
    const place = `${file.host}/${volumeId(file)}`
    // The copy of an image on one host has the key `Image/noble@cow`.
    volumes.set(place, [...(volumes.get(place) ?? []), part.key.replace(/@.*$/, '')])
  }
  return (grantOf, grant) => ({
    bringers: (host, volume) => volumes.get(`${host}/${volume}`) ?? [],
    isOwn: (connection) =>
      clusters.some(
        ({ declaration, cluster }) =>
          `cluster/${cluster.name}` === connection && grantOf?.(declaration)?.source === grant.source,
      ),
  })
}

function lookupIn(
  declarations: readonly Declaration[],
  { objectsAt, grantOf }: ReadRevision,
  kept: KeptChoices | undefined,
): Lookup {
  const byKind = new Map<string, Declaration[]>()
  const byName = new Map<string, Declaration[]>()
  for (const declaration of declarations) {
    put(byKind, declaration.kind, declaration)
    put(byName, `${declaration.kind}/${declaration.name}`, declaration)
  }
  return {
    ...defined({ kept }),
    all: (kind) => byKind.get(kind) ?? [],
    declaration: (kind, name, namespace) =>
      byName.get(`${kind}/${name}`)?.find((one) => namespace === undefined || one.namespace === namespace),
    // A path in a declaration always belongs to the declaration's own source.
    ...(objectsAt === undefined ? {} : { objectsAt: (place, of) => objectsAt(place, of) }),
    ...(grantOf === undefined
      ? {}
      : {
          isBounded: (declaration) => grantOf(declaration) !== undefined,
          mayUse: (declaration, other) => {
            const grant = grantOf(declaration)
            return grant === undefined || grantOf(other)?.source === grant.source
          },
        }),
  }
}

function put(map: Map<string, Declaration[]>, key: string, declaration: Declaration): void {
  const before = map.get(key)
  if (before === undefined) map.set(key, [declaration])
  else before.push(declaration)
}

/**
 * Returns the connection of that name, or the target of a ProviderConfig of that name. A single connection serves a
 * manifest that names none, or a ProviderConfig without a target; it never replaces a missing one that was named: its
 * machines would be created again in another datacentre.
 */
function connectionFor(
  asked: string | undefined,
  connections: readonly Connection[],
  lookup: Lookup,
  isAnyBroken: boolean,
): Connection | FieldProblem {
  const named = connections.find((connection) => connection.name === asked)
  if (named !== undefined) return named
  const provider = asked === undefined ? undefined : lookup.declaration('ProviderConfig', asked)
  const pointed = provider?.annotations['croft.dev/connection']
  const through = connections.find((connection) => connection.name === pointed)
  if (through !== undefined) return through
  // SSH hosts and cluster APIs carry no machines, so they are never the default connection.
  const carrying = connections.filter(({ driver }) => driver !== 'ssh' && driver !== 'kubernetes')
  const only = carrying[0]
  const isOpen = asked === undefined || provider !== undefined
  if (only !== undefined && carrying.length === 1 && isOpen && pointed === undefined && !isAnyBroken) return only
  const names = carrying.map((connection) => connection.name).sort()
  return {
    code: 'no-connection',
    path: ['spec'],
    message:
      names.length === 0
        ? 'nothing declares how Proxmox is reached'
        : asked === undefined
          ? `this names no connection, and there are several: ${names.join(', ')}`
          : `no connection is called ${pointed ?? asked}; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`,
    hint:
      names.length === 0
        ? 'add a Proxmox object with endpoint, fingerprint and token'
        : 'set spec.providerConfigRef.name (or spec.connection of a Machine) to one of them',
  }
}

interface ExpandedCluster {
  readonly declaration: Declaration
  readonly cluster: Omit<ClusterDeclaration, 'estate'>
  readonly drill?: Part
}

/** Returns the keys of its nodes' machines. */
function machineKeys({ spec }: Pick<ClusterDeclaration, 'spec'>): readonly ResourceKey[] {
  return [...spec.servers, ...spec.agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : []))
}

/** The drill machine of a cluster. It becomes a resource only during a drill. */
function drillOf(
  { drill }: ExpandedCluster,
  resourceFor: (part: Part) => Resource | undefined,
): Pick<ClusterDeclaration, 'drill'> {
  const resource = drill === undefined ? undefined : resourceFor(drill)
  return resource === undefined ? {} : { drill: resource }
}

/** A cluster belongs to the estate of its machines; one without machines of ours to the first estate. */
function clusterOf(
  { cluster }: ExpandedCluster,
  resources: readonly Resource[],
  connections: readonly Connection[],
): ClusterDeclaration {
  const wanted = new Set(machineKeys(cluster))
  const first = resources.find(({ key }) => wanted.has(key))
  const own = connections.find(({ name }) => name === first?.connection)
  return { ...cluster, estate: (own ?? connections[0])?.estate ?? 'default' }
}

/**
 * The connection to the API of a cluster, for its add-ons. No other object can have this name. If an estate was set for
 * the resources, it stays.
 */
function clusterConnection(
  { origin }: Declaration,
  cluster: ClusterDeclaration,
  before: readonly Connection[] = [],
): Connection {
  const name = `cluster/${cluster.name}`
  const { objectWrites: writes } = LIMITS
  return {
    name,
    driver: 'kubernetes',
    endpoint: endpointUrl(cluster.spec),
    cluster,
    estate: before.find((one) => one.name === name)?.estate ?? cluster.estate,
    ids: { from: 0, to: 0 },
    limits: { perHost: writes, perStorage: writes, reads: writes },
    origin,
  }
}

function resourceOf(
  declaration: Declaration,
  part: Part,
  connection: Connection,
  placeOf: (declaration: Declaration, path: FieldProblem['path']) => Origin,
  source: LinkedSource | undefined,
): Resource {
  const { as } = part
  const { composedBy: by } = declaration
  const resource: Resource = {
    key: part.key,
    uid: resourceUid(connection.estate, part.key),
    kind: as?.kind ?? declaration.kind,
    name: as?.name ?? declaration.name,
    driver: connection.driver,
    connection: connection.name,
    estate: estateMark(connection.estate, source?.uid),
    desired: part.desired,
    needs: part.needs,
    policy: as === undefined ? declaration.policy : asPart(as.policy),
    origin: as === undefined ? declaration.origin : placeOf(declaration, as.path),
    generation: as?.generation ?? declaration.generation,
  }
  // Most resources have none of these fields, and copying them costs several times as much.
  const more = defined<Partial<Resource>>({
    declaredBy: source?.uid ?? source?.place,
    composedBy: by && { instance: by.instance, definition: by.definition },
    placement: part.placement,
    justInCase: part.justInCase,
    rootLane: hasRootLane(part, connection) || undefined,
  })
  return Object.assign(resource, more)
}

/** `readyWhen` of a cluster does not apply to its machines. */
function asPart({ readyWhen: _, ...policy }: Policy): Policy {
  return policy
}

/** Reports whether all its possible hosts are reachable over SSH. */
function hasRootLane({ desired, placement }: Part, { hosts = {} }: Connection): boolean {
  const guest = guestIn(desired)
  const alone = guest?.host ?? (desired.type === 'file' ? desired.file.host : undefined)
  const nodes = placement?.candidates.map(({ node }) => node) ?? (alone === undefined ? [] : [alone])
  return nodes.length > 0 && nodes.every((node) => Object.hasOwn(hosts, node))
}

/** Refuses resources that name the same thing: each would revert the other's changes. */
function* refuseSharedPlaces(
  resources: readonly Resource[],
  complain: (declaration: Declaration, problem: FieldProblem) => void,
  writtenAs: ReadonlyMap<ResourceKey, { readonly declaration: Declaration; readonly part: Part }>,
): Steps<readonly Resource[]> {
  const claims = new Map<string, Resource[]>()
  for (const resource of resources) {
    const claimed = claimedBy(resource)
    if (claimed === undefined) continue
    const claim = `${resource.connection} ${claimed.list} ${claimed.id}`
    const before = claims.get(claim)
    if (before === undefined) claims.set(claim, [resource])
    else before.push(resource)
  }
  const refused = new Set<ResourceKey>()
  for (const claimants of claims.values()) {
    for (const claimant of losersOf(claimants)) {
      yield
      refused.add(claimant.key)
      const written = writtenAs.get(claimant.key)
      const claimed = claimedBy(claimant)
      if (written === undefined || claimed === undefined) continue
      complain(written.declaration, {
        code: 'id-claimed-twice',
        path: [...(written.part.as?.path ?? ['spec']), ...claimed.field],
        message: `${claimed.id} is also claimed by ${othersOf(claimant, claimants)}`,
        hint: 'give each its own id',
      })
    }
  }
  return resources.filter((resource) => !refused.has(resource.key))
}

/** Returns the outside thing that a declaration names by id. Items and objects are compared when they are read. */
function claimedBy({ kind, desired }: Resource) {
  const vmid = guestIn(desired)?.vmid
  if (vmid !== undefined) {
    const field = kind.startsWith('Environment') ? ['forProvider', 'vmId'] : ['proxmox', 'vmid']
    return { list: 'guests', id: `id ${vmid}`, field }
  }
  if (desired.type === 'file') return { list: desired.file.host, id: volumeId(desired.file), field: [] }
  if (desired.type !== 'setting') return undefined
  const { definition, host, scope, id } = desired.setting
  return { list: JSON.stringify([definition, host, scope]), id, field: [] }
}

/** Names only a few: if thousands claim one id, each of thousands of messages would name them all. */
function othersOf(claimant: Resource, claimants: readonly Resource[]): string {
  const { claimantsNamed } = LIMITS
  const some = claimants.slice(0, claimantsNamed + 1).filter((one) => one !== claimant)
  const named = some.slice(0, claimantsNamed).map((one) => `${one.key} (${showOrigin(one.origin)})`)
  const more = claimants.length - 1 - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Returns the resources that lose a contested claim: all of them among equals, else those whose source has a grant. */
function losersOf(claimants: readonly Resource[]): readonly Resource[] {
  if (claimants.length < 2) return []
  const free = claimants.filter(({ bounds }) => bounds === undefined)
  return free.length === 1 ? claimants.filter(({ bounds }) => bounds !== undefined) : claimants
}

function isOfUnreadCluster({ spec }: Declaration, { unreadable }: ReadRevision) {
  const { cluster } = spec as { readonly cluster?: unknown }
  return ({ code }: FieldProblem) => code === 'no-cluster' && unreadable.includes(`Cluster/${String(cluster)}`)
}

function dependableIn(
  declarations: readonly Declaration[],
  { unreadable }: ReadRevision,
  parts: readonly { readonly declaration: Declaration; readonly part: Part }[],
  clusters: readonly ExpandedCluster[],
): Dependable {
  const thingsOf = new Map<ResourceKey, ResourceKey[]>()
  for (const { declaration, part } of parts) {
    const before = thingsOf.get(declaration.key)
    if (before === undefined) thingsOf.set(declaration.key, [part.key])
    else before.push(part.key)
  }
  const machines = clusters.map(({ cluster }) => [cluster.key, machineKeys(cluster)] as const)
  return { declarations, unreadable, thingsOf, clusters: new Map(machines) }
}

function afterOf(
  parts: readonly { readonly declaration: Declaration; readonly part: Part }[],
): ReadonlyMap<ResourceKey, readonly ResourceKey[]> {
  return new Map(
    parts.flatMap(({ declaration: { policy }, part }) =>
      policy.after === undefined ? [] : [[part.key, policy.after] as const],
    ),
  )
}

function refusedKeys(problems: readonly Problem[]): readonly ResourceKey[] {
  return problems.flatMap((one) => (one.severity === 'error' && one.object !== undefined ? [one.object] : []))
}

interface DeclaredApproval {
  readonly deletes?: readonly ResourceKey[]
  readonly maxDeletes?: number
  readonly absence?: readonly string[]
  readonly restores?: readonly ResourceKey[]
  readonly plans?: readonly string[]
  readonly expires?: string
}

function approvalOf(declaration: Declaration): Approval {
  const spec = declaration.spec as DeclaredApproval
  return {
    name: declaration.name,
    deletes: spec.deletes ?? [],
    origin: declaration.origin,
    ...(spec.maxDeletes === undefined ? {} : { maxDeletes: spec.maxDeletes }),
    ...(spec.absence === undefined ? {} : { absence: spec.absence }),
    ...(spec.restores === undefined ? {} : { restores: spec.restores }),
    ...(spec.plans === undefined ? {} : { plans: spec.plans }),
    ...(spec.expires === undefined ? {} : { expiresMs: Date.parse(spec.expires) }),
  }
}
