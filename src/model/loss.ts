declare const passed: unique symbol

/**
 * What a step destroys, as text: printed with the step, and judged by the guards. Only `src/model/destruction.ts` makes
 * one, since no other module can use the symbol.
 */
export interface Loss {
  readonly [passed]: true
  readonly thing: string
  /** The data that is lost with it. */
  readonly takes: readonly string[]
  /** Why it may go: see `Because` in destruction.ts. */
  readonly because: 'removed' | 'changed' | 'named' | 'ordered' | 'own-attempt'
}
