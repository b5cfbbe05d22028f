import type { TreeMap } from '../model/seed.ts'
import { networkShape } from './network-shape.ts'
import { misfits, type SeedProblem } from './shape.ts'
import { userDataShape } from './user-data-shape.ts'

/** What cloud-init would refuse, misread or pass over in silence, found before anything is sent. */
export function checkUserData(userData: TreeMap): readonly SeedProblem[] {
  return misfits(userData, userDataShape)
}

export function checkNetworkConfig(config: TreeMap): readonly SeedProblem[] {
  const problems = misfits(config, networkShape)
  if (config.version === 2 || problems.some(({ path }) => path[0] === 'version')) return problems
  return [...problems, { path: ['version'], message: 'version is not 2' }]
}
