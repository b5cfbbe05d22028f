import type { Asked, KubernetesClient } from '../../kubernetes/client.ts'
import { POWER_MANAGER } from '../../kubernetes/managers.ts'
import { at, type Foreign, recordOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { builtInKind } from '../../model/kube-object.ts'
import type { Preview } from '../../model/plan.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { ObjectWrite, Outcome, Refusal, Step } from '../../model/step.ts'
import { type DriverDeps, ObservationFailed } from '../port.ts'
import { type ClusterApi, groupPath, type TypeMeta } from './api.ts'
import { lookOf } from './marks.ts'
import { previewChanges } from './preview.ts'
import { withoutValues } from './reading.ts'

/** Makes the single call of a step. */
export async function send(
  client: KubernetesClient,
  step: Step,
  { api, deps }: { readonly api: ClusterApi; readonly deps: Pick<DriverDeps, 'resolveSecret'> },
  signal: AbortSignal,
): Promise<Outcome> {
  const write = writeOf(step)
  const doing = step.summary
  if (write.do === 'delete') {
    const { apiVersion, kind, uid, resourceVersion, propagationPolicy } = write
    const path = await pathFor(client, api, write.path, { apiVersion, kind }, signal)
    // Delete only the object that was read: one recreated meanwhile stays.
    const preconditions = defined({ uid, resourceVersion })
    const required = Object.keys(preconditions).length === 0 ? {} : { preconditions }
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, ...required }
    const asked = await client.delete(path, doing, options, signal)
    if (asked.is === 'error' && asked.status === 404) return { result: 'done' }
    return outcomeOf(asked, doing)
  }
  if (write.do === 'helm') throw new Error(`${doing} is not a call to the API of a cluster`)
  if (write.do === 'merge') {
    const asked = await client.merge(
      await pathFor(client, api, write.path, sortOf(write.body), signal),
      write.body,
      doing,
      signal,
    )
    return asked.is === 'error' && asked.status === 404 ? { result: 'done' } : outcomeOf(asked, doing)
  }
  const path = await applyPath(client, api, write, signal)
  const whole = await withValues(write, deps)
  const asked = await client.applyAs(path, whole, doing, signal)
  const ours = asked.is === 'error' && isOwnConflict(asked.body)
  return outcomeOf(ours ? await client.applyAs(`${path}&force=true`, whole, doing, signal) : asked, doing)
}

/**
 * Returns the effect of a step: the server computes it as a dry run, without resolving Secrets. Undefined if the server
 * cannot tell, or there is nothing to tell.
 */
export async function previewOf(
  client: KubernetesClient | undefined,
  api: ClusterApi,
  step: Step,
  observed: ObservedResource | undefined,
  signal: AbortSignal,
): Promise<Preview | undefined> {
  const write = writeOf(step)
  if (write.do !== 'apply') return undefined
  const object = write.body
  const live = observed === undefined ? undefined : lookOf(observed).object
  const shown = withoutValues(object)
  if (client === undefined) return live === undefined ? { changes: previewChanges(undefined, shown) } : undefined
  const path = await applyPath(client, api, write, signal)
  const asked = await client.applyAs(`${path}&dryRun=All`, object, step.summary, signal)
  if (asked.is === 'answer')
    return { changes: previewChanges(live, withoutValues({ ...asked.value, ...sortOf(object) })) }
  if (asked.is === 'silence') return undefined
  const { meaning, message } = refusalOfWrite(asked.status, asked.body, step.summary, asked.refusal)
  if (meaning === 'stalled') return { changes: [], refused: message }
  // The same apply creates its namespace or kind: until then only the written fields are known.
  return live === undefined ? { changes: previewChanges(undefined, shown) } : undefined
}

type Apply = Extract<ObjectWrite, { readonly do: 'apply' }>

function writeOf(step: Step): ObjectWrite {
  if (step.lane !== 'object')
    throw new Error(`${step.summary} (${step.lane}) is not a step about an object of a cluster`)
  return step.write
}

async function applyPath(
  client: KubernetesClient,
  api: ClusterApi,
  { path, body, as, force }: Apply,
  signal: AbortSignal,
): Promise<string> {
  const place = await pathFor(client, api, path, sortOf(body), signal)
  return `${place}?fieldManager=${as}${force === true ? '&force=true' : ''}`
}

