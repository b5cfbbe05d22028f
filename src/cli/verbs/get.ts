import { closing } from '../closing.ts'
import { CliError, EXIT } from '../exit.ts'
import { note, styleOf, writeJson, writeYaml } from '../output.ts'
import type { Verb } from '../program.ts'
import { countProblems, hasErrors } from '../render/problems.ts'
import { renderResources, resourceJson, resourceListJson } from '../render/resources.ts'
import { rowsOf } from '../rows.ts'
import { matches, parseSelection } from '../select.ts'
import { openExisting, realDirectory, stateFile } from '../state.ts'

export const run: Verb = async (runtime, [kind, name], options) => {
  const selection = parseSelection(await runtime.kinds(), kind, name, options.selector as string | undefined)
  const directory = String(options.dir)
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  if (hasErrors(loaded.estate.problems)) {
    note(
      runtime,
      `${countProblems(loaded.estate.problems)} in ${directory}. Run croft validate ${directory} to see them.`,
    )
  }
  await using store = closing(
    await openExisting(runtime, stateFile(runtime.env, real, options.state as string | undefined)),
  )
  const all = rowsOf(loaded, await store.it.records())
  // Without a kind, connections and facts would only fill the table: nothing happens to them.
  const rows = all.filter((row) => (selection.kind !== undefined || !row.passive) && matches(row, selection))
  if (rows.length === 0) {
    if (selection.name !== undefined) {
      throw new CliError(
        `There is no ${selection.kind}/${selection.name} in ${directory}. Run croft get ${kind} to see what there is.`,
      )
    }
    if (options.output !== 'json' && options.output !== 'yaml') {
      note(runtime, `No resources found in ${directory}.`)
      return EXIT.ok
    }
  }
  const single = selection.name !== undefined ? rows[0] : undefined
  const data = single === undefined ? resourceListJson(rows) : resourceJson(single)
  switch (options.output) {
    case 'json':
      writeJson(runtime.out, data)
      break
    case 'yaml':
      await writeYaml(runtime.out, data)
      break
    case 'name':
      for (const row of rows) runtime.out.write(`${row.key}\n`)
      break
    default:
      runtime.out.write(
        renderResources(rows, styleOf(runtime, runtime.out), {
          wide: options.output === 'wide',
          headers: options.headers !== false,
          qualified: selection.kind === undefined,
          nowMs: runtime.clock.now(),
        }),
      )
  }
  return EXIT.ok
}
