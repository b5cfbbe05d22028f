import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ChartRenderer, ChartRequest, RenderedObject, Rendering } from '../drivers/chart-port.ts'
import { cleanText } from '../lib/clean-text.ts'
import type { Clock } from '../lib/clock.ts'
import { findProgram } from '../lib/find-program.ts'
import { isRecord } from '../lib/is-record.ts'
import { LIMITS } from '../lib/limits.ts'
import { runChild } from '../ssh/child.ts'
import {
  archiveName,
  environmentFor,
  pullArguments,
  renderingKey,
  requestProblem,
  templateArguments,
} from './arguments.ts'

export interface RendererOptions {
  /** CROFT_HELM names the program; else it is looked for in PATH. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Real time: another program's patience is nobody's simulation. */
  readonly clock: Clock
  /** Where fetched charts are kept; undefined: nowhere. */
  readonly cacheDir?: string
  readonly newPlaces: boolean
  /** Writes a directory of a Git repository, at one commit, below an empty directory. */
  checkOut?(place: GitChart, into: string, signal: AbortSignal): Promise<{ readonly problem: string } | undefined>
  /** Reads YAML that others wrote: objects, or what is wrong. Elsewhere than in the thread that others wait for. */
  readObjects(text: string): Promise<{ readonly objects: readonly unknown[] } | { readonly problem: string }>
}

/** Charts by the Helm of this computer, one at a time, each in an empty home that is gone afterwards. */
export function createChartRenderer(options: RendererOptions): ChartRenderer {
  const known = new Map<string, Extract<Rendering, { is: 'objects' }>>()
  let last: Promise<unknown> = Promise.resolve()

  async function render(request: ChartRequest, signal: AbortSignal): Promise<Rendering> {
    const problem = requestProblem(request)
    if (problem !== undefined) return { is: 'failed', message: problem }
    const program = await findHelm(options.env)
    if (program === undefined) return { is: 'no-helm' }
    const home = await mkdtemp(path.join(tmpdir(), 'croft-helm-'))
    try {
      const helm = (args: readonly string[]) => runHelm(program, args, home, options, signal)
      const archive =
        request.git === undefined
          ? await archiveOf(request, home, options.cacheDir, helm)
          : await directoryOf({ ...request.git, path: request.chart }, home, options, signal)
      const values = await valuesOf(request, options)
      const key = renderingKey(archive.digest, request, values)
      const found = known.get(key)
      if (found !== undefined) return found
      const files: string[] = []
      for (const [index, text] of values.entries()) {
        files.push(path.join(home, `values-${index}.yaml`))
        await writeFile(files.at(-1) ?? '', text, { mode: 0o600 })
      }
      const once = async () => (await helm(templateArguments(request, archive.file, files))).toString('utf8')
      const [text, second] = [await once(), await once()]
      const rendering = {
        is: 'objects',
        objects: await objectsIn(text, options),
        ...(second === text ? {} : { again: await objectsIn(second, options) }),
      } as const
      known.set(key, rendering)
      const [oldest] = known.keys()
      if (known.size > LIMITS.renderingsKept && oldest !== undefined) known.delete(oldest)
      return rendering
    } catch (error) {
      if (!(error instanceof HelmFailed)) throw error
      return { is: 'failed', message: error.message }
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  }

  return {
    newPlaces: options.newPlaces,
    render(request, signal) {
      const turn = last.then(() => render(request, signal))
      last = turn.catch(() => {})
      return turn
    },
  }
}

/** What Helm said, or why nothing came of it. Never thrown out of here. */
class HelmFailed extends Error {}

function findHelm(env: RendererOptions['env']): Promise<string | undefined> {
  const named = env.CROFT_HELM ?? ''
  return findProgram(named === '' ? 'helm' : path.resolve(named), env)
}

async function runHelm(
  program: string,
  args: readonly string[],
  home: string,
  { env, clock, newPlaces }: RendererOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const [doing = ''] = args
  // Two renderings are compared in the main thread: of what anybody may propose they are smaller.
  const mostBytes = newPlaces ? LIMITS.addonBytes : LIMITS.proposedChartBytes
  const ended = await runChild([program, ...args], {
    env: environmentFor(env, home),
    input: [],
    timeoutMs: LIMITS.chartMs,
    maxBytes: mostBytes,
    group: true,
    clock,
    signal,
  })
  if (ended.cut === 'timeout') throw new HelmFailed(`helm ${doing} took longer than ${LIMITS.chartMs / 1000} s`)
  if (ended.cut === 'too-large') throw new HelmFailed(`helm ${doing} said more than ${mostBytes} bytes`)
  if (ended.cut === 'aborted') throw new HelmFailed(`helm ${doing} was stopped`)
  if (ended.unstarted !== undefined) throw new HelmFailed(`helm could not be started (${ended.unstarted})`)
  if (ended.code !== 0) {
    const said = ended.stderr.trim().replace(/^Error: /, '') || `it ended with ${ended.code}`
    throw new HelmFailed(`helm ${doing}: ${cleanText(said)}`)
  }
  return ended.stdout
}

/** The chart itself, fetched unless it is here already. */
async function archiveOf(
  request: ChartRequest,
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

interface GitChart {
  readonly url: string
  readonly commit: string
  readonly path: string
}

/** The chart in a directory that goes with the home. The commit names all that is in it. */
async function directoryOf(
  place: GitChart,
  home: string,
  { checkOut }: RendererOptions,
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

/** Whole or not at all: written beside it and renamed. The oldest go when there are too many. */
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

/** The documents of values, later ones over earlier ones; hidden ones by their shape alone. */
async function valuesOf(
  { values, hidden }: ChartRequest,
  { readObjects }: RendererOptions,
): Promise<readonly string[]> {
  const texts = values === '' ? [] : [values]
  if (hidden === undefined) return texts
  const found = await readObjects(hidden.reveal())
  // What it says is nobody's business here, nor why it cannot be read.
  if ('problem' in found) throw new HelmFailed('its secret values are not a YAML document')
  const [read] = found.objects
  return isRecord(read) ? [...texts, JSON.stringify(standInsFor(read))] : texts
}

/** The objects in what Helm printed; lists are taken apart. */
async function objectsIn(text: string, { readObjects }: RendererOptions): Promise<readonly RenderedObject[]> {
  const found = await readObjects(text)
  if ('problem' in found) throw new HelmFailed(`what its templates make cannot be used: ${cleanText(found.problem)}`)
  return found.objects.filter(isRecord)
}

/** What stands in a rendering where a hidden value would stand. */
const HIDDEN = 'hidden'

/**
 * Values of the same shape that may be shown: every text and number is another, a yes or no is as it is. Rendered with
 * these, nothing that comes out can give a secret away, whatever a template makes of it.
 */
export function standInsFor(values: unknown): unknown {
  if (Array.isArray(values)) return values.map(standInsFor)
  if (typeof values === 'object' && values !== null)
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, standInsFor(value)]))
  if (typeof values === 'string') return HIDDEN
  return typeof values === 'number' || typeof values === 'bigint' ? 1 : values
}