function sortOf(object: Foreign): TypeMeta {
  return { apiVersion: textOf(object.apiVersion) ?? '', kind: textOf(object.kind) ?? '' }
}

/** Returns the path as the cluster itself names it: a learnt kind's name was only a guess. */
async function pathFor(
  client: KubernetesClient,
  api: ClusterApi,
  path: string,
  sort: TypeMeta,
  signal: AbortSignal,
): Promise<string> {
  const kind = builtInKind(sort) === undefined ? await api.kindOf(client, sort, signal) : undefined
  if (kind === undefined) return path
  const prefix = groupPath(sort.apiVersion)
  const steps = path.slice(prefix.length + 1).split('/')
  const name = steps.at(-1) ?? ''
  const namespace = kind.namespaced && steps[0] === 'namespaces' && steps.length === 4 ? `/namespaces/${steps[1]}` : ''
  return `${prefix}${namespace}/${kind.plural}/${name}`
}

async function withValues({ body, secrets }: Apply, deps: Pick<DriverDeps, 'resolveSecret'>): Promise<Foreign> {
  if (secrets === undefined) return body
  const data: Record<string, unknown> = { ...recordOf(body.data) }
  for (const [name, reference] of Object.entries(secrets)) {
    let value: string
    try {
      value = (await deps.resolveSecret(reference)).reveal()
    } catch {
      throw new ObservationFailed({
        reason: 'NoSecret',
        meaning: 'backoff',
        message: `the secret for data.${name} is not to be had`,
      })
    }
    data[name] = Buffer.from(value).toString('base64')
  }
  return { ...body, data }
}

function outcomeOf(asked: Asked<Foreign>, doing: string): Outcome {
  switch (asked.is) {
    case 'answer':
      return { result: 'done' }
    case 'error':
      return { result: 'refused', refusal: refusalOfWrite(asked.status, asked.body, doing, asked.refusal) }
    case 'silence':
      return asked.sent === 'no'
        ? { result: 'not-sent', message: asked.message }
        : { result: 'unclear', message: asked.message }
  }
}

/** Interprets an answer to a write beyond the client's generic meaning. */
export function refusalOfWrite(status: number, body: unknown, doing: string, known: Refusal): Refusal {
  const fought = conflictsIn(body)
  if (fought.length > 0) {
    const fields = fought.map((cause) => `${textOf(cause.field) ?? 'a field'} (${managerIn(cause.message)})`)
    const message = `could not ${doing}: others keep ${cleanText(fields.join(', '), 400)}; leave the fields out, or set force: true in the add-on`
    return { reason: 'FieldConflict', meaning: 'stalled', message }
  }
  const said = textOf(at(body, 'message')) ?? ''
  // A webhook without a running pod appears as an internal error; the connection is fine.
  if (/failed calling webhook/.test(said)) {
    return { reason: 'WebhookAway', meaning: 'waiting', message: `could not ${doing}: ${said}` }
  }
  // A field of a wrong type: the server reports an internal error, but is fine.
  if (/failed to create typed patch object/.test(said)) {
    return { reason: 'Invalid', meaning: 'stalled', message: `could not ${doing}: ${said}` }
  }
  // The namespace or the kind does not exist yet, or is being deleted.
  if (status === 404) return { reason: 'NotThereYet', meaning: 'waiting', message: known.message }
  if (/being terminated|is terminating/.test(said)) return { ...known, reason: 'Terminating', meaning: 'waiting' }
  return known
}

/** Reports whether the conflict is only with croft itself: replicas that a Power restored stay owned by it, too. */
function isOwnConflict(body: unknown): boolean {
  const fought = conflictsIn(body)
  return fought.length > 0 && fought.every(({ message }) => managerIn(message) === POWER_MANAGER)
}

function conflictsIn(body: unknown): readonly Foreign[] {
  return recordsOf(at(body, 'details', 'causes')).filter((cause) => cause.reason === 'FieldManagerConflict')
}

/** Returns kubectl from `conflict with "kubectl" using apps/v1`. */
function managerIn(message: unknown): string {
  return cleanText(/"([^"]{1,100})"/.exec(typeof message === 'string' ? message : '')?.[1] ?? 'somebody')
}
