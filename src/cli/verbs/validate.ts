import { readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { FORMATS } from '../../source/foreign/registry.ts'
import { realDirectory, shownBelow } from '../../state/state-file.ts'
import { inWords, nothingIn } from '../load.ts'
import { note, styleOf, writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { countProblems, countValid, hasErrors, many, problemsJson, renderProblems } from '../render/problems.ts'
import type { LeftAloneDocument, LoadedEstate } from '../runtime.ts'
import { EXIT, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [place = '.'], { output }) => {
  const alone = manifestAt(path.resolve(runtime.cwd, place))
  const directory = alone === undefined ? place : path.dirname(place)
  const real = realDirectory(runtime, directory)
  const whole = await runtime.load(real)
  const loaded = alone === undefined ? whole : onlyOf(whole, path.relative(real, realpathSync(alone)))
  const { problems, revision } = loaded.estate
  const valid = !hasErrors(problems)
  const report = {
    apiVersion: API_VERSION,
    kind: 'Validation',
    revision,
    valid,
    files: loaded.files,
    declarations: loaded.declarations.length,
    declared: loaded.declarations.map(({ key, apiVersion, kind, name, origin: { file, line } }) => ({
      file,
      line,
      apiVersion,
      kind,
      name,
      key,
    })),
    expanded: loaded.expanded ?? [],
    ignored: loaded.ignored,
    leftAlone: loaded.leftAlone ?? [],
    problems: problemsJson(problems),
  }
  if (await writeData(runtime, output, report)) return valid ? EXIT.ok : EXIT.failed
  if (problems.length > 0)
    runtime.err.write(`${renderProblems(problems, styleOf(runtime, runtime.err), shownBelow(directory, real))}\n`)
  if (loaded.files === 0) note(runtime, nothingIn(inWords(directory, real)))
  const style = styleOf(runtime, runtime.out)
  const counted = `${many(loaded.declarations.length, 'declaration')} in ${many(loaded.files, 'file')}`
  const others = loaded.ignored === 0 ? '' : `, ${many(loaded.ignored, 'other document')} left alone`
  if (valid) {
    const warned = problems.length === 0 ? '' : ` (${countProblems(problems)})`
    const left = renderLeftAlone(loaded.leftAlone ?? [])
    runtime.out.write(
      `${style.paint('green', '✔')} ${counted} ${loaded.declarations.length === 1 ? 'is' : 'are'} valid${others}${warned}${left.length === 0 ? '.' : ':'}\n`,
    )
    for (const line of left) runtime.out.write(`${line}\n`)
    if (loaded.declarations.length === 0)
      for (const line of renderImportable(loaded.leftAlone ?? [], directory)) runtime.out.write(`${line}\n`)
    return EXIT.ok
  }
  const sound = countValid(
    loaded.declarations.map(({ key }) => key),
    problems,
  )
  runtime.err.write(
    `${countProblems(problems)}; ${many(sound, 'declaration')} in ${many(loaded.files, 'file')} ${sound === 1 ? 'is' : 'are'} valid${others}. Correct the places named above.\n`,
  )
  return EXIT.failed
}

/** Reports whether the argument is one manifest. It is read with its directory, so that its references resolve. */
function manifestAt(file: string): string | undefined {
  if (!/\.(?:ya?ml|json)$/.test(file) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const text = readFileSync(file, 'utf8')
  return /^\s*"?apiVersion"?\s*:/m.test(text) && /^\s*"?kind"?\s*:/m.test(text) ? file : undefined
}

/** Keeps the problems of one file. */
function onlyOf(loaded: LoadedEstate, file: string): LoadedEstate {
  const problems = loaded.estate.problems.filter(({ origin }) => origin.file === file)
  const declarations = loaded.declarations.filter(({ origin }) => origin.file === file)
  const here = (all: readonly LeftAloneDocument[] = []) => all.filter((one) => one.file === file)
  const leftAlone = here(loaded.leftAlone)
  const expanded = here(loaded.expanded)
  const estate = { ...loaded.estate, problems }
  return { ...loaded, declarations, files: 1, ignored: leftAlone.length, leftAlone, expanded, estate }
}

/** Names the import command for documents of another tool. */
export function renderImportable(documents: readonly LeftAloneDocument[], directory: string): readonly string[] {
  return FORMATS.flatMap(({ name, groups }) => {
    const { length } = groups === undefined ? [] : documents.filter(({ apiVersion }) => groups.test(apiVersion))
    return length === 0 ? [] : [`${many(length, 'document')} may be read with croft import ${name} ${directory}`]
  })
}

const SHOWN = 12

/** Counts the skipped foreign documents by kind, most frequent first, so that nothing is skipped silently. */
export function renderLeftAlone(documents: readonly LeftAloneDocument[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { apiVersion, kind, note } of documents) {
    const what = kind === '' ? (note ?? 'not a manifest') : `${kind} (${apiVersion})`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  const lines = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([what, n]) => `  ${n} × ${what}`)
  const more = lines.length - SHOWN
  return more > 0 ? [...lines.slice(0, SHOWN), `  and ${many(more, 'more kind')}; -o json lists every document`] : lines
}
