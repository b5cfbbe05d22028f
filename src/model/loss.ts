declare const passed: unique symbol

/**
 * What a step destroys, as text: printed with the step, and judged by the guards. Only `src/model/destruction.ts` makes one: the
 * symbol is exported to nobody.
 */
export interface Loss {
  readonly [passed]: true
  readonly thing: string
  /** What goes with it and holds data. */
  readonly takes: readonly string[]
  /** Why it may go: see `Because` in destruction.ts. */
  readonly because: 'removed' | 'changed' | 'named' | 'ordered' | 'own-attempt'
}
