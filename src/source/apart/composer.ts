import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import {
  type ClusterAnswer,
  type ClusterQuestion,
  type Composer,
  type DescribedDefinitions,
  definitionKey,
} from '../compose/in-cluster.ts'
import type { DocumentFields } from '../compose/shape.ts'
import { askingCage, createCage, JobEnded } from './cage.ts'
import { againIn, type Paused, pausedAfter } from './pause.ts'

interface OpenQuestion {
  readonly id: string
  readonly question: ClusterQuestion
  answer(answer: ClusterAnswer): void
}

/**
 * Reads definitions and expands instances of a cluster in the cage. Questions that arrive while it works are batched.
 * An instance that had to be ended is skipped for a while, longer each time; the others are still answered.
 */
export function createCagedComposer({
  clock,
  deadlineMs = LIMITS.answerMs,
  heapMb,
}: {
  readonly clock: Clock
  readonly deadlineMs?: number
  readonly heapMb?: number
}): Composer {
  const cage = heapMb === undefined ? askingCage() : createCage(heapMb)
  const setAside = new Map<string, Paused>()
  const waiting = new Map<readonly DocumentFields[], OpenQuestion[]>()
  let working = false

  const asleep = (id: string): Paused | undefined => {
    const ended = setAside.get(id)
    return ended !== undefined && clock.monotonicMs() < ended.untilMs ? ended : undefined
  }
  const endedNow = (id: string, why: string): Paused => {
    const ended = pausedAfter(setAside.get(id), why, clock.monotonicMs())
    if (setAside.size >= LIMITS.answersKept) setAside.clear()
    setAside.set(id, ended)
    return ended
  }

  /** Runs one round in the cage. Questions that it did not reach go into the next, behind other waiting callers. */
  const perform = async (definitions: readonly DocumentFields[], asked: OpenQuestion[]): Promise<OpenQuestion[]> => {
    const own = idOf(definitions)
    const whole = asleep(own)
    if (whole !== undefined) {
      for (const one of asked) one.answer({ answer: 'none', why: toldOf(whole) })
      return []
    }
    const open = asked.filter((one) => {
      const ended = asleep(one.id)
      if (ended !== undefined) one.answer({ answer: 'none', why: toldOf(ended) })
      return ended === undefined
    })
    if (open.length === 0) return []
    const placeOf = (index: number) => (index === 0 ? 'reading the definitions' : 'composing it')
    const job = { job: 'compose', definitions, questions: open.map(({ question }) => question) } as const
    try {
      const { composed } = await cage.perform(job, { clock, deadlineMs, each: true, placeOf })
      const answered = composed?.answers ?? []
      for (const [index, answer] of answered.entries()) {
        setAside.delete(open[index]?.id ?? '')
        open[index]?.answer(answer)
      }
      return open.slice(Math.max(1, answered.length))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const culprit = error instanceof JobEnded ? open[error.index - 1] : undefined
      if (culprit === undefined) {
        if (error instanceof JobEnded) endedNow(own, why)
        for (const one of open) one.answer({ answer: 'none', why })
        return []
      }
      culprit.answer({ answer: 'none', why: toldOf(endedNow(culprit.id, why)) })
      return open.filter((one) => one !== culprit)
    }
  }

  const work = async (): Promise<void> => {
    if (working) return
    working = true
    // Batch all questions of this turn.
    await Promise.resolve()
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [definitions, asked] = next
      waiting.delete(definitions)
      const left = await perform(definitions, asked)
      if (left.length > 0) waiting.set(definitions, [...left, ...(waiting.get(definitions) ?? [])])
    }
    working = false
  }

  return {
    async define(definitions): Promise<DescribedDefinitions> {
      const id = idOf(definitions)
      const ended = asleep(id)
      if (ended !== undefined) throw new Error(toldOf(ended))
      const placeOf = () => `reading ${definitions.map((one) => definitionKey(one)).join(', ')}`.slice(0, 200)
      try {
        const job = { job: 'compose', definitions, questions: [] } as const
        const { composed } = await cage.perform(job, { clock, deadlineMs, each: true, placeOf })
        setAside.delete(id)
        if (composed === undefined) throw new Error('nobody read the definitions')
        return composed.described
      } catch (error) {
        throw error instanceof JobEnded ? new Error(toldOf(endedNow(id, error.message))) : error
      }
    },
    ask: (definitions, question) =>
      new Promise((answer) => {
        const one = { id: idOf(question), question, answer }
        waiting.set(definitions, [...(waiting.get(definitions) ?? []), one])
        void work()
      }),
  }
}

function toldOf(ended: Paused): string {
  return `${ended.why}; croft tries again in ${againIn(ended)}`
}

function idOf(value: unknown): string {
  const plain = (_: string, one: unknown) => (one instanceof Map ? [...one] : one)
  return createHash('sha256').update(JSON.stringify(value, plain)).digest('base64')
}
