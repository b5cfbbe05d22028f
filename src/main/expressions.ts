import { systemClock } from '../lib/clock.ts'
import type { Expressions } from '../model/expressions.ts'
import type { Composer } from '../source/compose/in-cluster.ts'

let caged: Promise<Expressions> | undefined

/** Shares one process among the expressions of all sources. It is loaded and started with the first one. */
export const cagedExpressions: Expressions = {
  async answers(questions) {
    caged ??= import('../source/apart/expressions.ts').then(({ createCagedExpressions }) =>
      createCagedExpressions({ clock: systemClock }),
    )
    return (await caged).answers(questions)
  },
}

let composer: Promise<Composer> | undefined
const composing = () => {
  composer ??= import('../source/apart/composer.ts').then(({ createCagedComposer }) =>
    createCagedComposer({ clock: systemClock }),
  )
  return composer
}

/** Composes for the operator, in the same process. */
export const cagedComposer: Composer = {
  define: async (definitions) => (await composing()).define(definitions),
  ask: async (definitions, question) => (await composing()).ask(definitions, question),
}
