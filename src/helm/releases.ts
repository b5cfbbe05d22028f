import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { HelmReleases, HelmRun } from '../drivers/release-port.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { objectId, RELEASE } from '../model/kube-object.ts'
import type { RemoteTask } from '../model/resource.ts'
import { requestProblem } from './arguments.ts'
import { archiveOf, type ChartSources, directoryOf } from './fetch-chart.ts'
import { explained, kubeconfigFor, processOf, uninstallArguments, upgradeArguments } from './release-arguments.ts'
import { findHelm, HelmFailed, runHelm } from './run-helm.ts'

export interface ReleasesOptions extends ChartSources, Pick<HelmReleases, 'read'> {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Real time: Helm is no part of a simulation. */
  readonly clock: Clock
  /** Cache of fetched charts; undefined: none. */
  readonly cacheDir?: string
}

/** Runs the user's Helm; each run is a task. */
export function createReleases(options: ReleasesOptions): HelmReleases {
  const { clock } = options
  const tasks = new Map<string, RemoteTask & { readonly cluster: string }>()
  let count = 0

  async function follow(id: string, program: string, run: HelmRun): Promise<void> {
    let ended: Pick<RemoteTask, 'state' | 'message' | 'refusal'> = { state: 'succeeded' }
    try {
      await perform(program, run, options)
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      const message = `could not ${run.write.run} the release ${run.write.release}: ${explained(said)}`
      ended = { state: 'failed', message, refusal: { reason: 'HelmFailed', meaning: 'backoff', message } }
    }
    const task = tasks.get(id)
    if (task !== undefined) tasks.set(id, { ...task, ...ended, endedMs: clock.now() })
  }

  return {
    read: options.read,
    async begin(run) {
      const program = await findHelm(options.env)
      if (program === undefined) return undefined
      const { cluster, write } = run
      const id = `helm-${process.pid}-${++count}-${write.namespace}-${write.release}`
      const subject = objectId({ ...RELEASE, metadata: { name: write.release, namespace: write.namespace } })
      const about = { host: cluster, verb: write.run, subject, user: 'croft', cluster }
      tasks.set(id, { id, ...about, state: 'running', startedMs: clock.now() })
      const [oldest] = tasks.keys()
      if (tasks.size > LIMITS.chartsKept && oldest !== undefined) tasks.delete(oldest)
      void follow(id, program, run)
      return id
    },
    tasks: (cluster) => [...tasks.values()].filter((one) => one.cluster === cluster && one.state === 'running'),
    outcome: (taskId) => tasks.get(taskId),
  }
}

/** Runs Helm in a temporary directory, which is removed with the kubeconfig in it. */
async function perform(
  program: string,
  { write, secretValues, login }: HelmRun,
  options: ReleasesOptions,
): Promise<void> {
  await sweep()
  const home = await mkdtemp(path.join(tmpdir(), `croft-helm-${process.pid}-`))
  const signal = new AbortController().signal
  try {
    const kubeconfig = path.join(home, 'kubeconfig')
    await writeFile(kubeconfig, kubeconfigFor(login), { mode: 0o600 })
    // The cluster records field managers by the program's name: use the same for every Helm.
    const called = path.join(home, 'helm')
    await symlink(program, called)
    const { env, clock } = options
    const helm = (args: readonly string[], timeoutMs: number) =>
      runHelm(called, args, { env, clock, home, kubeconfig, maxBytes: LIMITS.addonBytes, timeoutMs }, signal)
    if (write.run === 'uninstall') {
      await helm(uninstallArguments(write), LIMITS.releaseRunMs)
      return
    }
    const { chart, release, namespace } = write
    const problem = requestProblem({ ...chart, release, namespace, values: '', upgrade: true })
    if (problem !== undefined) throw new HelmFailed(problem)
    const fetched =
      chart.git === undefined
        ? await archiveOf(chart, home, options.cacheDir, (args) => helm(args, LIMITS.chartMs))
        : await directoryOf({ ...chart.git, path: chart.chart }, home, options, signal)
    const files: string[] = []
    for (const text of [write.values, ...(secretValues === undefined ? [] : [secretValues.reveal()])]) {
      const file = path.join(home, `values-${files.length}.yaml`)
      await writeFile(file, text, { mode: 0o600 })
      files.push(file)
    }
    await helm(upgradeArguments(write, fetched.file, files), LIMITS.releaseRunMs)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Removes directories of a killed croft: they hold credentials. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = processOf(name)
    if (pid === undefined || isAlive(pid)) continue
    await rm(path.join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM means another user's process, which exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
