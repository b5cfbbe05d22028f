import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Work on many machines leaves a large heap behind, which Node keeps for as long as nothing presses it. Whoever leaves
 * croft running for months would rather have the memory. To give back all of it costs as much as many passes: that is for
 * the end of work, and never for an idle process.
 */
export function giveMemoryBack(how: 'all' | 'some'): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return
  collect({ type: 'major', execution: 'sync', ...(how === 'all' ? { flavor: 'last-resort' } : {}) })
}
