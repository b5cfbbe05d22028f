import { createHash } from 'node:crypto'
import { cleanText } from '../../lib/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ExpressionAnswer, ExpressionQuestion, Expressions } from '../../model/expressions.ts'
import { askingCage, createCage, JobEnded } from './cage.ts'
import { againIn, type Paused, pausedAfter } from './pause.ts'

export interface CagedExpressionsOptions {
  readonly clock: Clock
  readonly deadlineMs?: number
  readonly heapMb?: number
}

/**
 * Evaluates expressions in a separate process. Caches answers per object and asks only for the missing ones. An
 * expression that had to be ended is skipped for a while, longer each time; the others of its pass are still answered.
 */
export function createCagedExpressions({
  clock,
  deadlineMs = LIMITS.answerMs,
  heapMb,
}: CagedExpressionsOptions): Expressions {
  const cage = heapMb === undefined ? askingCage() : createCage(heapMb)
  const kept = new Map<string, ExpressionAnswer>()
  const setAside = new Map<string, Paused>()
  const tookMs = new Map<string, number>()

  const note = (id: string, answer: ExpressionAnswer) => {
    if (kept.size >= LIMITS.answersKept) kept.clear()
    if (tookMs.size >= LIMITS.answersKept) tookMs.clear()
    kept.set(id, answer)
  }
  const endedNow = (expression: string, why: string): Paused => {
    const ended = pausedAfter(setAside.get(expression), why, clock.monotonicMs())
    if (setAside.size >= LIMITS.answersKept) setAside.clear()
    setAside.set(expression, ended)
    return ended
  }
  /** Duration of the last evaluation. */
  const slowness = ({ expression }: ExpressionQuestion) => tookMs.get(expression) ?? 0
  const asleep = (expression: string): Paused | undefined => {
    const ended = setAside.get(expression)
    return ended !== undefined && clock.monotonicMs() < ended.untilMs ? ended : undefined
  }

  return {
    async answers(questions) {
      const ids = questions.map(idOf)
      const found = new Map<string, ExpressionAnswer>()
      const open = new Map<string, ExpressionQuestion>()
      for (const [index, question] of questions.entries()) {
        const id = ids[index] ?? ''
        const known = kept.get(id)
        if (known !== undefined) found.set(id, known)
        else open.set(id, question)
      }
      const begunMs = clock.monotonicMs()
      while (open.size > 0) {
        for (const [id, { expression }] of open) {
          const ended = asleep(expression)
          if (ended === undefined) continue
          found.set(id, toldOf(ended))
          open.delete(id)
        }
        // Ask the fast ones first, so that they need not wait for slow ones.
        const asked = [...open].toSorted(([, a], [, b]) => slowness(a) - slowness(b))
        if (asked.length === 0) break
        if (clock.monotonicMs() - begunMs > LIMITS.answersMs) {
          for (const [id] of asked) found.set(id, OTHERS_FIRST)
          break
        }
        try {
          const placeOf = () => 'it'
          const job = { job: 'answers', questions: asked.map(([, question]) => question) } as const
          const { answers } = await cage.perform(job, { clock, deadlineMs, each: true, placeOf })
          if (answers.length === 0) break
          // Questions without an answer go into another round, behind other waiting callers.
          for (const [index, answer] of answers.entries()) {
            const [id, question] = asked[index] ?? []
            if (id === undefined || question === undefined) continue
            found.set(id, answer.holds)
            note(id, answer.holds)
            tookMs.set(question.expression, answer.ms)
            setAside.delete(question.expression)
            open.delete(id)
          }
        } catch (error) {
          const [id, culprit] = (error instanceof JobEnded ? asked[error.index] : undefined) ?? []
          if (id === undefined || culprit === undefined) {
            const why = cleanText(error instanceof Error ? error.message : String(error), 200)
            for (const [each] of asked) found.set(each, why)
            break
          }
          const why = error instanceof Error ? error.message : ''
          found.set(id, toldOf(endedNow(culprit.expression, why)))
          open.delete(id)
        }
      }
      return ids.map((id) => found.get(id) ?? 'nobody answered')
    },
  }
}

const OTHERS_FIRST = `it was not evaluated: expressions took more than ${LIMITS.answersMs / 1000} s in this pass; the next one goes on`

function toldOf(ended: Paused): string {
  return `${ended.why}; croft evaluates it again in ${againIn(ended)}`
}

function idOf({ expression, name, object }: ExpressionQuestion): string {
  return createHash('sha256')
    .update(`${name}\0${expression}\0${JSON.stringify(object)}`)
    .digest('base64')
}
