import type { Step } from '../model/step.ts'

/** Everything about a step that is not the same for all steps of a driver. */
export interface StepParts {
  readonly verb: Step['verb']
  readonly summary: string
  readonly host: string
  readonly method: Step['call']['method']
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  readonly queues?: readonly string[]
  readonly disruption?: Step['disruption']
}

export function stepOf(lane: Step['lane'], parts: StepParts): Step {
  return {
    verb: parts.verb,
    summary: parts.summary,
    lane,
    host: parts.host,
    queues: parts.queues ?? [],
    call: { method: parts.method, path: parts.path, params: parts.params ?? {} },
    disruption: parts.disruption ?? 'none',
  }
}

/** What two effects on one host line up for. */
export function hostQueue(host: string): string {
  return `host/${host}`
}
