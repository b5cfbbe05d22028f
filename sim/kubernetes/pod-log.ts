import type { ApiAnswer, ApiCall, Watching } from './call.ts'
import { whyHelmFails } from './charts/repositories.ts'
import { type KubeObject, text, tree, trees } from './object.ts'
import { ApiStatus, json } from './status.ts'
import { find } from './store.ts'
import { existing } from './writes.ts'

/* No program runs inside a simulated pod: its log says so, with a line when it started and one every ten seconds since. */

const BEAT_MS = 10_000
const TEXT = 'text/plain'
/** The kubelet ends a connection on which nothing is asked any more. */
const FOLLOWED_MS = 4 * 3_600_000

/** What `GET …/pods/NAME/log` answers: text at once, or with `follow` for as long as the container runs. */
export function podLog(call: ApiCall): ApiAnswer {
  const { query, process, cluster } = call
  const pod = existing(call)
  const container = containerIn(pod, query.get('container') ?? '')
  const { clock } = process.computer.world
  const status = statusOf(pod, container)
  if (query.get('previous') === 'true' && tree(status?.lastState).terminated === undefined)
    throw new ApiStatus(
      400,
      'BadRequest',
      `previous terminated container "${container}" in pod "${pod.metadata.name}" not found`,
    )
  const previous = tree(tree(status?.lastState).terminated)
  const beganAt =
    query.get('previous') === 'true'
      ? text(previous.startedAt)
      : text(tree(tree(status?.state).running).startedAt) ||
        text(tree(tree(status?.state).terminated).startedAt) ||
        // Between two attempts the kubelet shows what the last one left.
        text(previous.startedAt)
  if (beganAt === '')
    throw new ApiStatus(
      400,
      'BadRequest',
      `container "${container}" in pod "${pod.metadata.name}" is waiting to start: ContainerCreating`,
    )
  const beganMs = Date.parse(beganAt)
  const waits = tree(status?.state).waiting !== undefined
  const ended = query.get('previous') === 'true' || waits ? previous : tree(tree(status?.state).terminated)
  const endMs = text(ended.finishedAt) === '' ? undefined : Date.parse(text(ended.finishedAt))
  const failing = whyHelmFails(cluster, pod)
  const stamped = query.get('timestamps') === 'true'
  const line = (atMs: number) => {
    if (failing !== undefined) return `${stamped ? `${new Date(atMs).toISOString()} ` : ''}${failing}\n`
    const said = atMs === beganMs ? 'started (simulated)' : `up for ${Math.round((atMs - beganMs) / 1000)} s`
    return `${stamped ? `${new Date(atMs).toISOString()} ` : ''}${container}: ${said}\n`
  }
  const lines = (): readonly number[] => {
    const until = endMs ?? clock.now()
    const count = Math.floor(Math.max(0, until - beganMs) / BEAT_MS) + 1
    const tail = Math.min(count, Number(query.get('tailLines') ?? 1000))
    return Array.from({ length: tail }, (_, at) => beganMs + (count - tail + at) * BEAT_MS)
  }
  const said = lines()
  if (query.get('follow') !== 'true' || endMs !== undefined) {
    const whole = said.map(line).join('')
    return { response: json(200, whole.slice(0, Number(query.get('limitBytes') ?? whole.length)), TEXT) }
  }
  const watch: Watching = {
    type: TEXT,
    timeoutMs: FOLLOWED_MS,
    start(write, over) {
      for (const atMs of said) write(line(atMs))
      let nextMs = beganMs + (Math.floor((clock.now() - beganMs) / BEAT_MS) + 1) * BEAT_MS
      const { name, namespace, uid } = pod.metadata
      const beat = () => {
        if (find(cluster.store, '/pods', namespace, name)?.metadata.uid !== uid || !process.alive) return over()
        write(line(nextMs))
        nextMs += BEAT_MS
        timer = clock.schedule(nextMs, beat)
      }
      let timer = clock.schedule(nextMs, beat)
      return () => timer.cancel()
    },
  }
  return { watch }
}

function containerIn(pod: KubeObject, asked: string): string {
  const spec = tree(pod.spec)
  const names = [...trees(spec.initContainers), ...trees(spec.containers)].map(({ name }) => text(name))
  const main = trees(spec.containers).map(({ name }) => text(name))
  if (asked === '' && main.length === 1) return main[0] ?? ''
  if (asked === '')
    throw new ApiStatus(
      400,
      'BadRequest',
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
    )
  if (!names.includes(asked))
    throw new ApiStatus(400, 'BadRequest', `container ${asked} is not valid for pod ${pod.metadata.name}`)
  return asked
}

function statusOf(pod: KubeObject, container: string) {
  const status = tree(pod.status)
  return [...trees(status.initContainerStatuses), ...trees(status.containerStatuses)].find(
    ({ name }) => text(name) === container,
  )
}
