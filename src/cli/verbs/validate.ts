import { EXIT } from '../exit.ts'
import { nothingIn } from '../load.ts'
import { note, styleOf, writeJson, writeYaml } from '../output.ts'
import type { Verb } from '../program.ts'
import { renderLeftAlone } from '../render/left-alone.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { countProblems, countValid, hasErrors, many, problemsJson, renderProblems } from '../render/problems.ts'
import { realDirectory, shownBelow } from '../state.ts'

export const run: Verb = async (runtime, [directory = '.'], { output }) => {
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  const { problems, revision } = loaded.estate
  const valid = !hasErrors(problems)
  if (output === 'json' || output === 'yaml') {
    const report = {
      apiVersion: API_VERSION,
      kind: 'Validation',
      revision,
      valid,
      files: loaded.files,
      declarations: loaded.declarations.length,
      ignored: loaded.ignored,
      leftAlone: loaded.leftAlone ?? [],
      problems: problemsJson(problems),
    }
    if (output === 'json') writeJson(runtime.out, report)
    else await writeYaml(runtime.out, report)
    return valid ? EXIT.ok : EXIT.failed
  }
  if (problems.length > 0)
    runtime.err.write(`${renderProblems(problems, styleOf(runtime, runtime.err), shownBelow(directory, real))}\n`)
  if (loaded.files === 0) note(runtime, nothingIn(directory))
  const style = styleOf(runtime, runtime.out)
  const counted = `${many(loaded.declarations.length, 'declaration')} in ${many(loaded.files, 'file')}`
  const others = loaded.ignored === 0 ? '' : `, ${many(loaded.ignored, 'other document')} left alone`
  if (valid) {
    const warned = problems.length === 0 ? '' : ` (${countProblems(problems)})`
    const left = renderLeftAlone(loaded.leftAlone ?? [])
    runtime.out.write(
      `${style.paint('green', '✔')} ${counted} are valid${others}${warned}${left.length === 0 ? '.' : ':'}\n`,
    )
    for (const line of left) runtime.out.write(`${line}\n`)
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
