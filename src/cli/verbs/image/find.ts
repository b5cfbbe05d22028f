import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { buildPlan } from '../../../images/build-plan.ts'
import type { BuildPlan } from '../../../images/build-spec.ts'
import { buildSpecOf } from '../../../images/spec-of.ts'
import type { Lookup } from '../../../kinds/kind.ts'
import type { ImageSpec } from '../../../kinds/schemas/image.ts'
import { sshTargetOf } from '../../../kinds/ssh-target.ts'
import type { Shell } from '../../../lib/shell.ts'
import type { Declaration } from '../../../model/declaration.ts'
import type { SshTarget } from '../../../model/secret.ts'
import { cacheDirectory, realDirectory } from '../../../state/state-file.ts'
import type { LoadedEstate, Runtime } from '../../runtime.ts'
import { CliError, type Options, UsageError } from '../../verb.ts'

export interface NamedImage {
  readonly declaration: Declaration<ImageSpec>
  readonly loaded: LoadedEstate
  readonly real: string
  readonly plan: BuildPlan
  /** The computer that builds it. */
  readonly builder: SshTarget
}

/** The cache of images on a remote computer, the same for all users. */
const REMOTE_DIRECTORY = '/var/cache/croft/images'

/** The built image that a person means. */
export async function imageNamed(runtime: Runtime, name: string, options: Options): Promise<NamedImage> {
  const real = realDirectory(runtime, String(options.dir))
  const loaded = await runtime.load(real)
  const all = loaded.declarations.filter(({ kind }) => kind === 'Image') as readonly Declaration<ImageSpec>[]
  const declaration = all.find((one) => one.name === name)
  if (declaration === undefined) {
    const names = all.map((one) => one.name).sort()
    throw new UsageError(
      names.length === 0
        ? 'No Image is declared here. Name the directory with --dir.'
        : `There is no Image ${name}. Declared are ${names.join(', ')}.`,
    )
  }
  const spec = buildSpecOf(declaration)
  if (spec === undefined)
    throw new UsageError(`Image ${name} is downloaded and not built. Its hosts fetch it with croft apply.`)
  const builder = builderOf(declaration, loaded)
  const local = cacheDirectory(runtime.env)
  const directory = builder.local === true && local !== undefined ? path.join(local, 'images') : REMOTE_DIRECTORY
  return { declaration, loaded, real, plan: buildPlan(spec, directory, randomBytes(6).toString('hex')), builder }
}

function builderOf(declaration: Declaration<ImageSpec>, { declarations }: LoadedEstate): SshTarget {
  const name = declaration.spec.build?.host
  if (name === undefined)
    return { name: 'here', address: 'localhost', port: 22, user: 'root', hostKeys: [], sudo: 'none', local: true }
  const lookup: Lookup = {
    all: (kind) => declarations.filter((one) => one.kind === kind),
    declaration: (kind, wanted) => declarations.find((one) => one.kind === kind && one.name === wanted),
  }
  const host = lookup.declaration('Host', name)
  if (host === undefined) throw new CliError(`There is no Host ${name}, which build.host names. Declare it.`)
  const target = sshTargetOf(host, lookup)
  if (!('problems' in target)) return target
  throw new CliError(`${target.problems[0]?.message ?? `${name} cannot be reached`}. Correct Host ${name}.`)
}

export async function shellsOf(runtime: Runtime, { real }: NamedImage): Promise<(target: SshTarget) => Shell> {
  const { deps } = await runtime.openDrivers({ directory: real })
  const { openShell } = deps
  if (openShell === undefined) throw new CliError('No shell can be opened here. Run croft where it is installed.')
  return openShell
}
