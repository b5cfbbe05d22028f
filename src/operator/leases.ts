import { createHash } from 'node:crypto'
import { type KubernetesClient, segment } from '../kubernetes/client.ts'
import { createInformer } from '../kubernetes/informer.ts'
import { at, type Foreign, labelsOf, nameOf, objectName } from '../kubernetes/objects.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Wire } from '../lib/wire.ts'
import { GATE, gateIn, isOpen } from './move/gate.ts'

/**
 * Replicas and their shards. A replica renews one Lease; the Lease of a shard names its holder and counts its epochs. A
 * shard is free if its holder is dead, so an idle shard costs no writes.
 */
export interface Leases {
  /** Identity of this process: a restarted pod gets a new one. */
  readonly identity: string
  run(signal: AbortSignal): Promise<void>
  synced(): boolean
  /** Renews our own Lease. False: it did not arrive. Throws if another process has our name. */
  renew(signal: AbortSignal): Promise<boolean>
  /** Identities that were renewed within their time, by our own clock; ourselves among them. */
  living(): ReadonlySet<string>
  holderOf(atom: string): string | undefined
  isMine(atom: string): boolean
  mine(): readonly string[]
  /** Reports whether this cluster holds the estate, as last seen. While the estate moves, no replica works. */
  isHere(): boolean
  /** Takes or retakes a shard. Returns its epoch, or undefined if another replica has it. */
  take(atom: string, atLeast: number, signal: AbortSignal): Promise<number | undefined>
  giveBack(atom: string): Promise<void>
  /** Releases our own Lease, so that the others need not wait for it to expire. */
  leave(): Promise<void>
}

export interface LeasesOptions {
  readonly client: KubernetesClient
  readonly wire: Wire
  readonly clock: Clock
  readonly random: Random
  readonly namespace: string
  readonly name: string
  onChange(): void
  warn(message: string): void
}

/** Two replicas must not share a name: each would take what the other holds. */
export class NameTaken extends Error {}

const SECONDS = 10
export const LEASE_MS = SECONDS * 1000
/** Leases of pods that are long gone are deleted. */
const FORGET_MS = 600_000
const ROLE = 'croft.dev/lease'
const SHARD = 'croft.dev/shard'

