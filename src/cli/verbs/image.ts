import { randomBytes } from 'node:crypto'
import { BuildFailed, type BuiltImage, buildImage } from '../../images/build.ts'
import { distributeImage } from '../../images/distribute.ts'
import type { Shell } from '../../lib/shell.ts'
import { volumeId } from '../../model/file.ts'
import type { SshTarget } from '../../model/secret.ts'
import { closing } from '../load.ts'
import { writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { clean } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError, type Verb } from '../verb.ts'
import { imageNamed, type NamedImage, shellsOf } from './image/find.ts'
import { uploadImage } from './image/upload.ts'
import { verify } from './image/verify.ts'

/** Images that are built: how, and whether they are clean. */
export const run: Verb = async (runtime, [what = '', name = ''], options) => {
  const image = await imageNamed(runtime, name, options)
  switch (what) {
    case 'build':
      return build(runtime, image)
    case 'verify':
      return verify(runtime, image, options)
    case 'plan':
      return showPlan(runtime, image, options)
    default:
      throw new UsageError(`There is no croft image ${what}. Use build, verify or plan.`)
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

/** Makes an image, or finds it made, and brings it to every host that needs it. */
async function build(runtime: Runtime, image: NamedImage): Promise<ExitCode> {
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
  { declaration, loaded, real }: NamedImage,
  { path, sha256, bytes }: BuiltImage,
  from: Shell,
  open: (target: SshTarget) => Shell,
): Promise<void> {
  const { drivers, deps } = await runtime.openDrivers({ directory: real })
  const copies = loaded.estate.resources.filter(({ key }) => key.startsWith(`${declaration.key}@`))
  for (const resource of copies) {
    const { desired, connection: name } = resource
    const connection = loaded.estate.connections.find((one) => one.name === name)
    if (desired.type !== 'file' || connection === undefined) continue
    const driver = drivers.find((one) => one.name === connection.driver)
    if (connection.ssh === undefined && driver !== undefined) {
      await using session = closing(driver.connect(connection, deps))
      const built = { path, sha256, bytes }
      const list = driver.rules.listOf(resource) ?? ''
      const came = await uploadImage({ file: desired.file, list }, built, from, session.it, runtime)
      runtime.out.write(
        `${desired.file.host}: ${volumeId(desired.file)} ${came === 'there' ? 'was there' : 'uploaded'}\n`,
      )
      continue
    }
    if (connection.ssh === undefined || driver === undefined) continue
    await using session = closing(driver.connect(connection, deps))
    const list = driver.rules.listOf(resource) ?? ''
    const keptBy = async () => {
      const there = (await session.it.list(list, runtime.signal)).find(
        ({ externalId }) => externalId === volumeId(desired.file),
      )
      const obstacle = there === undefined ? undefined : driver.rules.undeletable(there)
      return obstacle === undefined ? undefined : `${obstacle.message}; ${obstacle.allow}`
    }
    await using to = closing(open(connection.ssh))
    const { storage, fileName, host } = desired.file
    const uri = connection.endpoint.replace(/^([a-z]+)(?:\+[a-z]+)?:\/\/[^/]*/, '$1://')
    const came = await distributeImage({
      run: randomBytes(6).toString('hex'),
      from,
      to: to.it,
      path,
      sha256,
      bytes,
      uri,
      pool: storage,
      fileName,
      signal: runtime.signal,
      keptBy,
    })
    runtime.out.write(`${host}: ${storage}:${fileName} ${came === 'there' ? 'was there' : 'copied'}\n`)
  }
}

async function must(shell: Shell, argv: readonly string[], signal: AbortSignal): Promise<void> {
  const ran = await shell.run(argv, { signal })
  if (ran.code !== 0) throw new BuildFailed(`${argv.join(' ')} failed: ${ran.stderr}`)
}
