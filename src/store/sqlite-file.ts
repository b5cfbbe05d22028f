import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LIMITS } from '../lib/limits.ts'
import { APPLICATION_ID, migrate, SCHEMA_VERSION, unreadableRows } from './sqlite-schema.ts'

// SQLite's result codes, low byte: https://www.sqlite.org/rescode.html
const WAL_PAUSE_MS = 50
const BUSY = 5
const READ_ONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const NOT_A_DATABASE = 26
const GENERIC = 1

/** The first bytes of every database file. */
const MAGIC = Buffer.from('SQLite format 3\0')

/** The file that a path pointed to when it was opened. */
export interface FileIdentity {
  readonly device: number
  readonly inode: number
}

/**
 * Prepares the file: existing, private, sound, of our schema. A damaged one is moved aside: a new store costs only a
 * look at the world, while refusing to start would cost a person's evening ([F-25]). A sound file that is foreign, or
 * of a newer croft, is left unchanged.
 */
export function prepareFile(path: string, warn: (message: string) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const inspected = identify(path)
  const damage = inspect(path)
  if (damage === undefined) return
  // Another process may have come to the same judgement and put a new file here meanwhile: leave that one alone.
  if (sameFile(inspected, identify(path))) {
    const aside = moveAside(path)
    warn(
      `the database ${path} is damaged (${damage}); it was moved to ${aside} and a new one was begun. ` +
        'Nothing is lost but history: what is managed is found again from Git and the marks',
    )
  }
  createPrivately(path)
  const again = inspect(path)
  if (again !== undefined) throw new Error(`a new database at ${path} cannot be read back: ${again}`)
}

/** Opens one connection. Its durability is fixed for its life: see openSqliteStore. */
export function connect(path: string, durability: 'FULL' | 'NORMAL'): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: LIMITS.storeBusyMs })
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durability}`)
  return db
}

export function identify(path: string): FileIdentity | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && { device: stat.dev, inode: stat.ino }
}

export function sameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a !== undefined && b !== undefined && a.device === b.device && a.inode === b.inode
}

/** Translates SQLite errors that a person can correct, with the file's name and advice. */
export function explained(error: unknown, path: string): unknown {
  switch (resultCode(error)) {
    case BUSY:
      return new Error(
        `the database ${path} has been locked by another program for ${LIMITS.storeBusyMs / 1000} s: end that program`,
        { cause: error },
      )
    case FULL:
      return diskFull(path, error)
    case READ_ONLY:
    case CANNOT_OPEN:
      return new Error(
        `the database ${path} cannot be written: who runs croft must own it, on a disk that takes writes`,
        {
          cause: error,
        },
      )
    case IO_ERROR:
      // A full disk makes SQLite report an I/O error for the files beside the database.
      if (isFull(path)) return diskFull(path, error)
      return new Error(`the database ${path} cannot be read or written: the disk fails. Look into the system's log`, {
        cause: error,
      })
    case CORRUPT:
    case NOT_A_DATABASE:
      return new Error(`the database ${path} was damaged while in use: start croft again and it begins a new one`, {
        cause: error,
      })
    default:
      return error
  }
}

function diskFull(path: string, cause: unknown): Error {
  return new Error(
    `the database ${path} cannot be written: the disk is full. Free some space there, or name another place with --state, and run it again`,
    { cause },
  )
}

/** Reports whether the disk is full. */
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize < 64 * 1024
  } catch {
    return false
  }
}

/** Returns the damage; undefined if the file is sound and of the newest schema. Throws if a person must decide. */
function inspect(path: string): string | undefined {
  // SQLite takes a file of a few bytes for an empty database and would write over it.
  if (!startsLikeDatabase(path)) return 'it is not a database'
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { timeout: LIMITS.storeBusyMs })
    refuseForeign(db, path)
    const checked = db.prepare('PRAGMA quick_check(1)').get()?.quick_check
    if (checked !== 'ok') return String(checked).split('\n').at(-1)
    beginWal(db)
    db.exec('PRAGMA synchronous = FULL')
    migrate(db)
    return unreadableRows(db)
  } catch (error) {
    const code = resultCode(error)
    if (code === CORRUPT || code === NOT_A_DATABASE) return (error as Error).message
    // A missing table or column: the file is sound, but its schema does not match its version.
    if (code === GENERIC) return (error as Error).message
    throw explained(error, path)
  } finally {
    if (db?.isOpen) db.close()
  }
}

/**
 * Turning a new file to WAL asks for it alone, and SQLite refuses at once, without the patience it has otherwise, when
 * another process does the same in that moment.
 */
function beginWal(db: DatabaseSync): void {
  for (let tries = 1; ; tries++) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (resultCode(error) !== BUSY || tries * WAL_PAUSE_MS >= LIMITS.storeBusyMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_PAUSE_MS)
    }
  }
}

function startsLikeDatabase(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(MAGIC.length)
    const length = readSync(file, start)
    return length === 0 || start.equals(MAGIC)
  } finally {
    closeSync(file)
  }
}

/** Before anything else is read or written: another program's data is not ours to judge or to change. */
function refuseForeign(db: DatabaseSync, path: string): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  const application = Number(db.prepare('PRAGMA application_id').get()?.application_id)
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count)
  if (pages === 0) return
  if (application !== APPLICATION_ID) {
    const tables = Number(db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables)
    if (tables > 0) throw new Error(`${path} is a database of another program: name another file for croft's`)
    return
  }
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `the database ${path} was written by a newer croft (schema ${version}, this one knows ${SCHEMA_VERSION}): ` +
        'run that croft, or move the file away and it is rebuilt from Git and the marks',
    )
  }
}

/** The mode is set before SQLite sees the file; the files that it puts beside it (-wal, -shm) take the same mode. */
function createPrivately(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) !== 0) chmodSync(path, 0o600)
}

/** The database first: a log without its database is empty to SQLite, a database without its log is an older one. */
function moveAside(path: string): string {
  for (let n = 1; n <= LIMITS.damagedStoresKept; n++) {
    const aside = `${path}.damaged-${n}`
    if (existsSync(aside)) continue
    renameSync(path, aside)
    for (const suffix of ['-wal', '-shm']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    }
    return aside
  }
  throw new Error(
    `the database ${path} is damaged, and ${LIMITS.damagedStoresKept} damaged ones are already in that folder: remove them`,
  )
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return Number(error.errcode) & 0xff
}
