import type { Condition } from '../model/record.ts'

/** Returns the conditions with one of them set. `sinceMs` changes only with the status, so a condition never flaps. */
export function withCondition(
  conditions: readonly Condition[],
  next: Omit<Condition, 'sinceMs'>,
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find((condition) => condition.type === next.type)
  const sinceMs = before?.status === next.status ? before.sinceMs : nowMs
  const set: Condition = { ...next, sinceMs }
  return before === undefined
    ? [...conditions, set]
    : conditions.map((condition) => (condition.type === next.type ? set : condition))
}

export function conditionOf(conditions: readonly Condition[], type: Condition['type']): Condition | undefined {
  return conditions.find((condition) => condition.type === type)
}

export function isTrue(conditions: readonly Condition[], type: Condition['type']): boolean {
  return conditionOf(conditions, type)?.status === 'True'
}
