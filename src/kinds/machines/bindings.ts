import { nearest } from '../../lib/nearest.ts'
import type { Declaration } from '../../model/declaration.ts'
import { HYPERVISORS } from '../../model/hypervisors.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { HostSpec } from '../schemas/host.ts'

type BindingPath = readonly (string | number)[]

/** The Host of that name: in the same namespace, or one for all. */
export function findHost(
  name: string,
  namespace: string | undefined,
  lookup: Lookup,
): Declaration<HostSpec> | undefined {
  const found = lookup.declaration('Host', name, namespace) ?? lookup.declaration('Host', name)
  return found as Declaration<HostSpec> | undefined
}

export function nodeOf(host: Declaration<HostSpec>): string {
  return host.spec.node ?? host.name
}

/** Guesses nothing about an undeclared host. */
export function unknownHost(name: string, path: BindingPath, lookup: Lookup): FieldProblem {
  const known = lookup.all('Host').map((host) => host.name)
  const meant = nearest(name, known)
  const others = known.length === 0 ? `declare Host ${name} with its bindings` : `declared hosts: ${known.join(', ')}`
  return {
    code: 'unknown-reference',
    path,
    message: `there is no Host ${name}`,
    hint: meant === undefined ? others : `did you mean ${meant}?`,
  }
}

/** A logical name that a host does not bind: says which hosts do, so that a person can choose one. */
export function unbound(
  what: 'networks' | 'storages',
  logical: string,
  host: Declaration<HostSpec>,
  path: BindingPath,
  lookup: Lookup,
): FieldProblem {
  const one = what === 'networks' ? 'network' : 'storage'
  const having = (lookup.all('Host') as readonly Declaration<HostSpec>[])
    .filter((other) => Object.hasOwn(other.spec.bindings[what], logical))
    .map((other) => other.name)
  const meant = having.length > 0 ? undefined : nearest(logical, Object.keys(host.spec.bindings[what]))
  return {
    code: 'unbound',
    path,
    message:
      having.length === 0
        ? `host ${host.name} does not bind the ${one} ${logical}, and no other host does`
        : `host ${host.name} does not bind the ${one} ${logical}; it is bound on ${having.join(', ')}`,
    hint: `${meant === undefined ? '' : `did you mean ${meant}? Otherwise `}add ${logical} to bindings.${what} of Host ${host.name}`,
  }
}

/** The connection that a host belongs to; undefined for the only one there is. */
export function connectionOf(
  host: Declaration<HostSpec>,
  path: BindingPath,
  lookup: Lookup,
): { readonly connection?: string } | { readonly problem: FieldProblem } {
  const connections = hypervisorsIn(lookup).map((connection) => connection.name)
  const wanted = host.spec.connection ?? hypervisorOf(host, lookup)?.name
  if (wanted !== undefined && connections.includes(wanted)) return { connection: wanted }
  if (wanted === undefined && connections.length < 2) return {}
  return {
    problem: {
      code: 'unknown-connection',
      path,
      message:
        wanted === undefined
          ? `host ${host.name} does not say which connection it belongs to; there are ${connections.join(', ')}`
          : `host ${host.name} names the connection ${wanted}, which is not declared`,
      hint: `set spec.connection of Host ${host.name}`,
    },
  }
}

/** The estate that what runs on a host belongs to: part of every uid. */
export function estateOf(host: Declaration<HostSpec>, lookup: Lookup): string {
  const connections = hypervisorsIn(lookup)
  const wanted = host.spec.connection ?? hypervisorOf(host, lookup)?.name
  const named = connections.find((connection) => connection.name === wanted)
  return (named ?? connections[0])?.spec.estate ?? 'default'
}

type EstateBinding = Declaration<{ readonly estate: string; readonly host?: string | undefined }>

/** Every declared connection to a hypervisor. */
export function hypervisorsIn(lookup: Lookup): readonly EstateBinding[] {
  return HYPERVISORS.flatMap(({ kind }) => lookup.all(kind)) as readonly EstateBinding[]
}

/** Returns the connection that reaches only this host and keeps its machines; undefined if one reaches many. */
export function hypervisorOf(host: Declaration<HostSpec>, lookup: Lookup): EstateBinding | undefined {
  const wide = HYPERVISORS.filter(({ reaches }) => reaches === 'hosts')
  const every = hypervisorsIn(lookup)
  const all = every.filter(({ kind }) => !wide.some((row) => row.kind === kind))
  if (host.spec.connection !== undefined) return all.find(({ name }) => name === host.spec.connection)
  const naming = all.find(({ spec }) => spec.host === host.name)
  return naming ?? (all.length === 1 && every.length === 1 ? all[0] : undefined)
}
