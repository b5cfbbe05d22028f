import type { DatabaseSync } from 'node:sqlite'
import { LIMITS } from '../lib/limits.ts'
import type { AuditEntry, CroftEvent, ResourceRecord } from '../model/record.ts'
import { readIntention, savedIntention } from '../model/shown-step.ts'
import { StaleEpoch, type Store, StoreMoved } from './port.ts'
import { connect, explained, identify, prepareFile, sameFile } from './sqlite-file.ts'

export interface SqliteOptions {
  /** Told once when a damaged file had to be moved aside. */
  readonly warn?: (message: string) => void
  /** Returns why the database must not be used: its content has moved. Called before each epoch and effect. */
  readonly moved?: () => string | undefined
}

/** The file that this store writes to is no longer the one at its path, so no other process can see its epoch. */
class StoreReplaced extends StaleEpoch {
  constructor(path: string, epoch: number) {
    super(epoch, 0)
    this.name = 'StoreReplaced'
    this.message = `the database ${path} was deleted or replaced while in use: start croft again and it rebuilds what it needs`
  }
}

/**
 * Opens the store in one file. Import this module when it is needed, not at the top of a program: it brings SQLite.
 *
 * Two connections, because `synchronous` belongs to a connection and forgetting to switch it would not be noticed
 * until a power cut. What must be on disk before an effect (epochs, intentions, tasks) goes through `journal`, where
 * every commit waits for the disk. All else goes through `cache`, where a power cut may take the last commits back
 * but never out of order. Both write the same log, so a journal commit makes all earlier ones durable too.
 * No transaction spans an await: the two can never wait for each other.
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  try {
    prepareFile(path, options.warn ?? ((message) => process.emitWarning(message)))
    return createSqliteStore(path, connect(path, 'FULL'), connect(path, 'NORMAL'), options.moved)
  } catch (error) {
    throw explained(error, path)
  }
}

/** The store on two open connections to the same file. Apart from opening so that a test can watch which is used. */
export function createSqliteStore(
  path: string,
  journal: DatabaseSync,
  cache: DatabaseSync,
  moved?: SqliteOptions['moved'],
): Store {
  const file = identify(path)
  const refuseMoved = () => {
    const why = moved?.()
    if (why !== undefined) throw new StoreMoved(why)
  }

  const read = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw explained(error, path)
    }
  }
  const transact = <T>(db: DatabaseSync, work: () => T): T =>
    read(() => {
      db.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        db.exec('COMMIT')
        return result
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw error
      }
    })
  const currentEpoch = (db: DatabaseSync) => Number(db.prepare('SELECT epoch FROM state').get()?.epoch)
  /** Writes under an epoch. Holds the write lock while it compares the epoch. */
  const write = <T>(db: DatabaseSync, epoch: number, work: () => T): T =>
    transact(db, () => {
      const current = currentEpoch(db)
      if (epoch !== current) throw new StaleEpoch(epoch, current)
      // Only the journal precedes effects, so only its writes check the directory entry.
      if (db === journal && !sameFile(file, identify(path))) throw new StoreReplaced(path, epoch)
      if (db === journal) refuseMoved()
      return work()
    })
  const bodies = <T>(sql: string, ...parameters: (string | number | null)[]): T[] =>
    read(() =>
      cache
        .prepare(sql)
        .all(...parameters)
        .map((row) => JSON.parse(String(row.body)) as T),
    )

  return {
    async beginEpoch() {
      return transact(journal, () => {
        refuseMoved()
        journal.exec('UPDATE state SET epoch = epoch + 1')
        return currentEpoch(journal)
      })
    },
    async isFresh() {
      return read(() => cache.prepare('SELECT complete FROM state').get()?.complete !== 1)
    },
    async markComplete(epoch) {
      write(cache, epoch, () => cache.exec('UPDATE state SET complete = 1'))
    },

    async intend(epoch, intention) {
      write(journal, epoch, () =>
        journal
          .prepare(
            'INSERT INTO intentions (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body',
          )
          .run(intention.id, JSON.stringify(savedIntention(intention))),
      )
    },
    async noteTask(epoch, id, taskId) {
      write(journal, epoch, () => {
        const { changes } = journal
          .prepare(`UPDATE intentions SET body = json_set(body, '$.state', 'started', '$.taskId', ?) WHERE id = ?`)
          .run(taskId, id)
        if (changes === 0) throw new Error(`there is no intention ${id} to note task ${taskId} for`)
      })
    },
    // Not durable: an intention that reappears after a power cut is checked and settled again.
    async settle(epoch, id) {
      write(cache, epoch, () => cache.prepare('DELETE FROM intentions WHERE id = ?').run(id))
    },
    async intentions() {
      return bodies<unknown>('SELECT body FROM intentions ORDER BY position').map(readIntention)
    },

    async putRecords(epoch, records) {
      if (records.length === 0) return write(cache, epoch, () => undefined)
      write(cache, epoch, () => {
        const put = cache.prepare(
          'INSERT INTO records (key, body) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET body = excluded.body',
        )
        for (const record of records) put.run(record.key, JSON.stringify(record))
      })
    },
    async dropRecord(epoch, key) {
      write(cache, epoch, () => cache.prepare('DELETE FROM records WHERE key = ?').run(key))
    },
    async records() {
      return bodies<ResourceRecord>('SELECT body FROM records ORDER BY key')
    },
    async record(key) {
      return bodies<ResourceRecord>('SELECT body FROM records WHERE key = ?', key)[0]
    },

    async appendEvents(epoch, events) {
      return write(cache, epoch, () => {
        const add = cache.prepare('INSERT INTO events (key, body) VALUES (?, ?) RETURNING seq')
        const appended = events.map((event): CroftEvent => {
          const body = JSON.stringify(event)
          const seq = Number(add.get(event.key ?? null, body)?.seq)
          return { ...(JSON.parse(body) as typeof event), seq }
        })
        const last = appended.at(-1)?.seq
        if (last !== undefined) cache.prepare('DELETE FROM events WHERE seq <= ?').run(last - LIMITS.eventsKept)
        return appended
      })
    },
    async events({ key, afterSeq, limit = LIMITS.eventsKept }) {
      // From the filter's end; reversed below if that was the newest.
      const rows = bodies<CroftEvent>(
        `SELECT json_set(body, '$.seq', seq) AS body FROM events
         WHERE (? IS NULL OR key = ?) AND seq > ?
         ORDER BY seq ${afterSeq === undefined ? 'DESC' : 'ASC'} LIMIT ?`,
        key ?? null,
        key ?? null,
        afterSeq ?? 0,
        Math.max(0, Math.floor(limit)),
      )
      return afterSeq === undefined ? rows.reverse() : rows
    },

    async getValue(name) {
      const row = read(() => cache.prepare('SELECT value FROM entries WHERE name = ?').get(name))
      return row === undefined ? undefined : String(row.value)
    },
    async valueNames() {
      return read(() => cache.prepare('SELECT name FROM entries ORDER BY name').all()).map((row) => String(row.name))
    },
    async putValue(epoch, name, value) {
      write(cache, epoch, () => putEntry(cache, name, value))
    },
    async keepValue(epoch, name, value) {
      write(journal, epoch, () => putEntry(journal, name, value))
    },

    async putRequests(name, value) {
      transact(cache, () => putEntry(cache, name, value))
    },

    async appendAudit(entry) {
      return transact(journal, () => {
        const body = JSON.stringify(entry)
        const seq = Number(journal.prepare('INSERT INTO audit (body) VALUES (?) RETURNING seq').get(body)?.seq)
        journal.prepare('DELETE FROM audit WHERE seq <= ?').run(seq - LIMITS.auditKept)
        return { ...(JSON.parse(body) as typeof entry), seq }
      })
    },
    async audit({ afterSeq, limit = LIMITS.auditKept }) {
      const rows = bodies<AuditEntry>(
        `SELECT json_set(body, '$.seq', seq) AS body FROM audit WHERE seq > ?
         ORDER BY seq ${afterSeq === undefined ? 'DESC' : 'ASC'} LIMIT ?`,
        afterSeq ?? 0,
        Math.max(0, Math.floor(limit)),
      )
      return afterSeq === undefined ? rows.reverse() : rows
    },

    async close() {
      for (const db of [cache, journal]) if (db.isOpen) db.close()
    },
  }
}

function putEntry(db: DatabaseSync, name: string, value: string): void {
  if (value.length > LIMITS.storedValueLength) throw new Error(`the value ${name} is too long to be kept`)
  db.prepare(
    'INSERT INTO entries (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ).run(name, value)
}
