import path from 'node:path'
import { newSecrets } from '../../state/secret-key.ts'
import { stateFromBefore } from '../../state/state-before.ts'
import { openExisting, readOnce, realDirectory } from '../../state/state-file.ts'
import { asKnown } from '../estate-files.ts'
import { closing, loadOrStop, stateOf } from '../load.ts'
import { note, styleOf, writeData } from '../output.ts'
import { nextLine, renderPlan } from '../render/plan.ts'
import { planJson } from '../render/plan-json.ts'
import { planExit } from '../render/plan-summary.ts'
import { savePlan } from '../saved-plan.ts'
import { narrowed, targetsIn } from '../targets.ts'
import { stopIfInterrupted, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [directory = '.'], options) => {
  if (options.base !== undefined || options.head !== undefined) {
    const { compare } = await import('../compare.ts')
    return compare(runtime, directory, options)
  }
  const loaded = await loadOrStop(runtime, directory, { keepGoing: options.keepGoing === true, counted: true })
  const file = stateOf(runtime, realDirectory(runtime, directory), options)
  await using store = closing(readOnce(await openExisting(runtime, file)))
  await using engine = closing(
    await runtime.openEngine(store.it, {
      directory: realDirectory(runtime, directory),
      state: file,
      charts: 'from-anywhere',
    }),
  )
  if (runtime.err.isTty) note(runtime, 'Looking at what is there…')
  const real = realDirectory(runtime, directory)
  const known = asKnown(loaded, await store.it.records(), (text) => note(runtime, text))
  for (const line of await stateFromBefore(runtime, file, known)) note(runtime, line)
  const { estate } = await newSecrets(runtime, real, known, store.it, file)
  const whole = await engine.it.plan(estate, runtime.signal)
  stopIfInterrupted(runtime.signal)
  const targets = (options.target ?? []) as readonly string[]
  const plan = narrowed(whole, targetsIn(estate, whole, await runtime.kinds(), targets))
  const { output, out } = options
  if (typeof out === 'string') {
    savePlan(path.resolve(runtime.cwd, out), real, plan, loaded.estate.revision, targets)
    note(runtime, `Saved in ${out}. Perform exactly this plan with: croft apply ${out}`)
  }
  // Calls are made only on request: for a thousand machines they are long.
  const forPeople = output === undefined || output === 'wide'
  if (!forPeople) await writeData(runtime, output, planJson(plan, loaded.estate.revision))
  else {
    const calls = options.calls === true || output === 'wide'
    runtime.out.write(renderPlan(plan, styleOf(runtime, runtime.out), { calls, directory }))
    if (typeof out !== 'string') runtime.out.write(nextLine(plan, { directory }))
  }
  return planExit(plan)
}
