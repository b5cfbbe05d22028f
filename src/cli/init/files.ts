import { existsSync } from 'node:fs'
import path from 'node:path'
import { note } from '../output.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, type Options } from '../verb.ts'

/** The directory, as typed and resolved, and the options. */
export interface InitPlace {
  readonly directory: string
  readonly real: string
  readonly options: Options
}

/** Any of these says that a cluster is wanted. */
const CLUSTER_FLAGS = [
  'cluster',
  'addresses',
  'servers',
  'k3s',
  'bridge',
  'disks',
  'files',
  'network',
  'gateway',
] as const

export function wantsCluster(options: Options): boolean {
  return CLUSTER_FLAGS.some((flag) => options[flag] !== undefined)
}

/** Refuses to replace existing files, before it asks any question. */
export function refuseToReplace(real: string, files: readonly string[]): void {
  const there = files.find((file) => existsSync(path.join(real, file)))
  if (there !== undefined)
    throw new CliError(
      `${path.join(real, there)} exists already, and croft init changes no file. Rename it, or write the rest by hand.`,
    )
}

export async function writeNew(
  runtime: Runtime,
  { directory, real }: InitPlace,
  file: string,
  text: string,
): Promise<void> {
  if ((await runtime.writeFile?.(path.join(real, file), text)) !== true)
    throw new CliError(`${path.join(directory, file)} could not be written: it exists already.`)
  note(runtime, `Wrote ${path.join(directory, file)}.`)
}
