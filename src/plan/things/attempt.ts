import type { CreationAttempt, ResourceRecord } from '../../model/record.ts'
import { isGuest } from '../../model/resource.ts'

/**
 * Returns the open creation. If an earlier croft wrote the record, there is none if the guest was ever seen; otherwise
 * its creation is open since the record's creation.
 */
export function attemptOf(record: ResourceRecord | undefined): CreationAttempt | undefined {
  if (record?.attempt !== undefined) return record.attempt
  if (record?.made !== true || record.seenMs !== undefined || record.externalId === undefined) return undefined
  const { type, connection, externalId, createdMs } = record
  return type !== 'cluster' && isGuest(type) ? { connection, externalId, sinceMs: createdMs } : undefined
}

/** Returns the open creation of this id on this connection. The same id elsewhere is another guest. */
export function attemptAt(
  record: ResourceRecord | undefined,
  connection: string,
  externalId: string,
): CreationAttempt | undefined {
  const attempt = attemptOf(record)
  return attempt?.connection === connection && attempt.externalId === externalId ? attempt : undefined
}

/** Reports whether a survey has shown this guest whole under this id of this connection. */
export function wasWhole(record: ResourceRecord | undefined, connection: string, externalId: string): boolean {
  return (
    record?.seenMs !== undefined &&
    record.connection === connection &&
    record.externalId === externalId &&
    attemptOf(record) === undefined
  )
}
