import { type KubernetesClient, segment } from '../kubernetes/client.ts'
import { at, type Foreign, nameOf } from '../kubernetes/objects.ts'
import type { Clock } from '../lib/clock.ts'

export interface LeaseOptions {
  readonly client: KubernetesClient
  readonly clock: Clock
  readonly namespace: string
  readonly name: string
  /** Who we are: the name of the pod. */
  readonly holder: string
}

/** A Lease that we hold: who works now. Whose writes count, the epoch of the store decides. */
export interface HeldLease {
  /** Renews until the signal, or until it is lost; then it resolves. */
  keep(signal: AbortSignal): Promise<void>
  /** Gives it back, so that another need not wait for its end. */
  release(): Promise<void>
}

const SECONDS = 10
const RENEW_MS = 3_000
const RETRY_MS = 1_000

/** Waits until the Lease is ours. Undefined: the signal came first. */
export async function acquireLease(options: LeaseOptions, signal: AbortSignal): Promise<HeldLease | undefined> {
  const { client, clock, holder } = options
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${segment(options.namespace)}/leases`
  const path = `${collection}/${segment(options.name)}`
  /** The version that was last seen, and since when by our own clock: the times in it are of another computer's. */
  let seen: { readonly version: string | undefined; readonly sinceMs: number } | undefined
  let version: string | undefined

  const spec = (transitions: number) => {
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z')
    return {
      holderIdentity: holder,
      leaseDurationSeconds: SECONDS,
      renewTime: now,
      leaseTransitions: transitions,
      acquireTime: now,
    }
  }

  const attempt = async (): Promise<boolean> => {
    const got = await client.get(path, signal)
    if (got.is === 'error' && got.status === 404) {
      const body = { metadata: { name: options.name, namespace: options.namespace }, spec: spec(0) }
      const made = await client.create(collection, body, `take the Lease ${options.name}`, signal)
      return made.is === 'answer' && took(made.value)
    }
    if (got.is !== 'answer') return false
    const there = nameOf(at(got.value, 'metadata', 'resourceVersion'))
    if (seen?.version !== there || seen === undefined) seen = { version: there, sinceMs: clock.monotonicMs() }
    if (!isFree(got.value, clock.monotonicMs() - seen.sinceMs)) return false
    const transitions = Number(at(got.value, 'spec', 'leaseTransitions') ?? 0) + 1
    const body = { metadata: { resourceVersion: there }, spec: spec(transitions) }
    const taken = await client.merge(path, body, `take the Lease ${options.name}`, signal)
    return taken.is === 'answer' && took(taken.value)
  }

  const took = (object: Foreign): boolean => {
    version = nameOf(at(object, 'metadata', 'resourceVersion'))
    return true
  }

  while (!(await attempt())) {
    if (signal.aborted) return undefined
    await clock.sleep(RETRY_MS, signal)
    if (signal.aborted) return undefined
  }

  return {
    async keep(until) {
      while (!until.aborted) {
        await clock.sleep(RENEW_MS, until)
        if (until.aborted) return
        const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
        const body = { metadata: { resourceVersion: version }, spec: { renewTime } }
        const renewed = await client.merge(path, body, `renew the Lease ${options.name}`, until)
        if (renewed.is === 'answer') {
          took(renewed.value)
          continue
        }
        // Somebody else wrote it: a holder that was paused for too long. While the API is away nobody can take it, and
        // nothing can be begun either: every effect needs a write first.
        const lost = renewed.is === 'error' && (renewed.status === 409 || renewed.status === 404)
        const there = lost ? await client.get(path, until) : undefined
        if (there?.is === 'answer' && at(there.value, 'spec', 'holderIdentity') === holder) took(there.value)
        else if (there?.is === 'answer' || (there?.is === 'error' && there.status === 404)) return
      }
    },
    async release() {
      const body = { metadata: { resourceVersion: version }, spec: { holderIdentity: '', leaseDurationSeconds: 1 } }
      await client.merge(path, body, `give back the Lease ${options.name}`)
    },
  }
}

/** Nobody's, or not renewed for its whole duration while we looked. Clocks of other computers have no say. */
export function isFree(lease: Foreign, unchangedMs: number): boolean {
  const holder = at(lease, 'spec', 'holderIdentity')
  if (typeof holder !== 'string' || holder === '') return true
  const seconds = Number(at(lease, 'spec', 'leaseDurationSeconds') ?? SECONDS)
  return unchangedMs >= (Number.isFinite(seconds) ? Math.max(1, seconds) : SECONDS) * 1000
}
