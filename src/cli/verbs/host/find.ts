import type { Lookup } from '../../../kinds/kind.ts'
import type { HostSpec } from '../../../kinds/schemas/host.ts'
import { sshTargetOf } from '../../../kinds/ssh-target.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import type { Declaration } from '../../../model/declaration.ts'
import type { SshTarget } from '../../../model/secret.ts'
import { realDirectory } from '../../../state/state-file.ts'
import { closing, ownState } from '../../load.ts'
import type { LoadedEstate, Runtime } from '../../runtime.ts'
import { saidYes } from '../../said-yes.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError } from '../../verb.ts'
import { noteOperation } from '../machine/find.ts'

export interface NamedHost {
  readonly declaration: Declaration<HostSpec>
  readonly loaded: LoadedEstate
  readonly real: string
}

/** The Host that a person means. */
export async function hostNamed(runtime: Runtime, name: string, options: Options): Promise<NamedHost> {
  const real = realDirectory(runtime, textOf(options.dir))
  const loaded = await runtime.load(real)
  const hosts = loaded.declarations.filter(({ kind }) => kind === 'Host')
  const found = hosts.find((one) => one.name === name)
  if (found !== undefined) return { declaration: found as Declaration<HostSpec>, loaded, real }
  throw new UsageError(
    hosts.length === 0
      ? 'No Host is declared here. Name the directory with --dir.'
      : `There is no Host ${name}. Declared are ${hosts
          .map((one) => one.name)
          .sort()
          .join(', ')}.`,
  )
}

export function targetOf({ declaration, loaded }: NamedHost): SshTarget {
  const lookup: Lookup = {
    all: (kind) => loaded.declarations.filter((one) => one.kind === kind),
    declaration: (kind, name) => loaded.declarations.find((one) => one.kind === kind && one.name === name),
  }
  const target = sshTargetOf(declaration, lookup)
  if (!('problems' in target)) return target
  const [first] = target.problems
  throw new CliError(
    `${sentence(first?.message ?? 'it cannot be reached')} ${sentence(first?.hint ?? 'correct its Host')}`,
  )
}

/** Turns a hint into a sentence. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

export type HostDeed = (shell: Shell) => Promise<{ readonly code: ExitCode; readonly message: string }>

/** Runs an action on a host, locally or over SSH, and records it in the journal. */
export async function onHost(
  runtime: Runtime,
  host: NamedHost,
  what: string,
  deed: HostDeed,
  options: Options,
): Promise<ExitCode> {
  const target = targetOf(host)
  const { deps } = await runtime.openDrivers({ directory: host.real })
  if (deps.openShell === undefined) throw new CliError('No shell can be opened here.')
  await using store = await ownState(runtime, host.real, options)
  await using shell = closing(deps.openShell(target))
  const noted = (outcome: 'done' | 'refused', message: string) =>
    noteOperation(runtime, store.it, host.declaration.key, what, outcome, message)
  try {
    const { code, message } = await deed(shell.it)
    await noted('done', message)
    return code
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
    await noted('refused', error.message)
    throw new CliError(
      error.message,
      error.code === 'denied' || error.code === 'host-key' ? EXIT.unauthorized : EXIT.failed,
    )
  }
}

/** Returns an option's text; commander passes texts. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Goes on only when a person says yes, here or with --yes. */
export async function confirmed(runtime: Runtime, question: string, options: Options): Promise<void> {
  if (options.yes === true) return
  if (!runtime.interactive) throw new CliError('Nobody can answer here. Say --yes if you mean it.')
  const answer = await runtime.ask(`${question} [y/N] `)
  if (!saidYes(answer)) throw new CliError('Nothing was done. Answer y to go on.')
}
