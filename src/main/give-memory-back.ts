import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Work on many machines leaves a large heap behind, which Node keeps for as long as nothing presses it. Whoever leaves
 * croft running for months would rather have the memory. The larger the heap, the more this costs.
 */
export function giveMemoryBack(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
