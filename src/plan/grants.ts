import type { FieldProblem } from '../kinds/kind.ts'
import { defined } from '../lib/defined.ts'
import { egressOf, isThisComputer } from '../lib/egress.ts'
import type { ClusterSpec } from '../model/cluster.ts'
import type { ContainerSpec } from '../model/container.ts'
import type { Declaration, ResourceKey } from '../model/declaration.ts'
import { type ChangeReference, changeSecrets, changeSecretsOfCluster } from '../model/desired-secrets.ts'
import type { ClusterDeclaration } from '../model/estate.ts'
import { type Grant, holderOf, listed, mayBeCalled } from '../model/grant.ts'
import { hypervisorRow } from '../model/hypervisors.ts'
import { guestIn, type Resource } from '../model/resource.ts'
import type { SecretReference } from '../model/secret.ts'
import type { VmSpec } from '../model/vm.ts'
import { networksOf, reaching, storagesOf, templatesOf } from './guest-reach.ts'

/** Kinds whose effect a grant can limit. The effect of other kinds on other tenants cannot be listed. */
export const GRANTABLE: readonly string[] = ['Machine', 'EnvironmentVM', 'EnvironmentContainer', 'Cluster', 'Addon']

/** The facts about the rest of the estate that judge a granted declaration. */
export interface Surroundings {
  /** Returns the objects that put a volume on a host, such as `Image/noble`. */
  bringers(host: string, volume: string): readonly string[]
  /** Reports whether the source itself declared this connection. */
  isOwn(connection: string): boolean
}

interface NamedThing {
  readonly what: string
  readonly value: string
  readonly list: readonly string[]
  /** The fields that may contain it. */
  readonly field: RegExp
}

/** Returns what in a declaration exceeds the grant, regardless of what it expands into. Pure. */
export function outsideGrant(
  declaration: Pick<Declaration, 'kind' | 'key' | 'name' | 'spec' | 'policy'>,
  grant: Grant,
  references: readonly SecretReference[],
): readonly FieldProblem[] {
  const { kind, spec, policy } = declaration
  if (!listed(kind, grant.kinds) || !GRANTABLE.includes(kind))
    return [problem(['kind'], `${kind} is not granted to ${holderOf(grant)}`, { list: grant.kinds })]
  const problems: FieldProblem[] = []
  if (!mayBeCalled(declaration.key, grant)) {
    const message = `the name ${declaration.name} is not granted to ${holderOf(grant)}`
    problems.push(problem(['metadata', 'name'], message, { list: grant.names }))
  }
  if (policy.adopt !== undefined && !isGrantedId(policy.adopt, grant)) {
    const message = `${holderOf(grant)} may not take over ${policy.adopt}, which it did not make`
    problems.push(problem(['metadata', 'annotations'], message, { ids: grant }))
  }
  for (const reference of references) {
    const place = 'sops' in reference ? '' : placeOfSecret(reference)
    if (place === '' || isGrantedSecret(place, grant)) continue
    const value = 'vault' in reference ? reference.vault.path : place.slice(place.indexOf(':') + 1)
    problems.push(secretProblem(place, ['spec', ...(pathTo(spec, /^(?:env|file|path)$/, value) ?? [])], grant))
  }
  return problems
}

function placeOfSecret(reference: SecretReference): string {
  if ('env' in reference) return `env:${reference.env}`
  if ('file' in reference) return `file:${reference.file}`
  if ('vault' in reference) return `vault:${reference.vault.mount}/${reference.vault.path}`
  if ('onePassword' in reference) return `onePassword:${reference.onePassword.vault}/${reference.onePassword.item}`
  return 'sops' in reference ? `sops:${reference.sops.file}` : ''
}

function isGrantedSecret(place: string, { secrets, source }: Grant): boolean {
  // A source may use the secrets that it encrypted itself. No grant gives it another source's.
  if (place.startsWith('sops:')) return place.startsWith(`sops:${source}:`)
  // A path with ".." leads elsewhere than its text says, so no list grants it.
  return listed(place, secrets) && !/(?:^|[/:])\.\.(?:\/|$)/.test(place)
}

