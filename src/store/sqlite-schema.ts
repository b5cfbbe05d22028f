import type { DatabaseSync } from 'node:sqlite'

/** "crft" as a number in the file's header, to recognize our databases. */
export const APPLICATION_ID = 0x63726674

interface Migration {
  readonly up: string
  /** Reverts it. An older croft can then use the file again, without the newer data. */
  readonly down?: string
}

/**
 * Each entry lifts the schema by one version; `user_version` counts how many have run. Never edit one that was
 * released: a store that has it would not run it again.
 *
 * Bodies are JSON: the store returns whole nouns of the model, and no query needs a single field, so columns would only
 * follow each change of the model.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    up: `
  CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,
    complete INTEGER NOT NULL
  ) STRICT;
  INSERT INTO state (id, epoch, complete) VALUES (1, 0, 0);
  CREATE TABLE intentions (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE records (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, body TEXT NOT NULL) STRICT;
  CREATE TABLE entries (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  },
  {
    up: 'CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL) STRICT;',
    down: 'DROP TABLE audit;',
  },
  {
    // Audit entries are never changed, and only the oldest ones are removed.
    up: `
  CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END;
  CREATE TRIGGER audit_kept BEFORE DELETE ON audit
  WHEN OLD.seq > (SELECT max(seq) FROM audit) - 10000
  BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
  `,
    down: 'DROP TRIGGER audit_unchanged; DROP TRIGGER audit_kept;',
  },
]

/** The newest schema that this program understands. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Brings the schema up to date. Safe when two processes open a new file at once: the second finds it done. */
export function migrate(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const from = Number(db.prepare('PRAGMA user_version').get()?.user_version)
    for (const { up } of MIGRATIONS.slice(from)) db.exec(up)
    if (from < SCHEMA_VERSION)
      db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Takes the schema back by one version, so that the croft before this one can use the file. Answers the version. */
export function migrateDown(db: DatabaseSync): number {
  db.exec('BEGIN IMMEDIATE')
  try {
    const from = Number(db.prepare('PRAGMA user_version').get()?.user_version)
    const down = MIGRATIONS[from - 1]?.down
    if (down === undefined) throw new Error(`there is no way back from schema ${from}`)
    db.exec(down)
    db.exec(`PRAGMA user_version = ${from - 1}`)
    db.exec('COMMIT')
    return from - 1
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/**
 * Returns rows that pass SQLite's integrity check but cannot be read: one zeroed overflow page leaves a sound tree
 * around a body that is not JSON.
 */
export function unreadableRows(db: DatabaseSync): string | undefined {
  for (const table of ['intentions', 'records', 'events', 'audit']) {
    const bad = Number(db.prepare(`SELECT count(*) AS bad FROM ${table} WHERE NOT json_valid(body)`).get()?.bad)
    if (bad > 0) return `${bad} rows of ${table} are unreadable`
  }
  const rows = Number(db.prepare('SELECT count(*) AS rows FROM state').get()?.rows)
  return rows === 1 ? undefined : 'its row of state is missing'
}
