import type { EngineOptions } from '../cli/runtime.ts'
import type { ChartRenderer } from '../drivers/chart-port.ts'
import { systemClock } from '../lib/clock.ts'
import type { Fetching } from '../source/files/fetched.ts'

/** Charts are rendered only for plans that somebody reads: Helm, and what speaks to it, is loaded with the first one. */
export function chartsFor(options: EngineOptions): ChartRenderer | undefined {
  if (options.charts === undefined) return undefined
  const newPlaces = options.charts === 'from-anywhere'
  let opened: Promise<ChartRenderer> | undefined
  const open = async (): Promise<ChartRenderer> => {
    const [{ createChartRenderer }, { cacheDirectory }, { createWorkerReader }, { TooCostly }] = await Promise.all([
      import('../helm/renderer.ts'),
      import('../state/state-file.ts'),
      import('../source/apart/reader.ts'),
      import('../source/reader.ts'),
    ])
    const reader = createWorkerReader({ clock: systemClock })
    // A chart may make any text: it is read where it can be ended.
    const readObjects = async (text: string) => {
      try {
        return await reader.objects([{ name: 'chart.yaml', bytes: Buffer.from(text) }])
      } catch (error) {
        if (error instanceof TooCostly) return { problem: error.message }
        throw error
      }
    }
    const env = options.env ?? process.env
    const cacheDir = cacheDirectory(env)
    return createChartRenderer({
      env,
      clock: systemClock,
      newPlaces,
      readObjects,
      checkOut: async (place, into, signal) =>
        (await import('../source/git/checked-out.ts')).checkOut(place, into, { signal }),
      ...(cacheDir === undefined ? {} : { cacheDir }),
    })
  }
  return {
    newPlaces,
    async render(request, signal) {
      opened ??= open()
      return (await opened).render(request, signal)
    },
  }
}

/** The same Helm, for charts of clusters that have no controller for them: what it makes is what is kept there. */
export function chartsToKeep(env: EngineOptions['env']): NonNullable<Fetching['chart']> {
  const charts = chartsFor({ directory: '.', charts: 'from-anywhere', ...(env === undefined ? {} : { env }) })
  return async (wanted, signal) => {
    const { chart, git } = wanted
    const { steadyObjects } = await import('../helm/steady-objects.ts')
    const rendering = (await charts?.render({ ...wanted, upgrade: false }, signal)) ?? { is: 'no-helm' as const }
    return steadyObjects(rendering, git === undefined ? chart : `${git.url} (path ${chart})`)
  }
}
