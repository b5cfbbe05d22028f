import type { Change } from '../../model/change.ts'
import { clean, cleanValue } from './clean.ts'

export const SENSITIVE = '(sensitive value)'

export interface PlanView {
  /** Show the exact call behind every step. */
  readonly calls?: boolean
}

/** `spec.replicas: 1 → 2` */
export function changeLine(change: Change): string {
  return `${clean(change.path)}: ${shownValue(change, 'from')} → ${shownValue(change, 'to')}`
}

function shownValue(change: Change, side: 'from' | 'to'): string {
  if (change.secret !== true) return cleanValue(change[side])
  return change[side] === undefined || change[side] === null ? '(none)' : SENSITIVE
}
