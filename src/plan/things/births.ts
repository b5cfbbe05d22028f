import type { Births } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'

/** Reports whether the record is about the thing at this place: croft made or adopted something under this id there. */
export function isHeldAt(
  record: ResourceRecord | undefined,
  { connection, externalId }: Pick<ObservedResource, 'connection' | 'externalId'>,
): record is ResourceRecord {
  return record?.seenMs !== undefined && record.externalId === externalId && record.connection === connection
}

/**
 * Reports whether a guest without our mark is the one that the record is about. An id does not say so: a person may have
 * deleted that guest and used its id again. Only records from before births were kept go by the name of an unmarked guest.
 */
export function isSameGuest(
  record: ResourceRecord,
  { close, name }: ObservedResource,
  policy: Pick<Resource['policy'], 'unmarked' | 'birth'>,
): boolean {
  const birth = close?.birth
  if (policy.birth !== undefined && policy.birth === birth) return true
  if (record.birth !== undefined) return record.birth === birth
  return policy.unmarked === true && record.details?.guest !== undefined && record.details.guest === name
}

/** The births of a guest at a place that croft holds, if the observed one is another than the recorded one. */
export function otherBirth(
  record: ResourceRecord | undefined,
  observed: ObservedResource,
  meant: string | undefined,
): Births | undefined {
  const is = observed.close?.birth
  if (!isHeldAt(record, observed) || record.birth === undefined || is === undefined) return undefined
  return is === record.birth || is === meant ? undefined : { was: record.birth, is }
}
