import type { Action } from '../../model/action.ts'
import { ownerOf } from '../../model/key.ts'
import { builtInKind } from '../../model/kube-kinds.ts'
import type { Removal } from './removals.ts'

export interface DecidedRemoval {
  readonly removal: Removal
  readonly action: Action
}

/**
 * The objects of an add-on leave in the order opposite to that in which they came. Objects of kinds that it brought go
 * first and must be gone before the chart or the workloads go: only the program that knows them takes their finalizers
 * off, and without it they, and their namespace, would stay for ever. Definitions and namespaces go last.
 */
export function inOrderOfLeaving(decided: readonly DecidedRemoval[]): readonly DecidedRemoval[] {
  return decided.map((one) => {
    const { removal, action } = one
    if (removal.type !== 'object' || action.do !== 'delete') return one
    const before = decided.filter((other) => isBefore(other, removal)).map((other) => other.removal.key)
    if (before.length === 0) return one
    const { reason: _, ...next } = action
    const message = `waits until ${before.join(', ')} ${before.length === 1 ? 'is' : 'are'} gone`
    return { removal, action: { do: 'wait', reason: 'GoesLater', message, lookAgainMs: 1_000, next } }
  })
}

/** Will it go, and must it be gone before the other goes? What stays, or is kept by somebody else, is not waited for. */
function isBefore({ removal, action }: DecidedRemoval, other: Removal): boolean {
  if (removal.type !== 'object' || removal.deletion !== 'Delete') return false
  if (action.do !== 'delete' && action.do !== 'wait') return false
  const sameOwner =
    removal.sighting.connection === other.sighting.connection && ownerOf(removal.key) === ownerOf(other.key)
  return sameOwner && rankOf(removal) < rankOf(other)
}

const LAST: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition'])

function rankOf({ sighting }: Removal): 0 | 1 | 2 {
  const [apiVersion = '', kind = ''] = (sighting.list ?? '').split(' ')
  if (LAST.has(kind)) return 2
  return builtInKind({ apiVersion, kind }) === undefined ? 0 : 1
}