function secretProblem(place: string, path: FieldProblem['path'], grant: Grant): FieldProblem {
  return problem(path, `the secret ${place} is not granted to ${holderOf(grant)}`, { list: grant.secrets })
}

/**
 * Returns the tree with each secret reference bound to its own source, and a problem for each one that is not granted.
 * Checks what the driver gets, since a reference may come from unparsed text or another source's class. Pure.
 */
function boundSecrets<T>(
  tree: T,
  change: (tree: T, change: ChangeReference) => T,
  grant: Grant,
  written: { readonly spec: unknown; readonly path: FieldProblem['path'] },
): { readonly own: T; readonly problems: readonly FieldProblem[] } {
  const references: SecretReference[] = []
  const owned = ownReference(grant.source)
  const own = change(tree, (reference) => {
    const made = owned(reference)
    references.push(made)
    return made
  })
  const outside = [...new Set(references.map(placeOfSecret))].filter(
    (place) => place !== '' && !isGrantedSecret(place, grant),
  )
  const field = /^(?:userData|class|auth|credentials|secrets|valuesFrom)$/
  return {
    own,
    problems: [
      ...outside.map((place) => secretProblem(place, placeOf(written, { field }), grant)),
      ...secretsElsewhere(references, grant, written),
    ],
  }
}

/** An object of a cluster may use only the Secrets of the same namespace. */
function secretsElsewhere(
  references: readonly SecretReference[],
  grant: Grant,
  written: { readonly spec: unknown; readonly path: FieldProblem['path'] },
): readonly FieldProblem[] {
  if (grant.namespace === undefined) return []
  return references.flatMap((reference): readonly FieldProblem[] => {
    if (!('secretRef' in reference)) return []
    const { name, namespace } = reference.secretRef
    if (namespace === undefined || namespace === grant.namespace) return []
    return [
      {
        code: 'outside-grant',
        path: placeOf(written, { field: /^namespace$/, value: namespace }),
        message: `the Secret ${name} of the namespace ${namespace} is not granted to ${holderOf(grant)}`,
        hint: `put the Secret into ${grant.namespace}`,
      },
    ]
  })
}

/** Returns a cluster with its secrets bound to its source, or the problems outside its grant. Pure. */
export function boundCluster<T extends Pick<ClusterDeclaration, 'spec' | 'hosts' | 'artifacts' | 'proxy' | 'egress'>>(
  cluster: T,
  grant: Grant,
  written: unknown,
  isOfOthers: (machine: ResourceKey) => boolean,
): { readonly cluster: T; readonly problems: readonly FieldProblem[] } {
  const { own, problems } = boundSecrets(cluster.spec, changeSecretsOfCluster, grant, { spec: written, path: ['spec'] })
  const { servers, agents } = cluster.spec
  const others = [...servers, ...agents].flatMap(({ machine }) =>
    'key' in machine && isOfOthers(machine.key) ? [machineOfOthers(machine.key, grant, written)] : [],
  )
  return {
    cluster: { ...cluster, spec: own, egress: grant.egress },
    problems: [
      ...boxesOutside(cluster, grant),
      ...placesOutside(cluster, grant, written),
      ...addressesHere(cluster.spec, grant, written),
      ...others,
      ...problems,
    ],
  }
}

