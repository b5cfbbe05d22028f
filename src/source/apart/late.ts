import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Problem } from '../../model/declaration.ts'
import type { KnownObjects } from '../../model/waiting.ts'
import type { LateInstances } from '../compose/api.ts'
import type { ExpandedInstances } from '../git/revision.ts'
import { originOf } from '../yaml/problem-at.ts'
import { askingCage, createCage, JobEnded } from './cage.ts'
import { type ExpandLate, unpackExpanded } from './pack.ts'
import { type Paused, pausedAfter } from './pause.ts'

/**
 * Expands late instances in the cage, only after changes of observed values. If that is ended, they wait as if there
 * were no values, with a problem that names the instance, and are retried with growing delay.
 */
export function lateInCage({ clock, heapMb }: { readonly clock: Clock; readonly heapMb?: number }): ExpandLate {
  const cage = heapMb === undefined ? askingCage() : createCage(heapMb)
  return (instances, unseen) => {
    let last: { readonly id: string; readonly expanded: ExpandedInstances } | undefined
    let ended: (Paused & { readonly expanded: ExpandedInstances }) | undefined
    return {
      by(known) {
        if (known.size > 0 && last?.id === idOf(known)) return last.expanded
        return ended?.expanded ?? unseen
      },
      async prepare(known) {
        const id = idOf(known)
        if (last?.id === id || (ended !== undefined && clock.monotonicMs() < ended.untilMs)) return
        const placeOf = (index: number) => `expanding ${nameOf(instances, index - 1)}`
        try {
          const budget = { clock, deadlineMs: LIMITS.answerMs, placeOf }
          const { pieces } = await cage.perform({ job: 'late', instances, known }, budget)
          last = { id, expanded: unpackExpanded(pieces) ?? unseen }
          ended = undefined
        } catch (error) {
          if (!(error instanceof JobEnded)) throw error
          const problems = [...unseen.revision.problems, problemOf(instances, error)]
          ended = {
            ...pausedAfter(ended, error.message, clock.monotonicMs()),
            expanded: { ...unseen, revision: { ...unseen.revision, problems } },
          }
        }
      },
    }
  }
}

function problemOf({ instances, commit }: LateInstances, { index, message }: JobEnded): Problem {
  const place = instances[index - 1] ?? instances[0]
  return {
    code: 'too-costly',
    origin:
      place === undefined
        ? { file: '.', line: 1, column: 1 }
        : originOf({ ...NOT_JUDGED, ...place }, { file: place.file, ...defined({ commit }) }),
    message: `${message}: croft tries again later`,
    severity: 'error',
  }
}

const NOT_JUDGED = { outcome: 'ignored', problems: [], findings: [], apiVersion: '', kindName: '' } as const

function nameOf({ instances }: LateInstances, index: number): string {
  const { value } = instances[index] ?? {}
  const { name } = (value?.metadata ?? {}) as { readonly name?: unknown }
  return value === undefined ? 'it' : `${String(value.kind)}/${String(name)}`
}

function idOf(known: KnownObjects): string {
  return createHash('sha256')
    .update(JSON.stringify([...known]))
    .digest('base64')
}
