import type { Random } from '../lib/random.ts'
import type { FailureRun, LastEffect, ResourceRecord } from '../model/record.ts'
import { shownCall } from '../model/shown-step.ts'
import type { Refusal, Step } from '../model/step.ts'
import { countFailure, isStalled } from './failures.ts'
import type { ResourcePass } from './resource-pass.ts'

/** The failures so far, and the last call. */
export interface Failures {
  readonly failure: FailureRun | undefined
  readonly stalled: boolean
  readonly lastEffect: LastEffect | undefined
}

export function judgeFailures(
  one: ResourcePass,
  before: ResourceRecord,
  renewed: boolean,
  nowMs: number,
  random: Random,
): Failures {
  let failure = renewed ? undefined : before.failure
  let stalled = !renewed && before.stalledGeneration === one.generation
  let lastEffect = renewed ? undefined : before.lastEffect
  for (const happening of one.happenings) {
    if (happening.what === 'failed') {
      failure = countFailure(failure, happening.refusal, nowMs, random)
      stalled = isStalled(happening.refusal, failure)
    } else if (happening.what === 'succeeded') {
      const signature = signatureOf(happening.step)
      if (lastEffect?.signature === signature) {
        const refusal = noEffect(happening.step)
        failure = countFailure(failure, refusal, nowMs, random)
        stalled = isStalled(refusal, failure)
      } else if (failure?.reason !== NO_EFFECT) {
        failure = undefined
        stalled = false
      }
      lastEffect = { signature, verb: happening.step.verb, atMs: nowMs }
    }
  }
  const settled = one.entry.action.do === 'nothing' && one.happenings.length === 0
  if (settled && one.seen)
    return { failure: undefined, stalled: false, lastEffect: one.readiness?.ready === false ? lastEffect : undefined }
  return { failure, stalled, lastEffect }
}

const NO_EFFECT = 'NoEffect'

function noEffect(step: Step): Refusal {
  return {
    reason: NO_EFFECT,
    meaning: 'backoff',
    message: `"${step.summary}" succeeded before and did not stay: something else changes it back, or the system does not keep it`,
  }
}

/** Identifies a call regardless of the configuration version that it was based on. */
function signatureOf(step: Step): string {
  const { method, path, params } = shownCall(step)
  const { digest: _, ...sent } = params
  return `${method} ${path} ${JSON.stringify(sent)}`
}
