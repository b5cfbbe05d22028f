import { systemClock } from '../lib/clock.ts'
import type { Expressions } from '../model/expressions.ts'

let caged: Promise<Expressions> | undefined

/** One process evaluates the expressions of all sources. It is loaded and started with the first of them. */
export const cagedExpressions: Expressions = {
  async answers(questions) {
    caged ??= import('../source/apart/expressions.ts').then(({ createCagedExpressions }) =>
      createCagedExpressions({ clock: systemClock }),
    )
    return (await caged).answers(questions)
  },
}
