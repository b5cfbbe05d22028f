import { at, type Foreign, textOf } from '../../kubernetes/objects.ts'
import type { Readiness } from '../../model/rules.ts'
import type { ObjectDetails } from './marks.ts'
import { readinessByKind } from './readiness-by-kind.ts'
import { conditionsOf, failed, here, isTrue, numberAt, waits } from './readiness-words.ts'

/**
 * Reports whether an object is ready: by the generic conditions, then by its kind, then by its condition Ready, then by
 * the person's expression.
 */
export function objectReadiness(look: ObjectDetails, expression?: string): Readiness {
  const { object } = look
  const found =
    terminating(object) ??
    stale(object) ??
    ownWords(object) ??
    readinessByKind(look) ??
    readyCondition(object) ??
    here('it is there')
  if (!found.ready || expression === undefined) return found
  const answer = look.answered?.expression === expression ? look.answered.answer : 'it was not evaluated yet'
  if (answer === true) return found
  return waits('ReadyExpression', answer === false ? `not yet: ${expression}` : `${expression}: ${answer}`)
}

function terminating(object: Foreign): Readiness | undefined {
  if (at(object, 'metadata', 'deletionTimestamp') === undefined) return undefined
  return { ready: false, reason: 'Terminating', message: 'it is being deleted', status: 'Terminating' }
}

/** Its controller has not seen the last write yet. */
function stale(object: Foreign): Readiness | undefined {
  const [generation, observed] = [
    numberAt(object, 'metadata', 'generation'),
    numberAt(object, 'status', 'observedGeneration'),
  ]
  if (generation === undefined || observed === undefined || observed >= generation) return undefined
  return waits('NotObserved', `its controller has seen generation ${observed} of ${generation}`)
}

/** The two generic conditions: a controller is working, or has stalled. */
function ownWords(object: Foreign): Readiness | undefined {
  const conditions = conditionsOf(object)
  const stalled = conditions.find(isTrue('Stalled'))
  if (stalled !== undefined)
    return failed(textOf(stalled.reason) ?? 'Stalled', textOf(stalled.message) ?? 'it is stalled')
  const busy = conditions.find(isTrue('Reconciling'))
  return busy === undefined
    ? undefined
    : waits(textOf(busy.reason) ?? 'Reconciling', textOf(busy.message) ?? 'it is being worked on')
}

function readyCondition(object: Foreign): Readiness | undefined {
  const ready = conditionsOf(object).find(({ type }) => type === 'Ready')
  if (ready === undefined) return undefined
  return ready.status === 'True'
    ? here('Ready')
    : waits(textOf(ready.reason) ?? 'NotReady', textOf(ready.message) ?? 'not Ready')
}
