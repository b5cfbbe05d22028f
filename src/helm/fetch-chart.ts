import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ChartPlace } from '../drivers/chart-port.ts'
import { cleanText } from '../lib/clean-text.ts'
import { LIMITS } from '../lib/limits.ts'
import { archiveName, pullArguments } from './arguments.ts'
import { HelmFailed } from './run-helm.ts'

/** Fetches charts that are in no chart repository. */
export interface ChartSources {
  /** Writes a directory of a Git repository, at one commit, below an empty directory. */
  checkOut?(place: GitChart, into: string, signal: AbortSignal): Promise<{ readonly problem: string } | undefined>
}

/** The chart itself, fetched unless it is here already. */
export async function archiveOf(
  request: ChartPlace & { readonly version: string },
  home: string,
  cacheDir: string | undefined,
  helm: (args: readonly string[]) => Promise<Buffer>,
): Promise<{ readonly file: string; readonly digest: string }> {
  const folder = cacheDir === undefined ? undefined : path.join(cacheDir, 'charts')
  const kept = folder === undefined ? undefined : path.join(folder, archiveName(request))
  const there = kept === undefined ? undefined : await readFile(kept).catch(() => undefined)
  if (kept !== undefined && there !== undefined) return { file: kept, digest: digestOf(there) }
  const into = path.join(home, 'pulled')
  await mkdir(into, { mode: 0o700 })
  await helm(pullArguments(request, into))
  const [name] = (await readdir(into)).filter((one) => one.endsWith('.tgz'))
  if (name === undefined) throw new HelmFailed('helm pull brought no chart')
  const pulled = path.join(into, name)
  if ((await stat(pulled)).size > LIMITS.addonBytes)
    throw new HelmFailed(`the chart is larger than ${LIMITS.addonBytes} bytes`)
  const digest = digestOf(await readFile(pulled))
  if (folder === undefined || kept === undefined) return { file: pulled, digest }
  await keep(folder, pulled, kept)
  return { file: kept, digest }
}

export interface GitChart {
  readonly url: string
  readonly commit: string
  readonly path: string
}

/** The chart in a directory that goes with the home. The commit names all that is in it. */
export async function directoryOf(
  place: GitChart,
  home: string,
  { checkOut }: ChartSources,
  signal: AbortSignal,
): Promise<{ readonly file: string; readonly digest: string }> {
  if (checkOut === undefined) throw new HelmFailed('a chart in Git cannot be fetched here')
  const into = path.join(home, 'checkout')
  await mkdir(into, { mode: 0o700 })
  const failed = await checkOut(place, into, signal)
  if (failed !== undefined) throw new HelmFailed(cleanText(failed.problem))
  return { file: path.join(into, place.path), digest: `${place.commit}:${place.path}` }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Stores atomically: writes beside it and renames. Removes the oldest beyond the limit. */
async function keep(folder: string, from: string, to: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  if (names.length >= LIMITS.chartsKept) {
    const ages = await Promise.all(
      names.map(
        async (name) => [name, (await stat(path.join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0] as const,
      ),
    )
    const old = ages.toSorted((a, b) => a[1] - b[1]).slice(0, names.length - LIMITS.chartsKept + 1)
    for (const [name] of old) await rm(path.join(folder, name), { force: true })
  }
  const temporary = `${to}.${process.pid}`
  await writeFile(temporary, await readFile(from), { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, to)
}
