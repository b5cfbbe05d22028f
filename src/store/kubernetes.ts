import { type Asked, segment } from '../kubernetes/client.ts'
import { at, type Foreign, nameOf } from '../kubernetes/objects.ts'
import { passing, patiently } from '../kubernetes/patience.ts'
import { LIMITS } from '../lib/limits.ts'
import type { AuditEntry, CroftEvent, ResourceRecord } from '../model/record.ts'
import { blockOf, blocksOf, bucketOf, headText, isOver, NO_HEAD, readHead, type StoreHead } from './kubernetes-head.ts'
import {
  collectionOf,
  deleteParts,
  drawn,
  frozen,
  type KubernetesPlace,
  labelsFor,
  leftovers,
  readParts,
  writeParts,
} from './kubernetes-parts.ts'
import { type ClosableStore, StaleEpoch, StoreMoved } from './port.ts'

/** The head as it was read: what a write is conditional on. */
interface ReadHead {
  readonly head: StoreHead
  /** Undefined: it does not exist yet. */
  readonly resourceVersion: string | undefined
}

/** The pending changes of a write. */
interface StoreDraft {
  head: Omit<StoreHead, 'sections' | 'commit'>
  get<T>(section: string): Promise<T | undefined>
  /** Undefined deletes the section. */
  set(section: string, value: unknown): void
}

const ATTEMPTS = 20
const VALUE = 'value/'

/**
 * A store in the Kubernetes API: one ConfigMap as the head, and immutable ones for large values. A write makes its
 * parts, then replaces the head on the condition of the version that it read: the write is atomic, and a writer of an
 * older epoch fails, because each new epoch replaces the head.
 */
