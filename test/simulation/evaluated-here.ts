import { holds } from '../../src/lib/cel.ts'
import type { Expressions } from '../../src/model/expressions.ts'

/** Evaluates in this process, at once: tests have only expressions of their own. */
export const evaluatedHere: Expressions = {
  answers: async (questions) => questions.map(({ expression, object, name }) => holds(expression, object, name)),
}
