import { EXIT, type ExitCode } from '../../exit.ts'
import { writeJson, writeYaml } from '../../output.ts'
import { clean } from '../../render/clean.ts'
import { API_VERSION } from '../../render/plan-json.ts'
import type { Runtime } from '../../runtime.ts'
import type { Options } from '../../verb.ts'
import type { NamedImage } from './find.ts'

/** Everything that a build would run, without running it. */
export async function showPlan(runtime: Runtime, { plan, builder }: NamedImage, options: Options): Promise<ExitCode> {
  const { inputs, output, steps, needs, differences } = plan
  const data = {
    apiVersion: API_VERSION,
    kind: 'ImageBuild',
    inputs,
    output,
    host: builder.name,
    needs,
    differences,
    steps: steps.map(({ summary, argv }) => ({ summary, argv })),
  }
  if (options.output === 'json') writeJson(runtime.out, data)
  else if (options.output === 'yaml') await writeYaml(runtime.out, data)
  else {
    for (const { summary, argv } of steps) runtime.out.write(`${clean(summary)}\n    ${clean(argv.join(' '))}\n`)
    for (const difference of differences) runtime.out.write(`Another build may differ: ${difference}\n`)
  }
  return EXIT.ok
}
