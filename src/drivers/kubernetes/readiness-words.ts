import { at, type Foreign, isRecord, recordsOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Readiness } from '../../model/rules.ts'

/* The three answers about an object's readiness, and their sources. */

export function here(message: string): Readiness {
  return { ready: true, reason: 'Current', message, status: 'Current' }
}

export function waits(reason: string, message: string): Readiness {
  return { ready: false, reason, message: cleanText(message), status: 'InProgress' }
}

export function failed(reason: string, message: string): Readiness {
  return { ready: false, reason, message: cleanText(message), status: 'Failed' }
}

export function conditionsOf(object: Foreign): readonly Foreign[] {
  const status = isRecord(object.status) ? object.status : {}
  return recordsOf(status.conditions)
}

export function isTrue(type: string): (condition: Foreign) => boolean {
  return (condition) => condition.type === type && condition.status === 'True'
}

export function numberAt(object: Foreign, ...path: readonly string[]): number | undefined {
  const value = at(object, ...path)
  return typeof value === 'number' ? value : undefined
}
