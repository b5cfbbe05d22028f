import { ownerOf, type ResourceKey } from '../../model/declaration.ts'
import { builtInKind } from '../../model/kube-object.ts'
import type { Action } from '../../model/plan.ts'
import { inOrder } from './order.ts'
import type { Removal } from './removals.ts'

export interface DecidedRemoval {
  readonly removal: Removal
  readonly action: Action
}

/**
 * Orders the deletion of an add-on's objects opposite to their creation. Objects of kinds that it defines go first and
 * must be gone before the chart or the workloads: only their controller removes their finalizers, and without it they,
 * and their namespace, would stay forever. Definitions and namespaces go last.
 */
export function inOrderOfLeaving(decided: readonly DecidedRemoval[]): readonly DecidedRemoval[] {
  return decided.map((one) => {
    const { removal, action } = one
    if (removal.type !== 'object' || action.do !== 'delete') return one
    const before = decided.filter((other) => isBefore(other, removal)).map((other) => other.removal.key)
    if (before.length === 0) return one
    return { removal, action: afterThey(action, before) }
  })
}

/**
 * Delays deletions until all dependents (`dependsOn`) are gone, on any connection. Records of one source hold the
 * dependencies; a circle in old records is ignored, since nothing in it could go first.
 */
export function dependentsFirst<T extends DecidedRemoval>(going: readonly T[]): readonly T[] {
  const leaving = going.filter(({ removal, action }) => removal.deletion === 'Delete' && action.do !== 'nothing')
  const after = ({ removal }: DecidedRemoval) => removal.policy?.after ?? removal.record?.policy.after ?? []
  const dependents = new Map<ResourceKey, T[]>()
  for (const one of leaving)
    for (const key of after(one)) {
      const before = dependents.get(key)
      if (before === undefined) dependents.set(key, [one])
      else before.push(one)
    }
  if (dependents.size === 0) return going
  const waitsFor = (one: T) =>
    (dependents.get(ownerOf(one.removal.key)) ?? []).filter(
      (other) => other.removal.record?.declaredBy === one.removal.record?.declaredBy,
    )
  const { cycle } = inOrder(
    leaving.map((one) => ({ key: one.removal.key, needs: waitsFor(one).map((other) => other.removal.key) })),
  )
  return going.map((one) => {
    if (one.action.do !== 'delete' || cycle.includes(one.removal.key)) return one
    const before = waitsFor(one).map((other) => other.removal.key)
    return before.length === 0 ? one : { ...one, action: afterThey(one.action, before) }
  })
}

function afterThey(action: Extract<Action, { readonly do: 'delete' }>, before: readonly ResourceKey[]): Action {
  const { reason: _, ...next } = action
  const message = `waits until ${before.join(', ')} ${before.length === 1 ? 'is' : 'are'} gone`
  return { do: 'wait', reason: 'GoesLater', message, lookAgainMs: 1_000, next }
}

/** Reports whether this removal happens and must precede the other. Things that stay are not awaited. */
function isBefore({ removal, action }: DecidedRemoval, other: Removal): boolean {
  if (removal.type !== 'object' || removal.deletion !== 'Delete') return false
  if (action.do !== 'delete' && action.do !== 'wait') return false
  const sameOwner =
    removal.observed.connection === other.observed.connection && ownerOf(removal.key) === ownerOf(other.key)
  return sameOwner && rankOf(removal) < rankOf(other)
}

const LAST: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition'])

function rankOf({ observed }: Removal): 0 | 1 | 2 {
  const [apiVersion = '', kind = ''] = (observed.list ?? '').split(' ')
  if (LAST.has(kind)) return 2
  return builtInKind({ apiVersion, kind }) === undefined ? 0 : 1
}
