import { blockedBy } from '../../kubernetes/api-errors.ts'
import { type Asked, type KubernetesClient, segment } from '../../kubernetes/client.ts'
import { POWER_MANAGER } from '../../kubernetes/managers.ts'
import { annotationsOf, at, type Foreign, nameOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { PowerSpec } from '../../model/power.ts'
import type { Outcome, Step } from '../../model/step.ts'
import { answeringWebhooks, goingTier, listing } from './describe.ts'
import { formatNodeMark, MARKS, readBefore, readNodeMark, TAINT } from './marks.ts'

const DONE: Outcome = { result: 'done' }

const PATHS: Readonly<Record<NonNullable<Step<'power'>['workload']>['kind'], readonly [string, string]>> = {
  Deployment: ['/apis/apps/v1', 'deployments'],
  StatefulSet: ['/apis/apps/v1', 'statefulsets'],
  CronJob: ['/apis/batch/v1', 'cronjobs'],
  Database: ['/apis/postgresql.cnpg.io/v1', 'clusters'],
}

/** Scales a workload to zero and records its replicas in the same write; an existing record stays. */
export async function pause(client: KubernetesClient, step: Step<'power'>, signal: AbortSignal): Promise<Outcome> {
  return onWorkload(client, step, signal, (object, kind) => {
    const known = annotationsOf(object).get(MARKS.before)
    const note = (before: number) => ({ [MARKS.before]: known ?? String(before) })
    switch (kind) {
      case 'CronJob':
        if (at(object, 'spec', 'suspend') === true) return undefined
        return { metadata: { annotations: note(1) }, spec: { suspend: true } }
      case 'Database':
        if (annotationsOf(object).get('cnpg.io/hibernation') === 'on') return undefined
        return { metadata: { annotations: { ...note(1), 'cnpg.io/hibernation': 'on' } } }
      default: {
        const replicas = Number(at(object, 'spec', 'replicas') ?? 1)
        if (replicas === 0) return undefined
        return { metadata: { annotations: note(replicas) }, spec: { replicas: 0 } }
      }
    }
  })
}

/** Restores the state in croft's note and deletes the note in one write. A later scaling stays. */
export async function restore(client: KubernetesClient, step: Step<'power'>, signal: AbortSignal): Promise<Outcome> {
  return onWorkload(client, step, signal, (object, kind) => {
    const before = readBefore(annotationsOf(object).get(MARKS.before))
    if (before === undefined) return undefined
    const gone = { [MARKS.before]: null }
    switch (kind) {
      case 'CronJob':
        return { metadata: { annotations: gone }, spec: { suspend: false } }
      case 'Database':
        return { metadata: { annotations: { ...gone, 'cnpg.io/hibernation': null } } }
      default: {
        const untouched = Number(at(object, 'spec', 'replicas') ?? 1) === 0
        return { metadata: { annotations: gone }, ...(untouched ? { spec: { replicas: before } } : {}) }
      }
    }
  })
}

async function onWorkload(
  client: KubernetesClient,
  { workload, summary }: Step<'power'>,
  signal: AbortSignal,
  change: (object: Foreign, kind: NonNullable<Step<'power'>['workload']>['kind']) => Foreign | undefined,
): Promise<Outcome> {
  if (workload === undefined) return { result: 'not-sent', message: `nobody said what is meant: ${summary}` }
  const [api, plural] = PATHS[workload.kind]
  const path = `${api}/namespaces/${segment(workload.namespace)}/${plural}/${segment(workload.name)}`
  return changed(client, path, summary, signal, (object) => change(object, workload.kind))
}

/** Cordons and taints a node and marks what croft set, in one write that fails if the node changed in between. */
export async function markNode(
  client: KubernetesClient,
  step: Step<'power'>,
  nowMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const path = `/api/v1/nodes/${segment(step.node ?? '')}`
  return changed(client, path, step.summary, signal, (node) => {
    const mark = readNodeMark(annotationsOf(node).get(MARKS.node))
    const unschedulable = at(node, 'spec', 'unschedulable') === true
    const taints = recordsOf(at(node, 'spec', 'taints'))
    const tainted = taints.some(({ key }) => key === TAINT.key)
    if (mark !== undefined && unschedulable && tainted) return undefined
    const bootId = textOf(at(node, 'status', 'nodeInfo', 'bootID'))
    const text = formatNodeMark({
      sinceMs: mark?.sinceMs ?? nowMs,
      // A cordon from before croft is a person's, and stays.
      cordoned: mark?.cordoned === true || !unschedulable,
      tainted: mark?.tainted === true || !tainted,
      ...(bootId === undefined ? {} : { bootId }),
    })
    return {
      metadata: { annotations: { [MARKS.node]: text } },
      spec: { unschedulable: true, taints: tainted ? taints : [...taints, TAINT] },
    }
  })
}

export async function unmarkNode(client: KubernetesClient, step: Step<'power'>, signal: AbortSignal): Promise<Outcome> {
  const path = `/api/v1/nodes/${segment(step.node ?? '')}`
  return changed(client, path, step.summary, signal, (node) => {
    const mark = readNodeMark(annotationsOf(node).get(MARKS.node))
    if (mark === undefined) return undefined
    const taints = recordsOf(at(node, 'spec', 'taints'))
    const left = mark.tainted ? taints.filter(({ key }) => key !== TAINT.key) : taints
    return {
      metadata: { annotations: { [MARKS.node]: null } },
      spec: {
        ...(mark.cordoned ? { unschedulable: null } : {}),
        ...(mark.tainted ? { taints: left.length === 0 ? null : left } : {}),
      },
    }
  })
}

/** Evicts the pods on a node once; if forced, deletes those that refused. The next pass repeats it. */
export async function drainNode(
  client: KubernetesClient,
  step: Step<'power'>,
  spec: PowerSpec,
  signal: AbortSignal,
): Promise<{ readonly outcome: Outcome; readonly blocked?: string }> {
  const node = step.node ?? ''
  const asked = await client.list('/api/v1/pods', { fieldSelector: `spec.nodeName=${node}` }, signal)
  if (asked.is !== 'answer') return { outcome: outcomeOf(asked) }
  const answering = await answeringWebhooks(listing(client, signal))
  const staying = asked.value.filter((pod) => {
    const tier = goingTier(pod, spec, answering)
    if (tier === undefined || (step.sparesClients === true && tier === 'storage-clients')) return false
    return at(pod, 'metadata', 'deletionTimestamp') === undefined
  })
  let blocked: string | undefined
  let trouble: Outcome | undefined
  await inParallel(staying, LIMITS.evictionsAtOnce, async (pod) => {
    const [namespace, name] = [nameOf(at(pod, 'metadata', 'namespace')), nameOf(at(pod, 'metadata', 'name'))]
    if (namespace === undefined || name === undefined) return
    const path = `/api/v1/namespaces/${segment(namespace)}/pods/${segment(name)}`
    const answer =
      step.force === true
        ? await client.delete(path, `delete ${namespace}/${name}`, {}, signal)
        : await client.evict(namespace, name, signal)
    if (answer.is === 'answer' || (answer.is === 'error' && answer.status === 404)) return
    const budget = answer.is === 'error' ? blockedBy(answer.body) : undefined
    if (budget !== undefined) blocked ??= `${namespace}/${name}: ${budget}`
    else trouble ??= outcomeOf(answer)
  })
  return { outcome: trouble ?? DONE, ...(blocked === undefined ? {} : { blocked }) }
}

/** Reads an object and sends the change with its version, so that it never overwrites another change. */
async function changed(
  client: KubernetesClient,
  path: string,
  doing: string,
  signal: AbortSignal,
  change: (object: Foreign) => Foreign | undefined,
): Promise<Outcome> {
  const asked = await client.get(path, signal)
  // A deleted object needs no change.
  if (asked.is === 'error' && asked.status === 404) return DONE
  if (asked.is !== 'answer') return outcomeOf(asked)
  const patch = change(asked.value)
  if (patch === undefined) return DONE
  const resourceVersion = at(asked.value, 'metadata', 'resourceVersion')
  const metadata = typeof patch.metadata === 'object' ? patch.metadata : {}
  return outcomeOf(
    await client.merge(
      `${path}?fieldManager=${POWER_MANAGER}`,
      { ...patch, metadata: { ...metadata, resourceVersion } },
      doing,
      signal,
    ),
  )
}

function outcomeOf(asked: Asked<unknown>): Outcome {
  if (asked.is === 'answer') return DONE
  if (asked.is === 'error') return { result: 'refused', refusal: asked.refusal }
  return asked.sent === 'no'
    ? { result: 'not-sent', message: asked.message }
    : { result: 'unclear', message: asked.message }
}
