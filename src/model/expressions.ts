/** One expression of a declaration, and what it asks about. */
export interface ExpressionQuestion {
  readonly expression: string
  /** The name that the expression uses: `self`, `object`. */
  readonly name: string
  readonly object: Readonly<Record<string, unknown>>
}

/** Whether it holds. A text says why nobody can tell. */
export type ExpressionAnswer = boolean | string

/** Evaluates expressions of declarations where they can be ended. Rejects only when nobody waits any more. */
export interface Expressions {
  answers(questions: readonly ExpressionQuestion[]): Promise<readonly ExpressionAnswer[]>
}
