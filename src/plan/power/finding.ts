import type { ResourceKey } from '../../model/declaration.ts'
import type { PowerHold, PowerWait } from '../../model/observed-power.ts'
import type { Step } from '../../model/step.ts'

/** What one judgement has to say; several are put together into a decision. */
export interface PowerFinding {
  readonly steps: readonly Step<'power'>[]
  readonly waits: readonly PowerWait[]
  readonly holds: readonly PowerHold[]
  readonly warnings: readonly string[]
  readonly machines: Readonly<Record<ResourceKey, 'off' | 'leave'>>
  /** A deadline ran out and its choice is to go back. */
  readonly abort?: string
  /** Nothing that comes later may begin. */
  readonly unfinished: boolean
}

export const NOTHING: PowerFinding = { steps: [], waits: [], holds: [], warnings: [], machines: {}, unfinished: false }

export function merge(findings: readonly PowerFinding[]): PowerFinding {
  const abort = findings.find((one) => one.abort !== undefined)?.abort
  return {
    steps: findings.flatMap(({ steps }) => steps),
    waits: findings.flatMap(({ waits }) => waits),
    holds: findings.flatMap(({ holds }) => holds),
    warnings: findings.flatMap(({ warnings }) => warnings),
    machines: Object.assign({}, ...findings.map(({ machines }) => machines)) as PowerFinding['machines'],
    unfinished: findings.some(({ unfinished }) => unfinished),
    ...(abort === undefined ? {} : { abort }),
  }
}

/** One after the other: the next is asked only when the one before has come to its end. */
export function inTurn(stages: readonly (() => PowerFinding)[]): PowerFinding {
  const all: PowerFinding[] = []
  for (const stage of stages) {
    const finding = stage()
    all.push(finding)
    if (finding.unfinished || finding.abort !== undefined) break
  }
  return merge(all)
}

export function todo(steps: readonly Step<'power'>[]): PowerFinding {
  return { ...NOTHING, steps, unfinished: steps.length > 0 }
}
