import type { Proof } from './estate.ts'
import type { Loss } from './loss.ts'
import type { LocalK3s } from './observed-cluster.ts'
import type { CreationAttempt } from './record.ts'
import type { Change, ObservedResource } from './resource.ts'

/*
 * The one gate for destruction. A step that deletes or overwrites needs a `Loss`, and only this module makes one: from
 * a `Destruction`, which it also makes, with a symbol that it does not export.
 */

declare const gate: unique symbol

/** Why a thing may be destroyed. */
export type Because =
  /** No manifest declares it. Without a proof that this directory declared it a guard holds the deletion. */
  | { readonly is: 'removed'; readonly proof?: Proof }
  /** Its declaration differs from the live thing. */
  | { readonly is: 'changed'; readonly changes: readonly string[] }
  /** A creation overwrites what a manifest names: disks of a new pool. It holds nothing of croft's. */
  | { readonly is: 'named' }
  /** The coordinator of its cluster recreates it. */
  | { readonly is: 'ordered'; readonly reason: string }
  /** A creation of croft that is still open left it behind. */
  | { readonly is: 'own-attempt' }

/** A thing to destroy, as this pass saw it, with its data and the reason. Never read from disk. */
export interface Destruction {
  readonly [gate]: true
  readonly observed: ObservedResource
  /** What is lost with it: all disks but the first, also detached ones; the objects that a release installed. */
  readonly takes: readonly string[]
  readonly because: Because
}

function made(observed: ObservedResource, takes: readonly string[], because: Because): Destruction {
  return { observed, takes, because } as unknown as Destruction
}

/** The deletion of a thing that is no longer declared. */
export function removed(observed: ObservedResource, takes: readonly string[], proof?: Proof): Destruction {
  return made(observed, takes, proof === undefined ? { is: 'removed' } : { is: 'removed', proof })
}

/** What a change of the declaration takes from a thing, or all of it if the thing is recreated. */
export function changed(
  observed: ObservedResource,
  takes: readonly string[],
  changes: readonly Pick<Change, 'path'>[],
): Destruction {
  return made(observed, takes, { is: 'changed', changes: changes.map(({ path }) => path) })
}

/** The deletion of a machine that its cluster's coordinator recreates. */
export function ordered(observed: ObservedResource, takes: readonly string[], reason: string): Destruction {
  return made(observed, takes, { is: 'ordered', reason })
}

/** The remains of our unfinished creation, at its own place. Undefined: they are not known to be ours. */
export function ownAttempt(
  observed: ObservedResource,
  attempt: Pick<CreationAttempt, 'connection'> | undefined,
): Destruction | undefined {
  return attempt?.connection === observed.connection ? made(observed, [], { is: 'own-attempt' }) : undefined
}

/** Permits one step to destroy the thing, or these parts of it. */
export function destroying(
  { observed, takes, because }: Destruction,
  parts: readonly string[] = takes,
): { readonly destroys: Loss } {
  const { type, externalId, host } = observed
  const place = host === '' ? '' : ` on ${host}`
  const destroys = { thing: `${type} ${externalId}${place}`, takes: parts, because: because.is }
  return { destroys: destroys as unknown as Loss }
}

/** Permits one creating step to overwrite what a manifest names: the system refuses it unless that is empty. */
export function overwriting(thing: string, takes: readonly string[]): { readonly destroys: Loss } {
  return { destroys: { thing, takes, because: 'named' } as unknown as Loss }
}

/** Permits one step to delete leftovers of croft: a drill's copy, a seed, a finished Job, a broken run's record. */
export function sweeping(thing: string): { readonly destroys: Loss } {
  return { destroys: { thing, takes: [], because: 'own-attempt' } as unknown as Loss }
}

/** A node of a cluster as this pass saw it. */
export interface LosingNode {
  readonly name: string
  readonly k3s: LocalK3s | 'unknown'
}

/** Permits one cluster step to destroy K3s's data on a node. If only K3s is wiped, volumes and snapshots stay. */
export function losingData(node: LosingNode, because: Loss['because']): { readonly destroys: Loss } {
  const destroys = { thing: `what K3s keeps on ${node.name}`, takes: heldBy(node), because }
  return { destroys: destroys as unknown as Loss }
}

/** Permits one cluster step to have a node's machine destroyed. What its hypervisor deletes has a separate Loss. */
export function losingMachine(node: LosingNode, because: Loss['because']): { readonly destroys: Loss } {
  const destroys = { thing: `the machine of ${node.name}`, takes: [...heldBy(node), 'its disks'], because }
  return { destroys: destroys as unknown as Loss }
}

const DATASTORE = {
  etcd: 'its copy of the data of etcd',
  sqlite: 'the SQLite database, which is the only copy',
  external: "K3s's own files; the datastore is elsewhere",
} as const

function heldBy({ k3s }: LosingNode): readonly string[] {
  if (k3s === 'unknown') return ['whatever is on its disk, which nobody has read']
  if (k3s.data === 'none' || k3s.datastore === undefined) return []
  return [DATASTORE[k3s.datastore]]
}
