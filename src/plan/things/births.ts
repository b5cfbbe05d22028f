import type { Births } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'

/** Reports whether the record is about this place: croft created or adopted something with this id there. */
export function isHeldAt(
  record: ResourceRecord | undefined,
  { connection, externalId }: Pick<ObservedResource, 'connection' | 'externalId'>,
): record is ResourceRecord {
  return record?.seenMs !== undefined && record.externalId === externalId && record.connection === connection
}

/**
 * Reports whether an unmarked guest is the record's guest. Its id proves nothing: a person may have deleted that guest
 * and reused the id. Only records without a birth compare the name.
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
