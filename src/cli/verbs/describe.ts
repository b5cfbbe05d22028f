import { realDirectory } from '../../state/state-file.ts'
import { existingState, exitOfLoaded } from '../load.ts'
import { styleOf, writeData } from '../output.ts'
import { renderDescription } from '../render/describe.ts'
import { eventJson } from '../render/events.ts'
import { resourceJson } from '../render/resources.ts'
import { rowsOf } from '../rows.ts'
import { resolveKey } from '../select.ts'
import { CliError, type Verb } from '../verb.ts'

const EVENTS_SHOWN = 30

export const run: Verb = async (runtime, [kind = '', name], options) => {
  const directory = String(options.dir)
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  await using store = await existingState(runtime, real, options)
  const rows = rowsOf(loaded, await store.it.records())
  const known = rows.map(({ key }) => key)
  const key = resolveKey(await runtime.kinds(), known, kind, name)
  const row = rows.find((one) => one.key === key)
  if (row === undefined) {
    throw new CliError(
      `There is no ${key} in ${directory}, declared or remembered. Run croft get to see what there is.`,
    )
  }
  const events = (await store.it.events({ key })).slice(-EVENTS_SHOWN)
  const needs = loaded.estate.resources.find((resource) => resource.key === key)?.needs ?? []
  const code = exitOfLoaded(runtime, loaded, directory)
  const data = { ...(resourceJson(row) as object), needs, events: events.map(eventJson) }
  if (await writeData(runtime, options.output, data)) return code
  const context = { needs, events, nowMs: runtime.clock.now() }
  runtime.out.write(renderDescription(row, context, styleOf(runtime, runtime.out)))
  return code
}
