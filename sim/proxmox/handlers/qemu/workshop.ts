import type { Work } from '../../../world/tasks.ts'
import type { Host, World } from '../../../world/types.ts'

/** Where disks are made: for which guest, by which task, and what was made so far, to be taken back on failure. */
export interface Workshop {
  readonly world: World
  readonly host: Host
  readonly vmid: number
  readonly work: Pick<Work, 'log' | 'pass'> & Partial<Work>
  readonly made: string[]
}
