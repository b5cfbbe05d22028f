import type { EngineOptions } from '../cli/runtime.ts'
import type { ChartRenderer } from '../drivers/chart-port.ts'
import type { HelmReleases } from '../drivers/release-port.ts'
import type { GitChart } from '../helm/fetch-chart.ts'
import { systemClock } from '../lib/clock.ts'
import { EVERYWHERE } from '../lib/egress.ts'
import type { Fetching } from '../source/files/fetched.ts'

/** Reading what others wrote, and fetching charts: loaded with the first chart. */
async function chartTools(env: NodeJS.ProcessEnv | Readonly<Record<string, string | undefined>>) {
  const [{ cacheDirectory }, { createWorkerReader }, { TooCostly }] = await Promise.all([
    import('../state/state-file.ts'),
    import('../source/apart/reader.ts'),
    import('../source/reader.ts'),
  ])
  const reader = createWorkerReader({ clock: systemClock })
  const cacheDir = cacheDirectory(env)
  return {
    env,
    clock: systemClock,
    // A chart may render any text: parse it in the cage.
    async readObjects(text: string) {
      try {
        return await reader.objects([{ name: 'chart.yaml', bytes: Buffer.from(text) }])
      } catch (error) {
        if (error instanceof TooCostly) return { problem: error.message }
        throw error
      }
    },
    async checkOut(place: GitChart, into: string, signal: AbortSignal) {
      const [{ checkOut }, { permitRepository }] = await Promise.all([
        import('../source/git/checked-out.ts'),
        import('../source/git/fetched-git.ts'),
      ])
      // Helm renders for no source with a grant.
      return checkOut(permitRepository(place, EVERYWHERE), into, { signal })
    },
    ...(cacheDir === undefined ? {} : { cacheDir }),
  }
}

/** Renders charts only for plans that are read: Helm and its client are loaded with the first chart. */
export function chartsFor(options: EngineOptions): ChartRenderer | undefined {
  if (options.charts === undefined) return undefined
  const newPlaces = options.charts === 'from-anywhere'
  let opened: Promise<ChartRenderer> | undefined
  const open = async (): Promise<ChartRenderer> => {
    const [{ createChartRenderer }, tools] = await Promise.all([
      import('../helm/renderer.ts'),
      chartTools(options.env ?? process.env),
    ])
    return createChartRenderer({ ...tools, newPlaces })
  }
  return {
    newPlaces,
    async render(request, signal) {
      opened ??= open()
      return (await opened).render(request, signal)
    },
  }
}

/** Renders charts with the same Helm, for clusters without a controller for them: croft keeps these objects. */
export function chartsToKeep(env: EngineOptions['env']): NonNullable<Fetching['chart']> {
  const charts = chartsFor({ directory: '.', charts: 'from-anywhere', ...(env === undefined ? {} : { env }) })
  return async (wanted, signal) => {
    const { chart, git } = wanted
    const { steadyObjects } = await import('../helm/steady-objects.ts')
    const rendering = (await charts?.render({ ...wanted, upgrade: false }, signal)) ?? { is: 'no-helm' as const }
    return steadyObjects(rendering, git === undefined ? chart : `${git.url} (path ${chart})`)
  }
}

/** Returns Helm as an installer, for releases that it keeps. */
export function releasesFor(env: EngineOptions['env']): HelmReleases {
  let opened: Promise<HelmReleases> | undefined
  let made: HelmReleases | undefined
  const open = async () => {
    const [{ createReleases }, tools] = await Promise.all([
      import('../helm/releases.ts'),
      chartTools(env ?? process.env),
    ])
    made = createReleases({ ...tools, read: tools.readObjects })
    return made
  }
  const releases = () => {
    opened ??= open()
    return opened
  }
  return {
    begin: async (run) => (await releases()).begin(run),
    read: async (text) => (await releases()).read(text),
    // Before it is opened, it has no tasks.
    tasks: (cluster) => made?.tasks(cluster) ?? [],
    outcome: (taskId) => made?.outcome(taskId),
  }
}
