/** One expression of a declaration, and its subject. */
export interface ExpressionQuestion {
  readonly expression: string
  /** The name that the expression uses: `self`, `object`. */
  readonly name: string
  readonly object: Readonly<Record<string, unknown>>
}

/** Whether it holds, or a text that says why this is unknown. */
export type ExpressionAnswer = boolean | string

/** Evaluates expressions of declarations in a process that can be ended. A failure becomes the answer's text. */
export interface Expressions {
  answers(questions: readonly ExpressionQuestion[]): Promise<readonly ExpressionAnswer[]>
}