/** Addresses that croft itself requests for a cluster. Their redirects are judged at the request. */
function placesOutside(
  { artifacts, proxy }: Pick<ClusterDeclaration, 'artifacts' | 'proxy'>,
  grant: Grant,
  spec: unknown,
): readonly FieldProblem[] {
  const { mayAsk } = egressOf(grant.egress)
  const places = [
    ...artifacts.flatMap((one) =>
      'mirror' in one ? [{ url: one.mirror, field: /^mirror$/, what: 'the mirror' }] : [],
    ),
    ...(proxy === undefined ? [] : [{ url: proxy, field: /^proxy$/, what: 'the proxy' }]),
  ]
  return places.flatMap(({ url, field, what }) => {
    const { hostname = '', port = '', protocol = '' } = URL.parse(url) ?? {}
    if (mayAsk(hostname, Number(port || (protocol === 'https:' ? 443 : 80)))) return []
    const message = `${what} ${hostname} is not granted to ${holderOf(grant)}`
    return [problem(placeOf({ spec, path: ['spec'] }, { field, value: url }), message, { list: grant.egress })]
  })
}

/** croft connects to these addresses, so none may lead to the computer that croft runs on. */
function addressesHere(
  { endpoint, servers, agents }: ClusterSpec,
  grant: Grant,
  spec: unknown,
): readonly FieldProblem[] {
  const nodes = [...servers, ...agents].flatMap(({ nodeIps, externalIps = [] }) => [...nodeIps, ...externalIps])
  const named = 'vip' in endpoint ? [endpoint.vip] : 'dns' in endpoint ? [endpoint.dns] : []
  return [...new Set([...named, ...nodes])].filter(isThisComputer).map((value) => {
    const field = /^(?:vip|dns|address|ipv6|addresses|externalAddresses)$/
    const message = `${value} leads to the computer that croft runs on, which is not granted to ${holderOf(grant)}`
    return problem(placeOf({ spec, path: ['spec'] }, { field, value }), message, { list: [] })
  })
}

/** A node gives its owner root on its machine, so the machine must be the source's own. */
function machineOfOthers(key: ResourceKey, grant: Grant, spec: unknown): FieldProblem {
  const value = `${key.slice(0, key.indexOf('/'))}/${key.slice(key.lastIndexOf('/') + 1)}`
  return {
    code: 'outside-grant',
    path: placeOf({ spec, path: ['spec'] }, { field: /^machine$/, value }),
    message: `${key} is not a machine of ${holderOf(grant)}`,
    hint: 'name a machine that the same source declares, or let the cluster make its own',
  }
}

/**
 * Returns the resource as its grant allows it, or the problems outside the grant. If croft chooses the host, only
 * granted hosts remain. Pure.
 */
export function boundResource(
  resource: Resource,
  grant: Grant,
  written: { readonly spec: unknown; readonly path: FieldProblem['path'] },
  around: Surroundings,
): Resource | { readonly problems: readonly FieldProblem[] } {
  const refuse = (named: NamedThing): FieldProblem => {
    const message = `${named.what} ${named.value} is not granted to ${holderOf(grant)}`
    return problem(placeOf(written, named), message, { list: named.list })
  }
  const problems: FieldProblem[] = []
  if (!mayBeCalled(resource.key, grant) && resource.desired.type !== 'object')
    problems.push(refuse({ what: 'the name', value: resource.name, list: grant.names, field: /^name$/ }))
  if (!around.isOwn(resource.connection) && !listed(resource.connection, grant.connections)) {
    const field = /^(?:connection|cluster|name)$/
    problems.push(refuse({ what: 'the connection', value: resource.connection, list: grant.connections, field }))
  }
  const { placement } = resource
  const outside = (desired: Resource['desired']): readonly FieldProblem[] => {
    const guest = guestIn(desired)
    if (guest === undefined) return desired.type === 'object' ? [] : [unbounded(desired.type, grant)]
    const names = namesOf(guest, resource, grant).filter(({ value, list }) => !listed(value, list))
    return [
      ...names.map(refuse),
      ...templatesOf(guest)
        .filter((value) => !granted(value, guest.host))
        .map((value) => refuse({ what: 'the template', value, list: grant.templates, field: TEMPLATE })),
      ...idProblems(guest, grant, written),
      ...(grant.hostAccess ? [] : reaching(guest).map(({ what, field }) => hostAccess(what, field))),
    ]
  }
  const granted = (template: string, host: string) =>
    [template, ...around.bringers(host, template)].some((one) => listed(one, grant.templates))
  const hostAccess = (what: string, field: RegExp) =>
    problem(placeOf(written, { field }), `${what} reaches into the host, which ${holderOf(grant)} may not`, {})

  const bounds = defined({ source: grant.source, names: grant.names, ids: grant.vmids })
  const secretsOf = (desired: Resource['desired']) => ownSecrets(desired, grant, written)
  if (placement === undefined) {
    const { own, problems: secrets } = secretsOf(resource.desired)
    problems.push(...outside(resource.desired), ...secrets)
    return problems.length > 0 ? { problems } : { ...resource, desired: own, bounds }
  }
  const judged = placement.candidates.map((candidate) => {
    const { own, problems: secrets } = secretsOf(candidate.desired)
    return { candidate: { ...candidate, desired: own }, problems: [...outside(candidate.desired), ...secrets] }
  })
  const candidates = judged.filter((one) => one.problems.length === 0).map(({ candidate }) => candidate)
  const [first] = candidates
  if (first === undefined) problems.push(...(judged[0]?.problems ?? outside(resource.desired)))
  if (first === undefined || problems.length > 0) return { problems }
  const unfit = judged.flatMap((one) =>
    one.problems[0] === undefined ? [] : [{ host: one.candidate.host, why: one.problems[0].message }],
  )
  return {
    ...resource,
    desired: first.desired,
    placement: { ...placement, candidates, unfit: [...placement.unfit, ...unfit] },
    bounds,
  }
}