export function openKubernetesStore(place: KubernetesPlace): ClosableStore {
  const path = `${collectionOf(place)}/${segment(place.name)}`
  const known = new Map<string, { readonly parts: string; readonly value: unknown }>()
  let last: ReadHead | undefined
  let open = true
  let queue: Promise<unknown> = Promise.resolve()

  const reading = () => {
    if (!open) throw new Error('this store is closed')
  }

  /** Callers of one turn share one request: it is sent after all of them have asked. */
  let asked: Promise<ReadHead> | undefined
  const look = (): Promise<ReadHead> => {
    asked ??= Promise.resolve().then(() => {
      asked = undefined
      return lookNow()
    })
    return asked
  }

  const lookNow = async (): Promise<ReadHead> => {
    reading()
    const got = await patiently(place.wait, () => place.client.get(path))
    if (got.is === 'error' && got.status === 404) last = { head: NO_HEAD, resourceVersion: undefined }
    else if (got.is !== 'answer') throw new Error(got.is === 'error' ? got.refusal.message : got.message)
    else {
      const resourceVersion = nameOf(at(got.value, 'metadata', 'resourceVersion'))
      if (last?.resourceVersion === resourceVersion && last !== undefined) return last
      const text = at(got.value, 'data', 'head')
      const head = typeof text === 'string' ? readHead(text) : undefined
      if (head === undefined || resourceVersion === undefined)
        throw new Error(
          `the ConfigMap ${place.namespace}/${place.name} is not a store of croft; delete it or name another`,
        )
      last = { head: frozen(JSON.stringify(head)), resourceVersion }
    }
    return last
  }

  /** Undefined: no such section. Throws Outdated if the head is stale. */
  const load = async (head: StoreHead, section: string): Promise<unknown> => {
    const parts = head.sections[section]
    if (parts === undefined) return undefined
    const cached = known.get(section)
    if (cached?.parts === parts.join()) return cached.value
    const value = await readParts(place, parts)
    if (value === undefined)
      throw new Outdated(
        `a part of the store ${place.namespace}/${place.name} is missing; delete that ConfigMap to begin anew`,
      )
    known.set(section, { parts: parts.join(), value })
    return value
  }

  /** Something that is read from several objects, again when they changed meanwhile. */
  const consistent = async <T>(
    read: (head: StoreHead, get: <V>(section: string) => Promise<V | undefined>) => Promise<T>,
  ) => {
    for (let attempt = 1; ; attempt++) {
      const { head } = await look()
      try {
        return await read(head, async <V>(section: string) => (await load(head, section)) as V | undefined)
      } catch (error) {
        if (!(error instanceof Outdated) || attempt === ATTEMPTS) throw error
        last = undefined
      }
    }
  }

  /** Serializes writes. `epoch` undefined: without an epoch. */
  const write = <T>(epoch: number | undefined, change: (draft: StoreDraft) => Promise<T> | T): Promise<T> => {
    const next = queue.then(() => commit(epoch, change))
    queue = next.catch(() => {})
    return next
  }

  const commit = async <T>(epoch: number | undefined, change: (draft: StoreDraft) => Promise<T> | T): Promise<T> => {
    reading()
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const fromCache = last !== undefined
      const { head, resourceVersion } = last ?? (await look())
      if (epoch !== undefined && epoch !== head.epoch) {
        // Another handle may have started this epoch since our last read.
        if (!fromCache) throw new StaleEpoch(epoch, head.epoch)
        last = undefined
        continue
      }
      const changed = new Map<string, unknown>()
      const { sections: _, commit: _before, ...facts } = head
      const draft: StoreDraft = {
        head: facts,
        get: async <V>(section: string) =>
          (changed.has(section) ? changed.get(section) : await load(head, section)) as V | undefined,
        set: (section, value) => void changed.set(section, value),
      }
      let result: T
      try {
        result = await change(draft)
      } catch (error) {
        if (!(error instanceof Outdated)) throw error
        last = undefined
        continue
      }
      if (changed.size === 0 && draft.head === facts) {
        // Nothing to write: ask the server whether the epoch is still current.
        if (!fromCache) return result
        last = undefined
        continue
      }
      if (await replace(head, resourceVersion, draft.head, changed)) return result
      last = undefined
    }
    throw new Error(`others wrote to the store ${place.namespace}/${place.name} ${ATTEMPTS} times while we tried to`)
  }

  /** Returns true when done; false if another writer was faster. */
  const replace = async (
    before: StoreHead,
    resourceVersion: string | undefined,
    facts: StoreDraft['head'],
    changed: ReadonlyMap<string, unknown>,
  ): Promise<boolean> => {
    const sections: Record<string, readonly string[]> = { ...before.sections }
    const made: string[] = []
    const replaced: string[] = []
    const id = drawn(place.random)
    for (const [section, value] of changed) {
      replaced.push(...(sections[section] ?? []))
      delete sections[section]
      if (value === undefined) continue
      const parts = await writeParts(place, before.epoch, value)
      made.push(...parts)
      sections[section] = parts
    }
    const next: StoreHead = { ...facts, sections, commit: id }
    const sent = await send(next, resourceVersion)
    if (sent !== 'done') {
      // If the result is unknown, a head may name the parts: the next epoch removes the orphans.
      if (sent === 'lost') await deleteParts(place, made)
      return false
    }
    for (const [section, value] of changed) {
      if (value === undefined) known.delete(section)
      else known.set(section, { parts: (sections[section] ?? []).join(), value: frozen(JSON.stringify(value)) })
    }
    await deleteParts(place, replaced)
    return true
  }

  const send = async (head: StoreHead, resourceVersion: string | undefined): Promise<'done' | 'lost' | 'unclear'> => {
    for (let attempt = 1; ; attempt++) {
      const asked = await sendOnce(head, resourceVersion)
      if (asked.is === 'answer') {
        const version = nameOf(at(asked.value, 'metadata', 'resourceVersion'))
        last = version === undefined ? undefined : { head: frozen(JSON.stringify(head)), resourceVersion: version }
        return 'done'
      }
      last = undefined
      const why = passing(asked)
      // A conflict; or the object is gone, or exists already.
      const lost = asked.is === 'error' && (asked.status === 409 || asked.status === 404)
      if (lost && attempt === 1) return 'lost'
      if (asked.is === 'error' && !lost && (why === undefined || place.wait === undefined))
        throw new Error(asked.refusal.message)
      if (asked.is === 'silence' && asked.sent === 'no' && place.wait === undefined) throw new Error(asked.message)
      if (why !== undefined) await place.wait?.(why, attempt)
      // The write may have arrived. If not, and no other writer came between, send it again.
      const now = await look()
      if (now.head.commit === head.commit) return 'done'
      if (place.wait === undefined || now.resourceVersion !== resourceVersion) return 'unclear'
    }
  }

  const sendOnce = (head: StoreHead, resourceVersion: string | undefined): Promise<Asked<Foreign>> => {
    const labels = labelsFor(place, head.epoch)
    const data = { head: headText(head) }
    const { name, namespace, client } = place
    return resourceVersion === undefined
      ? client.create(collectionOf(place), { metadata: { name, namespace, labels }, data }, `write ${name}`)
      : client.merge(path, { metadata: { resourceVersion, labels }, data }, `write ${name}`)
  }

  const put = (draft: StoreDraft, name: string, value: string) => {
    if (value.length > LIMITS.storedValueLength) throw new Error(`the value ${name} is too long to be kept`)
    draft.set(`${VALUE}${name}`, value)
  }

  const putValue = (epoch: number, name: string, value: string) =>
    write(epoch, async (draft) => {
      if ((await draft.get(`${VALUE}${name}`)) !== value) put(draft, name, value)
    })

  const append = async <E extends { readonly seq: number }>(
    draft: StoreDraft,
    log: 'events' | 'audit',
    added: readonly E[],
  ) => {
    const blocks = new Map<string, E[]>()
    for (const entry of added) {
      const block = blockOf(log, entry.seq)
      const entries = blocks.get(block) ?? [...((await draft.get<readonly E[]>(block)) ?? [])]
      entries.push(entry)
      blocks.set(block, entries)
    }
    for (const [block, entries] of blocks) draft.set(block, entries)
  }

  const readLog = async <E extends { readonly seq: number }>(log: 'events' | 'audit', kept: number) =>
    consistent(async (head, get) => {
      const entries: E[] = []
      for (const block of blocksOf(head, log)) entries.push(...((await get<readonly E[]>(block)) ?? []))
      return entries.slice(-kept)
    })

  const dropOld = async (log: 'events' | 'audit', draft: StoreDraft, lastSeq: number) => {
    const { head } = last ?? (await look())
    for (const block of blocksOf(head, log)) if (isOver(block, lastSeq, log)) draft.set(block, undefined)
  }

  return {
    async beginEpoch() {
      const epoch = await write(undefined, (draft) => {
        const { epoch: before, closedBy } = draft.head
        if (closedBy !== undefined && place.mover === undefined)
          throw new StoreMoved(`the store ${place.namespace}/${place.name} is closed by a move that is not over`)
        const next = place.epoch ?? before + 1
        if (next <= before) throw new StaleEpoch(next, before)
        draft.head = { ...draft.head, epoch: next, ...(place.mover === undefined ? {} : { closedBy: place.mover }) }
        return next
      })
      const { head } = await look()
      await deleteParts(place, await leftovers(place, epoch, new Set(Object.values(head.sections).flat())))
      return epoch
    },
    reopen: () =>
      write(undefined, (draft) => {
        const { closedBy, ...open } = draft.head
        if (closedBy === undefined) return
        if (closedBy !== place.mover) throw new StoreMoved(`the store ${place.name} is closed by another move`)
        draft.head = open
      }),
    isFresh: async () => !(await look()).head.complete,
    markComplete: (epoch) =>
      write(epoch, (draft) => {
        if (!draft.head.complete) draft.head = { ...draft.head, complete: true }
      }),

    intend: (epoch, intention) =>
      write(epoch, (draft) => {
        const { intentions } = draft.head
        const there = intentions.some(({ id }) => id === intention.id)
        const next = there
          ? intentions.map((one) => (one.id === intention.id ? intention : one))
          : [...intentions, intention]
        draft.head = { ...draft.head, intentions: next }
      }),
    noteTask: (epoch, id, taskId) =>
      write(epoch, (draft) => {
        const { intentions } = draft.head
        if (!intentions.some((one) => one.id === id))
          throw new Error(`there is no intention ${id} to note task ${taskId} for`)
        const next = intentions.map((one) => (one.id === id ? { ...one, state: 'started' as const, taskId } : one))
        draft.head = { ...draft.head, intentions: next }
      }),
    settle: (epoch, id) =>
      write(epoch, (draft) => {
        const left = draft.head.intentions.filter((one) => one.id !== id)
        if (left.length < draft.head.intentions.length) draft.head = { ...draft.head, intentions: left }
      }),
    intentions: async () => (await look()).head.intentions,

    async putRecords(epoch, records) {
      const given = records.map((record) => [record.key, JSON.stringify(record)] as const)
      await write(epoch, async (draft) => {
        const buckets = new Map<string, Record<string, ResourceRecord>>()
        for (const [key, text] of given) {
          const bucket = bucketOf(key)
          const there = buckets.get(bucket) ?? (await draft.get<Record<string, ResourceRecord>>(bucket)) ?? {}
          if (Object.hasOwn(there, key) && JSON.stringify(there[key]) === text) continue
          buckets.set(bucket, { ...there, [key]: JSON.parse(text) as ResourceRecord })
        }
        for (const [bucket, value] of buckets) draft.set(bucket, value)
      })
    },
    dropRecord: (epoch, key) =>
      write(epoch, async (draft) => {
        const bucket = bucketOf(key)
        const there = (await draft.get<Record<string, ResourceRecord>>(bucket)) ?? {}
        if (!Object.hasOwn(there, key)) return
        const { [key]: _, ...left } = there
        draft.set(bucket, Object.keys(left).length === 0 ? undefined : left)
      }),
    records: () =>
      consistent(async (head, get) => {
        const found: ResourceRecord[] = []
        for (const section of Object.keys(head.sections))
          if (section.startsWith('records/'))
            found.push(...Object.values((await get<Record<string, ResourceRecord>>(section)) ?? {}))
        return found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      }),
    record: (key) =>
      consistent(async (_head, get) => {
        const bucket = (await get<Record<string, ResourceRecord>>(bucketOf(key))) ?? {}
        return Object.hasOwn(bucket, key) ? bucket[key] : undefined
      }),

    appendEvents: (epoch, events) =>
      write(epoch, async (draft) => {
        if (events.length === 0) return []
        const { lastSeq } = draft.head
        const added = events.map(
          (event, index): CroftEvent => frozen(JSON.stringify({ ...event, seq: lastSeq + index + 1 })),
        )
        await append(draft, 'events', added)
        draft.head = { ...draft.head, lastSeq: lastSeq + added.length }
        await dropOld('events', draft, draft.head.lastSeq)
        return added
      }),
    async events({ key, afterSeq, limit = LIMITS.eventsKept }) {
      const most = Math.max(0, Math.floor(limit))
      const found = (await readLog<CroftEvent>('events', LIMITS.eventsKept)).filter(
        (event) => (key === undefined || event.key === key) && (afterSeq === undefined || event.seq > afterSeq),
      )
      return afterSeq === undefined ? found.slice(Math.max(0, found.length - most)) : found.slice(0, most)
    },

    getValue: (name) => consistent(async (_head, get) => get<string>(`${VALUE}${name}`)),
    valueNames: async () =>
      Object.keys((await look()).head.sections)
        .flatMap((section) => (section.startsWith(VALUE) ? [section.slice(VALUE.length)] : []))
        .sort(),
    putValue,
    keepValue: putValue,
    putRequests: (name, value) => write(undefined, (draft) => put(draft, name, value)),

    appendAudit: (entry) =>
      write(undefined, async (draft) => {
        const seq = draft.head.auditSeq + 1
        const added: AuditEntry = frozen(JSON.stringify({ ...entry, seq }))
        await append(draft, 'audit', [added])
        draft.head = { ...draft.head, auditSeq: seq }
        await dropOld('audit', draft, seq)
        return added
      }),
    async audit({ afterSeq, limit = LIMITS.auditKept }) {
      const found = (await readLog<AuditEntry>('audit', LIMITS.auditKept)).filter(({ seq }) => seq > (afterSeq ?? 0))
      return afterSeq === undefined ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit)
    },

    async close() {
      open = false
    },
  }
}

/** A part that the head named is gone: the head has been replaced since it was read. */
class Outdated extends Error {}
