import { BuildFailed, verifyImage } from '../../../images/build.ts'
import { CLEAN_RULES } from '../../../images/cleanliness.ts'
import { closing } from '../../closing.ts'
import { CliError, EXIT, type ExitCode } from '../../exit.ts'
import { clean } from '../../render/clean.ts'
import type { Runtime } from '../../runtime.ts'
import { type NamedImage, shellsOf } from './find.ts'

/** Looks into the image that was built. Exit 1 when anything in it tells of an earlier boot. */
export async function verify(runtime: Runtime, image: NamedImage): Promise<ExitCode> {
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
