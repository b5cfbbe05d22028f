import { BuildFailed, verifyImage } from '../../images/build.ts'
import { CLEAN_RULES } from '../../images/cleanliness.ts'
import { closing } from '../closing.ts'
import { CliError, EXIT, type ExitCode, UsageError } from '../exit.ts'
import { writeData } from '../output.ts'
import { clean } from '../render/clean.ts'
import { API_VERSION } from '../render/plan-json.ts'
import type { Runtime } from '../runtime.ts'
import type { Options, Verb } from '../verb.ts'
import { build } from './image/build.ts'
import { imageNamed, type NamedImage, shellsOf } from './image/find.ts'

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

/** Looks into the image that was built. Exit 1 when anything in it tells of an earlier boot. */
async function verify(runtime: Runtime, image: NamedImage): Promise<ExitCode> {
  const open = await shellsOf(runtime, image)
  await using builder = closing(open(image.builder))
  try {
    const residues = await verifyImage(image.plan.output, builder.it, runtime.signal)
    for (const { rule, path, why } of residues) runtime.out.write(`${rule}: ${clean(path)}: ${why}\n`)
    if (residues.length === 0) runtime.out.write(`Clean: ${CLEAN_RULES.join(', ')}.\n`)
    return residues.length === 0 ? EXIT.ok : EXIT.failed
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error
    throw new CliError(`${clean(error.message)}. Build it first: croft image build ${image.declaration.name}.`)
  }
}

/** Everything that a build would run, without running it. */
async function showPlan(runtime: Runtime, { plan, builder }: NamedImage, options: Options): Promise<ExitCode> {
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
  if (!(await writeData(runtime, options.output, data))) {
    for (const { summary, argv } of steps) runtime.out.write(`${clean(summary)}\n    ${clean(argv.join(' '))}\n`)
    for (const difference of differences) runtime.out.write(`Another build may differ: ${difference}\n`)
  }
  return EXIT.ok
}
