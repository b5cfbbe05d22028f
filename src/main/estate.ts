import type { FollowedRepository, LoadedEstate } from '../cli/runtime.ts'
import { systemClock } from '../lib/clock.ts'
import { EVERYWHERE } from '../lib/egress.ts'
import { CliError } from '../lib/exit.ts'
import type { Problem } from '../model/declaration.ts'
import { changedEstate, type Estate } from '../model/estate.ts'
import type { Revision } from '../source/git/revision.ts'
import { type SourceReader, TooCostly } from '../source/reader.ts'

export async function load(directory: string): Promise<LoadedEstate> {
  const { revisionAt } = await import('./configured-sources.ts')
  return named(async () => linked(await revisionAt(directory)))
}

export async function loadAt(directory: string, ref: string, onto?: string): Promise<LoadedEstate> {
  const [{ readCommit, resolveCommit }, { mergedTree }, { GitFailed, runGit }, reader] = await Promise.all([
    import('../source/git/git.ts'),
    import('../source/git/git-merge.ts'),
    import('../source/git/git-run.ts'),
    commandReader(),
  ])
  const below = (await runGit({ directory, arguments: ['rev-parse', '--show-prefix'] })).toString('utf8').trim()
  const commit = await resolveCommit(directory, ref)
  const at = { reader, ...(below === '' ? {} : { path: below }) }
  if (onto === undefined) return named(async () => linked(await readCommit(directory, commit, at)))
  const merged = await mergedTree(directory, await resolveCommit(directory, onto), commit).catch((error: unknown) => {
    // A shallow clone may lack the merge base: use the head alone.
    if (error instanceof GitFailed) return { tree: commit }
    throw error
  })
  if ('conflicts' in merged) throw new Error(`it conflicts with ${onto} in ${merged.conflicts.slice(0, 5).join(', ')}`)
  return named(async () => linked(await readCommit(directory, merged.tree, at)))
}

/** A tree that is too costly is a mistake in it, and its message names the file. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error
    throw new CliError(
      `${error.message}. Make it smaller, or leave it out with .croftignore; nothing was looked at or done.`,
    )
  }
}

/** Untrusted text is built and evaluated in a process that can be ended, for commands too. */
async function commandReader(): Promise<SourceReader> {
  const { createCommandReader } = await import('../source/apart/command-reader.ts')
  return createCommandReader(systemClock)
}

async function linked(read: Revision): Promise<LoadedEstate> {
  const [{ linkRevision }, { definedKind }] = await Promise.all([
    import('../controller/sources/link-revision.ts'),
    import('../source/compose/defined-kind.ts'),
  ])
  const revision = await fetchedFor(read)
  const strict = linkRevision(revision)
  const further = await furtherOf(revision, strict)
  const estate =
    further.length === 0
      ? strict
      : changedEstate(strict, (one) => ({ ...one, problems: [...one.problems, ...further] }))
  return {
    declarations: revision.declarations,
    estate,
    files: revision.files,
    ignored: revision.ignored.length,
    leftAlone: revision.ignored,
    ...(revision.expanded === undefined ? {} : { expanded: revision.expanded }),
    ...(revision.apis === undefined ? {} : { apis: revision.apis.map(definedKind) }),
  }
}

/** Returns the problems that come to light only without the known ones, so that all are reported at once. */
async function furtherOf(revision: Revision, estate: Estate): Promise<readonly Problem[]> {
  if (!estate.problems.some(({ severity }) => severity === 'error')) return []
  const { furtherProblems } = await import('../controller/sources/further-problems.ts')
  return furtherProblems(revision, estate)
}

/** Only add-ons have remote manifests: other estates need no Git, no tunnels and no unpacking. */
async function fetchedFor(read: Revision): Promise<Revision> {
  if (!read.declarations.some(({ kind }) => kind === 'Addon')) return read
  const [{ withFetched }, { chartsToKeep }, reader] = await Promise.all([
    import('../source/files/fetched.ts'),
    import('./charts.ts'),
    commandReader(),
  ])
  return withFetched(read, { fetched: new Map(), egress: EVERYWHERE, chart: chartsToKeep(process.env), reader })
}

export async function follow(remote: string, mirror: string): Promise<FollowedRepository> {
  const { followRepository } = await import('../source/git/repository.ts')
  const reader = await commandReader()
  const followed = followRepository({ remote, mirror, ref: 'main', allowLocal: true, reader })
  return {
    async look(signal) {
      const seen = await followed.look(signal)
      // The repository is croft's own, so retrying does not help.
      if (seen.is === 'kept') throw new CliError(`The repository ${remote} cannot be followed: ${seen.message}`)
      return seen.is === 'new' ? linked(seen.revision) : undefined
    },
  }
}

/** croft's kinds as definitions for a Kubernetes API. */
export async function definitions(): Promise<readonly unknown[]> {
  const { customResourceDefinitions } = await import('../kinds/crd/definitions.ts')
  return customResourceDefinitions()
}

export async function jsonSchemaOf(name: string | undefined): Promise<unknown> {
  const [{ jsonSchema }, { kindNamed }] = await Promise.all([
    import('../kinds/json-schema.ts'),
    import('../kinds/registry.ts'),
  ])
  return jsonSchema(name === undefined ? undefined : kindNamed(name))
}
