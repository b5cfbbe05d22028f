import { type KubernetesClient, segment } from '../../kubernetes/client.ts'
import { at, type Foreign, textOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Connection, clusterName, type Estate } from '../../model/estate.ts'
import type { LogAnswer, LogQuestion, Workloads, WorkloadTree } from '../../model/workload.ts'
import type { KubernetesWay } from '../port.ts'
import { collectionPath } from './api.ts'
import { type TreeRoot, workloadTree } from './workload-tree.ts'

interface WorkloadsDeps {
  readonly clock: Clock
  estate(): Estate | undefined
  way(connection: Connection): KubernetesWay | undefined
}

/** Pods, and the kinds that create them. */
const KINDS = [
  ['apps/v1', 'deployments', 'Deployment'],
  ['apps/v1', 'replicasets', 'ReplicaSet'],
  ['apps/v1', 'statefulsets', 'StatefulSet'],
  ['apps/v1', 'daemonsets', 'DaemonSet'],
  ['batch/v1', 'jobs', 'Job'],
  ['batch/v1', 'cronjobs', 'CronJob'],
  ['v1', 'pods', 'Pod'],
] as const
const CHARTS = ['helm.cattle.io/v1', 'helmcharts', 'HelmChart'] as const

interface AskedTree {
  readonly atMs: number
  readonly estate: Estate
  readonly tree: Promise<WorkloadTree>
}

/** Reads an add-on's workloads on request. Requests within a moment share the answer. */
export function createWorkloads(deps: WorkloadsDeps): Workloads & { close(): Promise<void> } {
  const ways = new Map<string, { readonly declared: string; readonly way: KubernetesWay }>()
  const answers = new Map<string, AskedTree>()

  async function open(connection: Connection): Promise<KubernetesWay | undefined> {
    const declared = JSON.stringify([connection.cluster, connection.existing])
    const before = ways.get(connection.name)
    if (before?.declared === declared) return before.way
    await before?.way.close()
    const way = deps.way(connection)
    if (way === undefined) ways.delete(connection.name)
    else ways.set(connection.name, { declared, way })
    return way
  }

  async function client(connection: Connection, signal: AbortSignal): Promise<KubernetesClient | string> {
    const way = await open(connection)
    const found = await way?.find(signal)
    if (found?.is === 'open') return found.client
    return found?.is === 'away' ? found.message : 'the cluster does not stand yet'
  }

  const find = (estate: Estate, cluster: string, addon: string) => {
    const roots: TreeRoot[] = estate.resources.flatMap(({ key, desired }) =>
      desired.type === 'object' && desired.object.cluster === cluster && desired.object.addon === addon
        ? [{ key, object: desired.object.object }]
        : [],
    )
    const connection = estate.connections.find((one) => one.driver === 'kubernetes' && clusterName(one) === cluster)
    return roots.length === 0 || connection === undefined ? undefined : { roots, connection }
  }

  async function read(connection: Connection, roots: readonly TreeRoot[], signal: AbortSignal): Promise<WorkloadTree> {
    const kube = await client(connection, signal)
    if (typeof kube === 'string') {
      const { nodes } = workloadTree(roots, [], [])
      return { nodes, notes: [`the API of ${clusterName(connection)} does not answer: ${kube}`] }
    }
    const notes = new Set<string>()
    const list = async (apiVersion: string, plural: string, namespace?: string): Promise<readonly Foreign[]> => {
      const asked = await kube.list(collectionPath(apiVersion, plural, namespace), {}, signal)
      if (asked.is === 'answer') return asked.value
      if (asked.is === 'silence') ways.get(connection.name)?.way.lost()
      if (asked.is === 'silence' || asked.status !== 404)
        notes.add(`${plural} cannot be listed: ${asked.is === 'error' ? asked.refusal.message : asked.message}`)
      return []
    }
    const kinds = roots.some(({ object }) => object.kind === 'HelmChart') ? [...KINDS, CHARTS] : KINDS
    const spaces = namespacesOf(roots)
    const places = spaces.length > LIMITS.workloadNamespaces ? [undefined] : spaces
    const [listed, events] = await Promise.all([
      Promise.all(
        kinds.flatMap(([apiVersion, plural, kind]) =>
          // Items of a list lack their kind.
          places.map(async (place) =>
            (await list(apiVersion, plural, place)).map((one) => ({ ...one, apiVersion, kind })),
          ),
        ),
      ),
      Promise.all(places.map((place) => list('v1', 'events', place))),
    ])
    const tree = workloadTree(roots, listed.flat(), events.flat())
    return { nodes: tree.nodes, notes: [...notes, ...tree.notes] }
  }

  function tree(cluster: string, addon: string): Promise<WorkloadTree> | undefined {
    const estate = deps.estate()
    const found = estate === undefined ? undefined : find(estate, cluster, addon)
    if (estate === undefined || found === undefined) return undefined
    const name = `${cluster}/${addon}`
    const nowMs = deps.clock.monotonicMs()
    const before = answers.get(name)
    if (before?.estate === estate && nowMs - before.atMs < LIMITS.workloadsFreshMs) return before.tree
    for (const [old, { atMs }] of answers) if (nowMs - atMs >= LIMITS.workloadsFreshMs) answers.delete(old)
    // Without the first caller's signal: it may leave while others wait. The wire bounds each call.
    const asked = read(found.connection, found.roots, new AbortController().signal)
    answers.set(name, { atMs: nowMs, estate, tree: asked })
    asked.catch(() => answers.delete(name))
    return asked
  }

  return {
    tree: async (cluster, addon) => tree(cluster, addon),
    async log(question, onLine, signal): Promise<LogAnswer> {
      const { cluster, addon, namespace, pod, container } = question
      const estate = deps.estate()
      const found = estate === undefined ? undefined : find(estate, cluster, addon)
      const asked = tree(cluster, addon)
      if (found === undefined || asked === undefined)
        return { ok: false, reason: 'not-found', message: `There is no Addon ${addon} for cluster ${cluster}.` }
      const { nodes } = await asked
      const known = nodes.find((one) => one.kind === 'Pod' && one.namespace === namespace && one.name === pod)
      if (known === undefined)
        return { ok: false, reason: 'not-found', message: `There is no pod ${namespace}/${pod} below ${addon}.` }
      if (known.containers?.some(({ name }) => name === container) !== true)
        return { ok: false, reason: 'not-found', message: `Pod ${pod} has no container ${container}.` }
      const kube = await client(found.connection, signal)
      if (typeof kube === 'string')
        return { ok: false, reason: 'away', message: `The API of ${cluster} does not answer: ${kube}.` }
      const take = byLines(onLine)
      const answer = await kube.text(logPath(question), take.text, signal)
      take.end()
      if (answer.is === 'answer' || signal.aborted) return { ok: true }
      const why =
        answer.is === 'error' ? (textOf(at(answer.body, 'message')) ?? answer.refusal.message) : answer.message
      return { ok: false, reason: answer.is === 'error' ? 'refused' : 'away', message: `${pod}: ${why}` }
    },
    async close() {
      await Promise.all([...ways.values()].map(({ way }) => way.close()))
      ways.clear()
    },
  }
}

