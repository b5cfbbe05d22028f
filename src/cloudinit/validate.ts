import type { TreeMap } from '../model/vm.ts'
import { misfits, type SeedProblem } from './shape.ts'
import { userDataShape } from './user-data-shape.ts'

/** Returns what cloud-init would refuse, misread or silently ignore, before anything is sent. */
export function checkUserData(userData: TreeMap): readonly SeedProblem[] {
  return misfits(userData, userDataShape)
}
