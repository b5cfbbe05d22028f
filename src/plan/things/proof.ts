import { ownerOf, type ResourceKey } from '../../model/declaration.ts'
import type { Approval, Estate, Proof } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { claimantOf } from './left-key.ts'

/**
 * Returns why an undeclared thing may leave: a person's approval, the record of its declaration, or the commit that
 * removed it. Our mark without a declaration proves nothing.
 */
export function proofOf(
  key: ResourceKey,
  record: ResourceRecord | undefined,
  { sources, removed }: Pick<Estate, 'sources' | 'removed'>,
  approvals: readonly Approval[],
): Proof | undefined {
  const approval = approvals.find(({ deletes }) => deletes.includes(key) || deletes.includes(ownerOf(key)))
  if (approval !== undefined) return { by: 'approval', name: approval.name }
  if (record !== undefined && isDeclaredHere(record, sources))
    return { by: 'record', source: record.declaredBy ?? 'this directory' }
  const commit = removed?.get(claimantOf(key))?.commit
  return commit === undefined ? undefined : { by: 'commit', commit }
}

/** Reports whether it was ever declared, or the record is only about an observed thing. */
export function wasDeclared({ declaredBy, generation }: Pick<ResourceRecord, 'declaredBy' | 'generation'>): boolean {
  // Older records lack the source; a record of an observed thing never had a generation.
  return declaredBy !== undefined || generation !== ''
}

/** Reports whether a current source declared it. A record without a source is of the database's directory. */
export function isDeclaredHere(
  record: Pick<ResourceRecord, 'declaredBy' | 'generation'>,
  sources: readonly string[] | undefined,
): boolean {
  if (!wasDeclared(record)) return false
  return record.declaredBy === undefined || sources === undefined || sources.includes(record.declaredBy)
}
