import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ChartRenderer, ChartRequest, RenderedObject, Rendering } from '../drivers/chart-port.ts'
import { cleanText } from '../lib/clean-text.ts'
import type { Clock } from '../lib/clock.ts'
import { isRecord } from '../lib/is-record.ts'
import { LIMITS } from '../lib/limits.ts'
import { renderingKey, requestProblem, templateArguments } from './arguments.ts'
import { archiveOf, type ChartSources, directoryOf } from './fetch-chart.ts'
import { findHelm, HelmFailed, runHelm } from './run-helm.ts'

export interface RendererOptions extends ChartSources {
  /** CROFT_HELM names the program; else it is looked for in PATH. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Real time: Helm is no part of a simulation. */
  readonly clock: Clock
  /** Cache of fetched charts; undefined: none. */
  readonly cacheDir?: string
  readonly newPlaces: boolean
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
    const { env, clock } = options
    // Two renderings are compared in the main thread, so untrusted ones have a lower limit.
    const maxBytes = options.newPlaces ? LIMITS.addonBytes : LIMITS.proposedChartBytes
    const home = await mkdtemp(path.join(tmpdir(), 'croft-helm-'))
    try {
      const helm = (args: readonly string[]) =>
        runHelm(program, args, { env, clock, home, maxBytes, timeoutMs: LIMITS.chartMs }, signal)
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

/** Merges documents of values, later ones over earlier ones; hidden ones by their shape alone. */
async function valuesOf(
  { values, hidden }: ChartRequest,
  { readObjects }: RendererOptions,
): Promise<readonly string[]> {
  const texts = values === '' ? [] : [values]
  if (hidden === undefined) return texts
  const found = await readObjects(hidden.reveal())
  // Drop the parser's message: it may quote the secret.
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

/** Stand-in for a hidden value in a rendering. */
const HIDDEN = 'hidden'

/**
 * Returns stand-ins of the same shape: texts and numbers are replaced, booleans stay. Charts rendered with them cannot
 * reveal a secret, in any template.
 */
export function standInsFor(values: unknown): unknown {
  if (Array.isArray(values)) return values.map(standInsFor)
  if (typeof values === 'object' && values !== null)
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, standInsFor(value)]))
  if (typeof values === 'string') return HIDDEN
  return typeof values === 'number' || typeof values === 'bigint' ? 1 : values
}
