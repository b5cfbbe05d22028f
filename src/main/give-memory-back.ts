import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Returns free heap memory to the system. Work on many machines leaves a large heap, which Node keeps until memory is
 * short; a process that runs for months should not. The larger the heap, the more this costs.
 */
export function giveMemoryBack(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

let keptBytes = 0

/** Frees memory in a process with frequent small work: a collection blocks it for as long as many changes take. */
export function giveGrownMemoryBack(): void {
  if (!isWorthCollecting(process.memoryUsage.rss(), keptBytes)) return
  giveMemoryBack()
  keptBytes = process.memoryUsage.rss()
}

/** Reports whether it has grown by a tenth since the last collection. Pure. */
export function isWorthCollecting(bytes: number, keptBytes: number): boolean {
  return bytes > keptBytes * 1.1
}
