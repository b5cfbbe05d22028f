import { EXIT } from '../exit.ts'
import { styleOf, writeJson, writeYaml } from '../output.ts'
import type { Verb } from '../program.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { countProblems, hasErrors, many, problemsJson, renderProblems } from '../render/problems.ts'
import { realDirectory } from '../state.ts'

export const run: Verb = async (runtime, [directory = '.'], { output }) => {
  const loaded = await runtime.load(realDirectory(runtime, directory))
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
      problems: problemsJson(problems),
    }
    if (output === 'json') writeJson(runtime.out, report)
    else await writeYaml(runtime.out, report)
    return valid ? EXIT.ok : EXIT.failed
  }
  if (problems.length > 0) runtime.err.write(`${renderProblems(problems, styleOf(runtime, runtime.err))}\n`)
  const style = styleOf(runtime, runtime.out)
  const counted = `${many(loaded.declarations.length, 'declaration')} in ${many(loaded.files, 'file')}`
  const others = loaded.ignored === 0 ? '' : `, ${many(loaded.ignored, 'other document')} left alone`
  if (valid) {
    const warned = problems.length === 0 ? '' : ` (${countProblems(problems)})`
    runtime.out.write(`${style.paint('green', '✔')} ${counted} are valid${others}${warned}.\n`)
    return EXIT.ok
  }
  runtime.err.write(`${countProblems(problems)}; ${counted} are valid${others}. Correct the places named above.\n`)
  return EXIT.failed
}
