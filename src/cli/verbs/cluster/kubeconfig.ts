import { lstat, readFile, realpath } from 'node:fs/promises'
import path from 'node:path'
import { mergeKubeconfig, renderKubeconfig } from '../../../kubernetes/kubeconfig.ts'
import { replaceFile } from '../../../lib/atomic-file.ts'
import { kubeconfigEntry } from '../../clusters/opened.ts'
import { note } from '../../output.ts'
import { parseDuration } from '../../render/duration.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, UsageError } from '../../verb.ts'
import type { ClusterCommand } from './find.ts'

const LONGEST = 365 * 24 * 3_600_000

/**
 * Access for a person: a certificate signed by the cluster's own CA, without asking the cluster. Printed, or merged into
 * the kubeconfig without touching anything else in it.
 */
export const kubeconfig: ClusterCommand = async (runtime, { cluster, directory, state, words }, options) => {
  const [what = options.merge === true || options.switchContext === true ? 'merge' : 'get'] = words
  if (what !== 'get' && what !== 'merge')
    throw new UsageError(`There is no cluster ${what}, and no kubeconfig ${what}. Use get or merge.`)
  const lifeMs = parseDuration((options.ttl as string | undefined) ?? '720h') ?? 0
  if (!(lifeMs > 0 && lifeMs <= LONGEST)) throw new UsageError('--ttl must be between a second and 8760h. Correct it.')
  const entry = await kubeconfigEntry(runtime, { directory, state }, cluster, lifeMs)
  if (entry === undefined)
    throw new CliError(`${cluster.name} has not been made yet: it has no CA. Run croft apply first.`)
  const until = new Date(entry.untilMs).toISOString().slice(0, 16).replace('T', ' ')
  if (what === 'get') {
    if (runtime.out.isTty) note(runtime, 'This is a secret. Use merge to write it into your kubeconfig.')
    runtime.out.write(renderKubeconfig(entry))
    return EXIT.ok
  }
  const file = fileOf(runtime, options.file as string | undefined)
  const merged = mergeKubeconfig(await existing(file), entry, { switchContext: options.switchContext === true })
  if ('problem' in merged)
    throw new CliError(`${file} was not changed: ${merged.problem}. Correct it, or name another with --file.`)
  await writePrivately(file, merged.text)
  const current =
    merged.current === cluster.name ? 'it is the current context' : `the current context is ${merged.current}`
  note(
    runtime,
    `${cluster.name} ${merged.replaced ? 'renewed' : 'added'} in ${file}, good until ${until} UTC; ${current}.`,
  )
  return EXIT.ok
}

function fileOf({ env, cwd }: Runtime, asked: string | undefined): string {
  if (asked !== undefined) return path.resolve(cwd, asked)
  // Of several files, kubectl writes to the first.
  const [first] = (env.KUBECONFIG ?? '').split(path.delimiter).filter((one) => one !== '')
  if (first !== undefined) return path.resolve(cwd, first)
  if (env.HOME === undefined || env.HOME === '') throw new CliError('HOME is not set. Name the kubeconfig with --file.')
  return path.join(env.HOME, '.kube', 'config')
}

async function existing(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new CliError(
      `${file} cannot be read: ${error instanceof Error ? error.message : ''}. Name another with --file.`,
    )
  }
}

/** A kubeconfig is often a link into a folder of dotfiles: the file that it leads to is replaced, never the link. */
async function behindLinks(file: string): Promise<string> {
  const seen = await lstat(file).catch(() => undefined)
  return seen?.isSymbolicLink() === true ? realpath(file) : file
}

/** Writes a file atomically, readable only by its owner. */
async function writePrivately(file: string, text: string): Promise<void> {
  try {
    await replaceFile(await behindLinks(file), text)
  } catch (error) {
    throw new CliError(
      `${file} cannot be written: ${error instanceof Error ? error.message : ''}. Name another with --file.`,
    )
  }
}