function namespacesOf(roots: readonly TreeRoot[]): readonly string[] {
  const found = roots.flatMap(({ object }) => {
    const target = object.kind === 'HelmChart' ? textOf(at(object, 'spec', 'targetNamespace')) : undefined
    return [object.metadata.namespace, target].filter((one) => one !== undefined)
  })
  return [...new Set(found)]
}

function logPath({ namespace, pod, container, tail, previous, follow }: LogQuestion): string {
  const query = new URLSearchParams({ container, tailLines: String(Math.min(tail, LIMITS.logTail)) })
  if (previous) query.set('previous', 'true')
  if (follow) query.set('follow', 'true')
  else query.set('limitBytes', String(LIMITS.logBytes))
  return `${collectionPath('v1', 'pods', namespace)}/${segment(pod)}/log?${query.toString()}`
}

/** Returns whole lines of limited length, without control characters that move the cursor or reverse text. */
function byLines(onLine: (line: string) => void): { readonly text: (text: string) => void; readonly end: () => void } {
  let begun = ''
  const tell = (line: string) => onLine(cleanText(line.replaceAll('\t', '    '), LIMITS.logLineLength))
  return {
    text(text) {
      const lines = (begun + text).split('\n')
      begun = (lines.pop() ?? '').slice(0, LIMITS.logLineLength * 4)
      for (const line of lines) tell(line)
    },
    end() {
      if (begun !== '') tell(begun)
      begun = ''
    },
  }
}