/** Existing boxes belong to the administrator: K3s on one is root on it. Pure. */
function boxesOutside({ hosts }: Pick<ClusterDeclaration, 'hosts'>, grant: Grant): readonly FieldProblem[] {
  if (grant.hostAccess && [...hosts.keys()].every((host) => listed(host, grant.hosts))) return []
  return [...hosts.keys()].map((host) =>
    problem(['spec'], `a node on the box ${host} reaches into the host, which ${holderOf(grant)} may not`, {}),
  )
}

const TEMPLATE = /^(?:image|importFrom|fileId|templateFileId|vmId|clone|file|from|\w+DataFileId)$/

function namesOf(guest: VmSpec | ContainerSpec, { driver }: Resource, grant: Grant): readonly NamedThing[] {
  const host = (value: string): NamedThing => ({
    what: 'the host',
    value,
    list: grant.hosts,
    field: /^(?:host|hosts|nodeName)$/,
  })
  const clone = 'clone' in guest ? guest.clone : undefined
  // Where pools separate tenants, a guest without a pool belongs to none of them, so no grant covers it.
  const pool = guest.pool ?? (hypervisorRow(driver)?.pools === true && grant.pools.length > 0 ? '(none)' : undefined)
  return [
    host(guest.host),
    ...(clone?.host === undefined ? [] : [host(clone.host)]),
    ...(pool === undefined ? [] : [{ what: 'the pool', value: pool, list: grant.pools, field: /^pool(?:Id)?$/ }]),
    ...[...storagesOf(guest), ...seedPool(guest, driver)].map((value) => ({
      what: 'the storage',
      value,
      list: grant.storages,
      field: /^(?:storage|datastoreId)$/,
    })),
    ...guest.nics
      .flatMap((nic) => networksOf(nic))
      .map((value) => ({
        what: 'the network',
        value,
        list: grant.networks,
        field: /^(?:network|bridge|vlan|vlanId)$/,
      })),
  ]
}

/** A seed is stored beside the first disk; some hypervisors have a storage for seeds of guests without one. */
function seedPool(guest: VmSpec | ContainerSpec, driver: string): readonly string[] {
  const storage = hypervisorRow(driver)?.seedStorage
  if (storage === undefined || !('disks' in guest) || guest.seed === undefined) return []
  return guest.seed.storage === undefined && guest.disks.length === 0 ? [storage] : []
}

