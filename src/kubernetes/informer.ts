import { type Backoff, backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import type { Wire } from '../lib/wire.ts'
import type { KubernetesClient } from './client.ts'
import { type ChangedObject, createInformedObjects } from './informed-objects.ts'
import type { Foreign } from './objects.ts'
import { type WatchEvent, watch } from './watch.ts'

/** The objects of one kind, kept up to date by one list and then by watches. */
export interface Informer {
  /** By `namespace/name`, or `name`. */
  objects(): ReadonlyMap<string, Foreign>
  /** True after the first list. False again while the kind is not served: then a missing object proves nothing. */
  synced(): boolean
  /**
   * Reports whether the kind is no longer served and `objects()` holds its last ones: none was deleted shortly before,
   * or the kind has been away for a while. Deleting a definition deletes its objects first, so a recently deleted one
   * may still be declared until the definition has had time to return.
   */
  vanished(): boolean
  /** Returns why there is no list, or why the last watch broke. */
  trouble(): string | undefined
  /** Takes what a write answered, so that the next look does not see an older version. */
  note(object: Foreign): void
  run(signal: AbortSignal): Promise<void>
}

export interface InformerOptions {
  readonly client: KubernetesClient
  readonly wire: Wire
  readonly clock: Clock
  readonly random: Random
  /** `/apis/croft.dev/v1alpha1/machines`. */
  readonly path: string
  readonly labelSelector?: string
  /** Returns the part of an object to keep. Absent: all but the field managers. */
  keep?(object: Foreign): Foreign
  /** Called after a change of one object, or of a list. Holds no queue. */
  onChange(changed?: ChangedObject): void
}

const AGAIN: Backoff = { baseMs: 500, factor: 2, maxMs: 30_000 }
/** Minimum duration between watches, if a server ends each of them at once. */
const SHORTEST_WATCH_MS = 1_000
const SLACK_MS = 10_000
/** Deleting a definition deletes its objects one by one before it is gone itself. */
const VANISHED_MS = 600_000

export function createInformer(options: InformerOptions): Informer {
  const { client, wire, clock, path, random } = options
  const select = options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }
  const objects = createInformedObjects((object) => options.keep?.(object) ?? object)
  let synced = false
  /** When the server stopped serving the kind. */
  let lostMs: number | undefined
  /** When an object was last seen to go. */
  let departedMs = Number.NEGATIVE_INFINITY
  let trouble: string | undefined
  let failures = 0

  const rest = async (why: string, signal: AbortSignal): Promise<void> => {
    trouble = why
    failures++
    await clock.sleep(backoffMs(AGAIN, failures, random), signal)
  }

  /** The version to watch from; undefined when there is no list. */
  const listAnew = async (signal: AbortSignal): Promise<string | undefined> => {
    const listed = await client.listFrom(path, select, signal)
    if (signal.aborted) return undefined
    if (listed.is !== 'answer') {
      // A kind that is no longer served loses its objects without a notice: they are unknown from now on.
      if (listed.is === 'error' && listed.status === 404 && synced) {
        synced = false
        lostMs = clock.monotonicMs()
        options.onChange()
      }
      await rest(listed.is === 'error' ? listed.refusal.message : listed.message, signal)
      return undefined
    }
    objects.replace(listed.value.items, listed.value.length)
    synced = true
    lostMs = undefined
    trouble = undefined
    options.onChange()
    return listed.value.resourceVersion
  }

  /** Returns false if there are more objects than it keeps: then absence proves nothing until the next list. */
  const take = (event: WatchEvent): boolean => {
    const changed = objects.take(event)
    if (changed === undefined) return true
    if (event.type === 'DELETED') departedMs = clock.monotonicMs()
    options.onChange(changed)
    if (!objects.isTooMuch()) return true
    objects.clear()
    synced = false
    return false
  }

  /**
   * Runs one watch after the other, each from where the last one ended, until the server has dropped that version.
   * Limits its lists, if a server drops every version at once.
   */
  const follow = async (from: string, signal: AbortSignal): Promise<void> => {
    let resourceVersion = from
    while (!signal.aborted) {
      const begunMs = clock.monotonicMs()
      const watched = await bounded(resourceVersion, signal)
      if (signal.aborted) return
      const tookMs = clock.monotonicMs() - begunMs
      if (tookMs >= AGAIN.maxMs) failures = 0
      if (watched.is === 'gone') {
        if (tookMs < AGAIN.maxMs) await rest('what happened is forgotten at once', signal)
        return
      }
      if (!synced) return rest(`${path} has more than we take`, signal)
      ;({ resourceVersion } = watched)
      if (watched.is === 'ended') {
        trouble = undefined
        failures = 0
        const early = SHORTEST_WATCH_MS - tookMs
        if (early > 0) await clock.sleep(early, signal)
        continue
      }
      await rest(watched.is === 'error' ? watched.refusal.message : watched.message, signal)
      // A list shows whether the kind is still served.
      if (watched.is === 'error' && watched.status === 404) return
    }
  }

  /** Limits a watch's duration: a silently dead connection would hang for ever. The server ends watches earlier. */
  const bounded = async (resourceVersion: string, signal: AbortSignal) => {
    const late = new AbortController()
    const both = AbortSignal.any([signal, late.signal])
    const over = new AbortController()
    void clock.sleep(LIMITS.watchSeconds * 1000 + SLACK_MS, over.signal).then(() => late.abort())
    try {
      const onEvent = (event: WatchEvent) => {
        if (!late.signal.aborted && !take(event)) late.abort()
      }
      return await watch(wire, path, { resourceVersion, ...select }, onEvent, both)
    } finally {
      over.abort()
    }
  }

  return {
    objects: () => objects.all(),
    synced: () => synced,
    vanished: () =>
      lostMs !== undefined && (lostMs - departedMs > VANISHED_MS || clock.monotonicMs() - lostMs > VANISHED_MS),
    trouble: () => trouble,
    note: (object) => objects.note(object),
    async run(signal) {
      while (!signal.aborted) {
        const from = await listAnew(signal)
        if (from !== undefined) await follow(from, signal)
      }
    },
  }
}
