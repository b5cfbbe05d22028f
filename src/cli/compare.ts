import { postPlan } from '../controller/previews/post-plan.ts'
import { parsePullRequest } from '../controller/wishes/forge.ts'
import { sendToForge } from '../controller/wishes/forge-send.ts'
import { Secret } from '../model/secret.ts'
import { realDirectory } from '../state/state-file.ts'
import { closing, existingState, inWords } from './load.ts'
import { PLAN_MARK, planMarkdown } from './render/plan-markdown.ts'
import type { Runtime } from './runtime.ts'
import { CliError, EXIT, type ExitCode, UsageError } from './verb.ts'

/** Shows what merging a branch would do: plans both sides against the same world, and prints the difference. */
export async function compare(
  runtime: Runtime,
  directory: string,
  options: Readonly<Record<string, unknown>>,
): Promise<ExitCode> {
  const { base, head, post } = options
  if (typeof base !== 'string' || typeof head !== 'string')
    throw new UsageError('--base and --head belong together. Name both, e.g. --base main --head my-branch.')
  const to = typeof post === 'string' ? parsePullRequest(post) : undefined
  if (typeof post === 'string' && to === undefined)
    throw new UsageError(
      `${post} is not a pull request. Write it like github:owner/name#12 or gitea:owner/name#12@https://git.example.`,
    )
  const real = realDirectory(runtime, directory)
  const at = async (ref: string, onto?: string) =>
    runtime.loadAt(real, ref, onto).catch((error: unknown): never => {
      const why = error instanceof Error ? error.message : String(error)
      throw new CliError(
        /not a git repository/.test(why)
          ? `${inWords(directory, real)} is not in a Git repository, and --base and --head name commits of one. Run git init there and commit, or plan without them.`
          : `${ref} cannot be read: ${why}. Correct it.`,
      )
    })
  const [before, after] = [await at(base), await at(head, base)]
  await using store = await existingState(runtime, real, options)
  await using engine = closing(await runtime.openEngine(store.it, { directory: real, charts: 'known' }))
  const planned = {
    base: await engine.it.plan(before.estate, runtime.signal),
    head: await engine.it.plan(after.estate, runtime.signal),
  }
  const markdown = planMarkdown(planned.base, planned.head, { base, head })
  runtime.out.write(markdown)
  if (to !== undefined) {
    const token = runtime.env.CROFT_FORGE_TOKEN ?? ''
    if (token === '') throw new CliError('CROFT_FORGE_TOKEN is not set. Set it to a token that may write comments.')
    if (!/^[!-~]+$/.test(token))
      throw new CliError(
        'CROFT_FORGE_TOKEN is not a token: it has spaces or characters that no token has. Set it to a token that may write comments.',
      )
    const done = await postPlan(to, markdown, PLAN_MARK, new Secret(token), sendToForge)
    runtime.err.write(`The comment was ${done}.\n`)
  }
  return planned.head.problems.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.ok
}
