import type { Approval, Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { isGuest, type ObservedResource } from '../../model/resource.ts'
import { proofOf, wasDeclared } from './proof.ts'

/**
 * Reports whether the record of an undeclared guest alone proves its owner and why it may leave, so that it counts as
 * leaving before it is read. Cluster nodes leave in an order that only their marks know, so they are read first.
 */
export function isKnownToLeave(
  observed: Pick<ObservedResource, 'externalId' | 'connection' | 'mark'>,
  record: ResourceRecord | undefined,
  estate: Pick<Estate, 'sources' | 'removed'>,
  approvals: readonly Approval[],
): record is ResourceRecord {
  if (record === undefined || !isGuest(record.type) || !wasDeclared(record)) return false
  if (record.uid !== observed.mark?.uid || record.externalId !== observed.externalId) return false
  if (record.connection !== observed.connection || record.policy.deletion !== 'Delete') return false
  if (record.policy.serverOf !== undefined || record.details?.cluster !== undefined) return false
  return proofOf(record.key, record, estate, approvals) !== undefined
}
