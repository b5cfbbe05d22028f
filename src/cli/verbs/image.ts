import { UsageError } from '../exit.ts'
import type { Verb } from '../verb.ts'
import { build } from './image/build.ts'
import { imageNamed } from './image/find.ts'
import { showPlan } from './image/plan.ts'
import { verify } from './image/verify.ts'

/** Images that are built: how, and whether they are clean. */
export const run: Verb = async (runtime, [what = '', name = ''], options) => {
  const image = await imageNamed(runtime, name, options)
  switch (what) {
    case 'build':
      return build(runtime, image)
    case 'verify':
      return verify(runtime, image)
    case 'plan':
      return showPlan(runtime, image, options)
    default:
      throw new UsageError(`There is no croft image ${what}. Use build, verify or plan.`)
  }
}
