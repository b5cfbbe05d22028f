import { BuildFailed, type BuiltImage, buildImage } from '../../../images/build.ts'
import { distributeImage } from '../../../images/distribute.ts'
import type { Shell } from '../../../lib/shell.ts'
import type { SshTarget } from '../../../model/ssh-target.ts'
import { closing } from '../../closing.ts'
import { CliError, EXIT, type ExitCode } from '../../exit.ts'
import { clean } from '../../render/clean.ts'
import type { Runtime } from '../../runtime.ts'
import { type NamedImage, shellsOf } from './find.ts'

/** Makes an image, or finds it made, and brings it to every host that needs it. */
export async function build(runtime: Runtime, image: NamedImage): Promise<ExitCode> {
  const open = await shellsOf(runtime, image)
  await using builder = closing(open(image.builder))
  try {
    await must(builder.it, ['mkdir', '-p', image.plan.output.replace(/\/[^/]+$/, '')], runtime.signal)
    const built = await buildImage(image.plan, builder.it, {
      signal: runtime.signal,
      onStep: (summary, at, count) => runtime.err.write(`${at}/${count} ${clean(summary)}\n`),
    })
    report(runtime, image, built)
    await distribute(runtime, image, built, builder.it, open)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error
    for (const { rule, path, why } of error.residues) runtime.err.write(`${rule}: ${clean(path)}: ${why}\n`)
    throw new CliError(`${clean(error.message)}. Nothing was brought to any host.`)
  }
}

function report(runtime: Runtime, { declaration, builder }: NamedImage, built: BuiltImage): void {
  const size = `${Math.ceil(built.bytes / 1024 / 1024)} MiB`
  runtime.out.write(
    `${built.path} on ${builder.name}: ${size}${built.reused ? ', made before from the same inputs' : ''}\n`,
  )
  runtime.out.write(`sha256:${built.sha256}\n`)
  for (const difference of built.differences) runtime.out.write(`Another build may differ: ${difference}\n`)
  const declared = declaration.spec.checksum
  if (declared !== undefined && declared !== `sha256:${built.sha256}`)
    throw new CliError(
      `Image ${declaration.name} is declared as ${declared}. Write the new checksum into Git if you mean this one.`,
    )
}

async function distribute(
  runtime: Runtime,
  { declaration, loaded }: NamedImage,
  { path, sha256, bytes }: BuiltImage,
  from: Shell,
  open: (target: SshTarget) => Shell,
): Promise<void> {
  const copies = loaded.estate.resources.filter(({ key }) => key.startsWith(`${declaration.key}@`))
  for (const { desired, connection: name } of copies) {
    const connection = loaded.estate.connections.find((one) => one.name === name)
    if (desired.type !== 'file' || connection?.ssh === undefined) continue
    await using to = closing(open(connection.ssh))
    const { storage, fileName, host } = desired.file
    const uri = connection.endpoint.replace(/^([a-z]+)(?:\+[a-z]+)?:\/\/[^/]*/, '$1://')
    const came = await distributeImage({
      from,
      to: to.it,
      path,
      sha256,
      bytes,
      uri,
      pool: storage,
      fileName,
      signal: runtime.signal,
    })
    runtime.out.write(`${host}: ${storage}:${fileName} ${came === 'there' ? 'was there' : 'copied'}\n`)
  }
}

async function must(shell: Shell, argv: readonly string[], signal: AbortSignal): Promise<void> {
  const ran = await shell.run(argv, { signal })
  if (ran.code !== 0) throw new BuildFailed(`${argv.join(' ')} failed: ${ran.stderr}`)
}
