import { statSync } from 'node:fs'
import path from 'node:path'
import type { Kind } from '../../kinds/kind.ts'
import { realDirectory } from '../../state/state-file.ts'
import { existingState, exitOfLoaded, inWords, nothingIn } from '../load.ts'
import { note, styleOf, writeData } from '../output.ts'
import { renderResources, resourceJson, resourceListJson } from '../render/resources.ts'
import { rowsOf } from '../rows.ts'
import type { Runtime } from '../runtime.ts'
import { kindNamed, matches, nothingCalled, parseSelection } from '../select.ts'
import { CliError, type ExitCode, type Options, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, words, options) => {
  if (options.watch !== true) return show(runtime, words, options)
  let before = ''
  while (!runtime.signal.aborted) {
    const lines: string[] = []
    await show({ ...runtime, out: { ...runtime.out, write: (text) => lines.push(text) } }, words, options)
    const text = lines.join('')
    // Print the whole table once, then only changed rows, for reading line by line.
    const known = new Set(before.split('\n').map(withoutAge))
    runtime.out.write(
      before === ''
        ? text
        : text
            .split('\n')
            .filter((line) => !known.has(withoutAge(line)))
            .map((line) => `${line}\n`)
            .join(''),
    )
    before = text
    await runtime.clock.sleep(WATCH_MS, runtime.signal)
  }
  return 'stopped'
}

const WATCH_MS = 2000

/** Ignore the age: its change alone is no news. */
function withoutAge(line: string): string {
  return line.replace(/\s+\S+\s*$/, '')
}

async function show(runtime: Runtime, words: readonly string[], options: Options): Promise<ExitCode> {
  const kinds = await runtime.kinds()
  const place = placeAmong(runtime, kinds, words, options)
  const [kind, name] = place === undefined ? words : words.slice(1)
  const selection = parseSelection(kinds, kind, name, options.selector as string | undefined)
  const directory = place ?? String(options.dir)
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  const code = exitOfLoaded(runtime, loaded, directory)
  await using store = await existingState(runtime, real, options)
  const records = await store.it.records()
  const all = rowsOf(loaded, records)
  // Without a kind, hide connections and facts: they have no state.
  const chosen = selection.kind !== undefined || selection.name !== undefined
  const rows = all.filter((row) => (chosen || !row.passive) && matches(row, selection))
  if (rows.length === 0) {
    if (selection.kind === undefined && selection.name !== undefined)
      throw new CliError(nothingCalled(kinds, selection.name))
    if (selection.name !== undefined) {
      throw new CliError(
        `There is no ${selection.kind}/${selection.name} in ${inWords(directory, real)}. Run croft get ${kind} to see what there is.`,
      )
    }
    if (!/^(?:json|yaml)/.test(String(options.output))) {
      note(
        runtime,
        loaded.files === 0 ? nothingIn(inWords(directory, real)) : `No resources found in ${inWords(directory, real)}.`,
      )
      return code
    }
  }
  const single = selection.name !== undefined && rows.length === 1 ? rows[0] : undefined
  const data = single === undefined ? resourceListJson(rows) : resourceJson(single)
  if (await writeData(runtime, options.output, data)) return code
  if (options.output === 'name') for (const row of rows) runtime.out.write(`${row.key}\n`)
  else
    runtime.out.write(
      renderResources(rows, styleOf(runtime, runtime.out), {
        wide: options.output === 'wide',
        headers: options.headers !== false,
        qualified: selection.kind === undefined,
        nowMs: runtime.clock.now(),
      }),
    )
  // On another computer, or with another HOME, `NotYetApplied` may be wrong.
  if (records.length === 0 && options.output !== 'name' && rows.some(({ passive }) => !passive))
    note(
      runtime,
      `croft has not applied this directory from here, so it knows nothing of what exists. Run croft plan ${directory} to look.`,
    )
  return code
}

/**
 * Finds the directory or file among the words: an existing path takes precedence over a kind of that name, as in `croft
 * get croft.yaml`. So does plain `infra` if it is a directory and no kind.
 */
function placeAmong(
  runtime: Runtime,
  kinds: readonly Kind[],
  [first]: readonly string[],
  { dir }: Options,
): string | undefined {
  if (first === undefined || dir !== '.') return undefined
  const found = statSync(path.resolve(runtime.cwd, first), { throwIfNoEntry: false })
  if (found === undefined) return undefined
  const isPlace = /[./]/.test(first) || (found.isDirectory() && kindNamed(kinds, first) === undefined)
  return isPlace ? first : undefined
}
