import { LIMITS } from '../lib/limits.ts'
import type { AuditEntry, CroftEvent, Intention, ResourceRecord } from '../model/record.ts'
import { StaleEpoch, type Store } from './port.ts'

/** The data of a memory store. It outlives its handles, as a file outlives a process. */
export interface MemoryDisk {
  epoch: number
  complete: boolean
  lastSeq: number
  readonly intentions: Map<string, Intention>
  readonly records: Map<string, ResourceRecord>
  readonly values: Map<string, string>
  events: CroftEvent[]
  audit?: AuditEntry[]
}

export interface MemoryStore extends Store {
  /** Hand it to `createMemoryStore` for a second handle on the same data: a restarted or a rival process. */
  readonly disk: MemoryDisk
  /** A copy of the data as it is now; a store on it is what a restored backup is. */
  snapshot(): MemoryDisk
}

/** A store that lives as long as its disk does; for tests and simulations, and as the reference for the others. */
export function createMemoryStore(disk: MemoryDisk = emptyDisk()): MemoryStore {
  let open = true
  const reading = () => {
    if (!open) throw new Error('this store is closed')
  }
  const writing = (epoch: number) => {
    reading()
    if (epoch !== disk.epoch) throw new StaleEpoch(epoch, disk.epoch)
  }
  const putEntry = (name: string, value: string) => {
    if (value.length > LIMITS.storedValueLength) throw new Error(`the value ${name} is too long to be kept`)
    disk.values.set(name, value)
  }

  return {
    disk,
    snapshot: () => copyDisk(disk),

    async beginEpoch() {
      reading()
      disk.epoch += 1
      return disk.epoch
    },
    async isFresh() {
      reading()
      return !disk.complete
    },
    async markComplete(epoch) {
      writing(epoch)
      disk.complete = true
    },

    async intend(epoch, intention) {
      writing(epoch)
      disk.intentions.set(intention.id, frozenCopy(intention))
    },
    async noteTask(epoch, id, taskId) {
      writing(epoch)
      const intention = disk.intentions.get(id)
      if (intention === undefined) throw new Error(`there is no intention ${id} to note task ${taskId} for`)
      disk.intentions.set(id, frozenCopy({ ...intention, state: 'started', taskId }))
    },
    async settle(epoch, id) {
      writing(epoch)
      disk.intentions.delete(id)
    },
    async intentions() {
      reading()
      return [...disk.intentions.values()]
    },

    async putRecords(epoch, records) {
      writing(epoch)
      for (const record of records.map(frozenCopy)) disk.records.set(record.key, record)
    },
    async dropRecord(epoch, key) {
      writing(epoch)
      disk.records.delete(key)
    },
    async records() {
      reading()
      return [...disk.records.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    },
    async record(key) {
      reading()
      return disk.records.get(key)
    },

    async appendEvents(epoch, events) {
      writing(epoch)
      const appended = events.map((event, index) => frozenCopy({ ...event, seq: disk.lastSeq + index + 1 }))
      disk.lastSeq += appended.length
      disk.events = [...disk.events, ...appended].slice(-LIMITS.eventsKept)
      return appended
    },
    async events({ key, afterSeq, limit = LIMITS.eventsKept }) {
      reading()
      const ofKey = key === undefined ? disk.events : disk.events.filter((event) => event.key === key)
      return pageOf(ofKey, afterSeq, limit)
    },

    async getValue(name) {
      reading()
      return disk.values.get(name)
    },
    async valueNames() {
      reading()
      return [...disk.values.keys()].sort()
    },
    async putValue(epoch, name, value) {
      writing(epoch)
      putEntry(name, value)
    },
    async keepValue(epoch, name, value) {
      writing(epoch)
      putEntry(name, value)
    },

    async putRequests(name, value) {
      reading()
      putEntry(name, value)
    },

    async appendAudit(entry) {
      reading()
      const kept = disk.audit ?? []
      const added = frozenCopy({ ...entry, seq: (kept.at(-1)?.seq ?? 0) + 1 })
      disk.audit = [...kept, added].slice(-LIMITS.auditKept)
      return added
    },
    async audit({ afterSeq, limit = LIMITS.auditKept }) {
      reading()
      return pageOf(disk.audit ?? [], afterSeq, limit)
    },

    async close() {
      open = false
    },
  }
}

/** Returns the first entries after a sequence number, or the newest ones without it. */
function pageOf<T extends { readonly seq: number }>(
  all: readonly T[],
  afterSeq: number | undefined,
  limit: number,
): readonly T[] {
  const most = Math.max(0, Math.floor(limit))
  if (afterSeq === undefined) return all.slice(Math.max(0, all.length - most))
  return all.filter(({ seq }) => seq > afterSeq).slice(0, most)
}

function emptyDisk(): MemoryDisk {
  return {
    epoch: 0,
    complete: false,
    lastSeq: 0,
    intentions: new Map(),
    records: new Map(),
    values: new Map(),
    events: [],
  }
}

function copyDisk(disk: MemoryDisk): MemoryDisk {
  return {
    ...disk,
    intentions: new Map(disk.intentions),
    records: new Map(disk.records),
    values: new Map(disk.values),
    events: [...disk.events],
  }
}

/** Through JSON, so that what does not survive a real disk does not survive this one. */
function frozenCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'object' ? Object.freeze(part) : part)) as T
}
