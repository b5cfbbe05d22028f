import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** The process that holds a database. */
export interface LockOwner {
  readonly pid: number
  readonly host: string
  readonly sinceMs: number
}

/** Locks of this process, kept alive: a garbage-collected handle would release its lock. */
const held = new Set<DatabaseSync>()

export type Locked = { readonly got: true; release(): void } | { readonly got: false; readonly owner?: LockOwner }

/**
 * Locks a database for one controller. The lock is an open transaction on a file beside it: the kernel ends it with the
 * process, so that no stale lock remains and no reused process id is confused. Another file names the holder, for
 * people only.
 */
export function lockDatabase(path: string, owner: LockOwner): Locked {
  const lock = `${path}.lock`
  closeSync(openSync(lock, 'a', 0o600))
  const db = new DatabaseSync(lock, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (!(error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY)) throw error
    const known = readOwner(`${path}.owner`)
    return { got: false, ...(known === undefined ? {} : { owner: known }) }
  }
  held.add(db)
  writeFileSync(`${path}.owner`, JSON.stringify(owner), { mode: 0o600 })
  return {
    got: true,
    release() {
      held.delete(db)
      if (!db.isOpen) return
      db.exec('ROLLBACK')
      db.close()
    },
  }
}

const BUSY = 5

function readOwner(file: string): LockOwner | undefined {
  try {
    const { pid, host, sinceMs } = JSON.parse(readFileSync(file, 'utf8')) as LockOwner
    return { pid: Number(pid), host: String(host).slice(0, 100), sinceMs: Number(sinceMs) }
  } catch {
    return undefined
  }
}