function idProblems(
  { vmid }: VmSpec | ContainerSpec,
  grant: Grant,
  written: { readonly spec: unknown; readonly path: FieldProblem['path'] },
): readonly FieldProblem[] {
  if (vmid === undefined || isGrantedId(String(vmid), grant)) return []
  const message = `the id ${vmid} is not granted to ${holderOf(grant)}`
  return [problem(placeOf(written, { field: /^vm_?id$/i, value: String(vmid) }), message, { ids: grant })]
}

/** Binds the Kubernetes Secrets and encrypted files that a resource names to its own source. */
function ownSecrets(given: Resource['desired'], grant: Grant, written: Parameters<typeof boundSecrets>[3]) {
  return boundSecrets(ownSeed(given, grant.storages), changeSecrets, grant, written)
}

/** If croft chooses the storage of a seed, only granted storages remain. */
function ownSeed(desired: Resource['desired'], storages: readonly string[]): Resource['desired'] {
  if (desired.type !== 'vm' || desired.vm.seed === undefined || desired.vm.seed.storage !== undefined) return desired
  return { ...desired, vm: { ...desired.vm, seed: { ...desired.vm.seed, storages } } }
}

/** Binds a reference to its own source. */
function ownReference(source: string): ChangeReference {
  return (reference) => {
    if ('secretRef' in reference) return { secretRef: { ...reference.secretRef, source } }
    if (!('sops' in reference)) return reference
    // A reference in a text has its file as the author wrote it.
    const { file } = reference.sops
    return { sops: { ...reference.sops, file: file.includes(':') ? file : `${source}:${file}` } }
  }
}

function unbounded(type: string, grant: Grant): FieldProblem {
  return problem(['spec'], `a ${type} cannot be granted to ${holderOf(grant)}`, {})
}

function isGrantedId(id: string, { vmids }: Pick<Grant, 'vmids'>): boolean {
  return vmids !== undefined && /^\d+$/.test(id) && Number(id) >= vmids.from && Number(id) <= vmids.to
}

function problem(
  path: FieldProblem['path'],
  message: string,
  allowed: { readonly list?: readonly string[]; readonly ids?: Pick<Grant, 'vmids'> },
): FieldProblem {
  const { list, ids } = allowed
  const range = ids?.vmids === undefined ? undefined : `${ids.vmids.from} to ${ids.vmids.to}`
  const what = ids === undefined ? list?.join(', ') : range
  const hint = list === undefined && ids === undefined ? 'only hostAccess allows it' : `granted: ${what || 'none'}`
  return { code: 'outside-grant', path, message, hint }
}

/** Returns the place in the manifest: the value itself, else its field, else the whole. */
function placeOf(
  written: { readonly spec: unknown; readonly path: FieldProblem['path'] },
  { field, value }: { readonly field: RegExp; readonly value?: string },
): FieldProblem['path'] {
  const below = written.path.slice(1).reduce<unknown>((tree, step) => child(tree, step), written.spec)
  const found = (value === undefined ? undefined : pathTo(below, field, value)) ?? pathTo(below, field)
  return found === undefined ? written.path : [...written.path, ...found]
}

function child(tree: unknown, step: string | number): unknown {
  return tree === null || typeof tree !== 'object' ? undefined : (tree as Readonly<Record<string, unknown>>)[step]
}

/** Returns the first field of that name, with that value if given. */
function pathTo(tree: unknown, field: RegExp, value?: string): (string | number)[] | undefined {
  if (tree === null || typeof tree !== 'object') return undefined
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(tree)
    ? [...tree.entries()]
    : Object.entries(tree)
  for (const [name, inner] of entries) {
    const matches = typeof name === 'string' && field.test(name) && inner !== undefined
    const plain = typeof inner === 'string' || typeof inner === 'number' ? String(inner) : undefined
    if (matches && (value === undefined || plain === value)) return [name]
    const deeper = pathTo(inner, field, value)
    if (deeper !== undefined) return [name, ...deeper]
  }
  return undefined
}