export function createLeases(options: LeasesOptions): Leases {
  const { client, clock, namespace } = options
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${segment(namespace)}/leases`
  const own = `croft-replica-${options.name}`
  const identity = `${options.name}_${Math.floor(options.random.next() * 2 ** 40).toString(36)}`
  const informer = createInformer({ ...options, path: collection, labelSelector: ROLE, onChange: options.onChange })
  /** Since when each Lease has the seen version, by our own clock: its times are by other computers' clocks. */
  const seen = new Map<string, { readonly version: string | undefined; readonly sinceMs: number }>()
  let joined: string | undefined

  const all = (role: 'replica' | 'shard'): readonly Foreign[] =>
    [...informer.objects().values()].filter((lease) => labelsOf(lease).get(ROLE) === role)

  const lives = (lease: Foreign): boolean => {
    const name = objectName(lease) ?? ''
    const version = nameOf(at(lease, 'metadata', 'resourceVersion'))
    const before = seen.get(name)
    const now = clock.monotonicMs()
    const since = before !== undefined && before.version === version ? before : { version, sinceMs: now }
    seen.set(name, since)
    return !isOver(lease, now - since.sinceMs)
  }

  const living = (): ReadonlySet<string> =>
    new Set([identity, ...all('replica').flatMap((lease) => (lives(lease) ? (holderIn(lease) ?? []) : []))])

  /** Asked for every shard in every second. */
  const keys = new Map<string, string>()
  const leaseOf = (atom: string): Foreign | undefined => {
    const key = keys.get(atom) ?? `${namespace}/${shardLease(atom)}`
    keys.set(atom, key)
    return informer.objects().get(key)
  }

  /** Asks the server before a take-over: our own watch may have stalled. */
  const isDead = async (holder: string, signal: AbortSignal): Promise<boolean> => {
    const name = `croft-replica-${holder.slice(0, holder.lastIndexOf('_'))}`
    const got = await client.get(`${collection}/${segment(name)}`, signal)
    if (got.is === 'error') return got.status === 404
    if (got.is !== 'answer') return false
    return holderIn(got.value) !== holder || !lives(got.value)
  }

  const write = async (
    name: string,
    there: Foreign | undefined,
    spec: Foreign,
    signal?: AbortSignal,
    atom?: string,
  ) => {
    const labels = { 'app.kubernetes.io/managed-by': 'croft', [ROLE]: atom === undefined ? 'replica' : 'shard' }
    const annotations = atom === undefined ? {} : { annotations: { [SHARD]: atom } }
    const doing = `write the Lease ${name}`
    const asked =
      there === undefined
        ? await client.create(
            collection,
            { metadata: { name, namespace, labels, ...annotations }, spec },
            doing,
            signal,
          )
        : await client.merge(
            `${collection}/${segment(name)}`,
            { metadata: { resourceVersion: at(there, 'metadata', 'resourceVersion') }, spec },
            doing,
            signal,
          )
    if (asked.is === 'answer') informer.note(asked.value)
    return asked
  }

  const time = () => new Date(clock.now()).toISOString().replace('Z', '000Z')

  /** Reads the Lease from the server, because the watched copy may be stale. */
  const fresh = async (atom: string, signal: AbortSignal): Promise<Foreign | 'none' | undefined> => {
    const got = await client.get(`${collection}/${segment(shardLease(atom))}`, signal)
    if (got.is === 'answer') return got.value
    return got.is === 'error' && got.status === 404 ? 'none' : undefined
  }

  const held = new Map<string, string | undefined>()

  const forget = async (): Promise<void> => {
    for (const lease of all('replica')) {
      const name = objectName(lease) ?? ''
      const since = seen.get(name)
      if (name === own || since === undefined || clock.monotonicMs() - since.sinceMs < FORGET_MS) continue
      const preconditions = { resourceVersion: since.version }
      await client.delete(`${collection}/${segment(name)}`, `delete the Lease ${name}`, { preconditions })
    }
  }

  return {
    identity,
    run: (signal) => informer.run(signal),
    synced: () => informer.synced(),
    living,
    holderOf: (atom) => {
      const lease = leaseOf(atom)
      return lease === undefined ? undefined : holderIn(lease)
    },
    isMine(atom) {
      const lease = leaseOf(atom)
      // A Lease that we have just written counts before the watch shows it.
      return held.has(atom) && (lease === undefined ? informer.trouble() === undefined : holderIn(lease) === identity)
    },
    mine: () => [...held.keys()],
    isHere() {
      const gate = informer.objects().get(`${namespace}/${GATE}`)
      return isOpen(gate === undefined ? undefined : gateIn(gate))
    },
    async renew(signal) {
      const got = await client.get(`${collection}/${segment(own)}`, signal)
      if (got.is === 'silence' || (got.is === 'error' && got.status !== 404)) return false
      const there = got.is === 'answer' ? got.value : undefined
      const other = there === undefined ? undefined : holderIn(there)
      if (joined !== undefined && other !== undefined && other !== identity)
        throw new NameTaken(`another process runs as ${options.name} in ${namespace}; give each replica its own --name`)
      const spec = { holderIdentity: identity, leaseDurationSeconds: SECONDS, renewTime: time() }
      const renewed = await write(own, there, joined === undefined ? { ...spec, acquireTime: time() } : spec, signal)
      // Another writer was faster: try again with the next renewal.
      if (renewed.is === 'error' && renewed.refusal.meaning !== 'waiting') options.warn(renewed.refusal.message)
      if (renewed.is !== 'answer') return false
      joined = identity
      await forget()
      return true
    },
    async take(atom, atLeast, signal) {
      // Read from the server each time: a replica that looked before the gate was shut finds its store closed.
      const gate = await client.get(`${collection}/${GATE}`, signal)
      const open = gate.is === 'answer' ? isOpen(gateIn(gate.value)) : gate.is === 'error' && gate.status === 404
      if (!open) return undefined
      const got = await fresh(atom, signal)
      if (got === undefined || signal.aborted) return undefined
      const there = got === 'none' ? undefined : got
      const holder = there === undefined ? undefined : holderIn(there)
      if (holder !== undefined && holder !== identity && !(await isDead(holder, signal))) return undefined
      const before = Number(at(there, 'spec', 'leaseTransitions') ?? 0)
      const epoch = Math.max(Number.isSafeInteger(before) ? before + 1 : 1, atLeast)
      const spec = {
        holderIdentity: identity,
        leaseDurationSeconds: SECONDS,
        leaseTransitions: epoch,
        acquireTime: time(),
        renewTime: time(),
      }
      const taken = await write(shardLease(atom), there, spec, signal, atom)
      if (taken.is !== 'answer') return undefined
      held.set(atom, nameOf(at(taken.value, 'metadata', 'resourceVersion')))
      return epoch
    },
    async giveBack(atom) {
      const version = held.get(atom)
      held.delete(atom)
      const there = { metadata: { resourceVersion: version } }
      await write(shardLease(atom), there, { holderIdentity: '', leaseDurationSeconds: 1 }, undefined, atom)
    },
    async leave() {
      if (joined !== undefined) await client.delete(`${collection}/${segment(own)}`, `delete the Lease ${own}`)
    },
  }
}

function holderIn(lease: Foreign): string | undefined {
  const holder = at(lease, 'spec', 'holderIdentity')
  return typeof holder === 'string' && holder !== '' ? holder : undefined
}

/** Reports whether a Lease was not renewed for its whole duration, by our own clock alone. */
export function isOver(lease: Foreign, unchangedMs: number): boolean {
  if (holderIn(lease) === undefined) return true
  const seconds = Number(at(lease, 'spec', 'leaseDurationSeconds') ?? SECONDS)
  return unchangedMs >= (Number.isFinite(seconds) ? Math.max(1, seconds) : SECONDS) * 1000
}

/** Names of objects are short and have few characters. */
export function shardLease(atom: string): string {
  return `croft-shard-${digestOf(atom)}`
}

export function shardStore(atom: string): string {
  return `croft-state-${digestOf(atom)}`
}

function digestOf(atom: string): string {
  return createHash('sha256').update(atom).digest('hex').slice(0, 12)
}
