import { at, type Foreign, nameOf, objectName, textOf } from '../../kubernetes/objects.ts'
import { containersOf, podStatus } from '../../kubernetes/pods.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { PowerDone } from '../../model/power.ts'
import { openState } from '../../state/state-file.ts'
import { clusterTools } from '../clusters/opened.ts'
import { closing } from '../load.ts'
import { styleOf, writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { renderTable } from '../render/table.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'
import { type FoundCluster, findCluster } from './cluster/find.ts'

/** All pods of a cluster with their nodes; with --watch again and again, until it is stopped. */
export const run: Verb = async (runtime, words, options) => {
  const found = await findCluster(runtime, words, options)
  const { cluster, directory, state } = found
  const { driver, deps } = await clusterTools(runtime, { directory, state })
  const session = driver.connect(cluster, deps)
  try {
    for (;;) {
      const client = await session.kubernetes()
      const asked = await client?.list('/api/v1/pods', {}, runtime.signal)
      if (asked === undefined || asked.is !== 'answer') {
        const why =
          asked === undefined
            ? 'it has not been formed yet'
            : asked.is === 'error'
              ? asked.refusal.message
              : asked.message
        const said = (await switchedOff(runtime, found)) ?? `The API of ${cluster.name} does not answer: ${why}.`
        if (options.watch !== true) throw new CliError(said)
        runtime.out.write(`${said}\n`)
      } else if (!(await writeData(runtime, options.output, podList(asked.value.map(rowOf))))) {
        const clear = options.watch === true && runtime.out.isTty ? '\u001b[H\u001b[2J' : ''
        const rows = asked.value.map((pod) => Object.values(rowOf(pod))).sort((a, b) => (a.join() < b.join() ? -1 : 1))
        const titles = ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'IP', 'NODE'].map((title) => ({ title }))
        runtime.out.write(clear + renderTable(titles, rows, styleOf(runtime, runtime.out)))
      }
      if (options.watch !== true || runtime.signal.aborted) return EXIT.ok
      await runtime.clock.sleep(LIMITS.taskPollMaxMs, runtime.signal)
      if (runtime.signal.aborted) return EXIT.ok
    }
  } finally {
    await session.close()
  }
}

/** Returns a message if the cluster is off on request: having no pods is right then. Undefined: it is on. */
async function switchedOff(runtime: Runtime, { cluster, estate, state }: FoundCluster): Promise<string | undefined> {
  const power = estate.powers?.find(({ spec }) => spec.cluster === cluster.name)
  if (power === undefined) return undefined
  await using store = closing(await openState(runtime, state))
  const text = await store.it.getValue(`power-done/${power.name}`)
  const done = text === undefined ? undefined : (JSON.parse(text) as PowerDone)
  if (done?.state !== 'off' || done.result !== 'done') return undefined
  return `${cluster.name} has no pods: ${power.key} is off on request. croft power on ${power.name} brings it back.`
}

export interface PodRow {
  readonly namespace: string
  readonly name: string
  readonly ready: string
  readonly status: string
  readonly restarts: string
  readonly ip: string
  readonly node: string
}

/** Returns one pod in kubectl's terms. */
export function rowOf(pod: Foreign): PodRow {
  const containers = containersOf(pod)
  const main = containers.filter(({ init }) => !init)
  return {
    namespace: nameOf(at(pod, 'metadata', 'namespace')) ?? 'default',
    name: objectName(pod) ?? '?',
    ready: `${main.filter(({ ready }) => ready).length}/${main.length}`,
    status: podStatus(pod, containers),
    restarts: String(main.reduce((sum, { restarts }) => sum + restarts, 0)),
    ip: textOf(at(pod, 'status', 'podIP')) ?? '-',
    node: nameOf(at(pod, 'spec', 'nodeName')) ?? '-',
  }
}

function podList(pods: readonly ReturnType<typeof rowOf>[]) {
  return { apiVersion: API_VERSION, kind: 'Pods', pods }
}
