import { LIMITS } from '../lib/limits.ts'

/** Thrown if the expansion of the input exceeds the limits. */
export class BudgetSpent extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BudgetSpent'
  }
}

export interface BudgetLimits {
  readonly documents: number
  readonly nodes: number
  readonly matches: number
  readonly bytes: number
}

/**
 * Limits what the kustomizations of one tree may make. Patches can double their target and overlays can nest, so a few
 * kilobytes could become gigabytes. Throws BudgetSpent at the limit, and on every call after that.
 */
export interface Budget {
  documents(count: number): void
  nodes(tree: unknown, times?: number): void
  /** Counts the output of generators. */
  bytes(count: number): void
  /** Counts one comparison of an object with a patch. */
  match(): void
}

export function createBudget(limits: BudgetLimits = LIMITS.building): Budget {
  const left = { ...limits }
  const take = (what: keyof BudgetLimits, count: number, words: string) => {
    left[what] -= count
    if (left[what] < 0) throw new BudgetSpent(`what the kustomizations make has more than ${limits[what]} ${words}`)
  }
  return {
    documents: (count) => take('documents', count, 'documents'),
    nodes: (tree, times = 1) => take('nodes', times * nodesIn(tree, left.nodes), 'values'),
    bytes: (count) => take('bytes', count, 'bytes in generated objects'),
    match: () => take('matches', 1, 'comparisons of an object with a patch'),
  }
}

/** Counts the values of a tree, up to `most`: a tree that shares its parts can be larger than memory. */
export function nodesIn(tree: unknown, most: number): number {
  let count = 0
  const stack: unknown[] = [tree]
  while (stack.length > 0 && count <= most) {
    const one = stack.pop()
    count++
    if (one !== null && typeof one === 'object') for (const inner of Object.values(one)) stack.push(inner)
  }
  return count
}
