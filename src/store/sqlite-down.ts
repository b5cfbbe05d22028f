import { DatabaseSync } from 'node:sqlite'
import { LIMITS } from '../lib/limits.ts'
import { explained } from './sqlite-file.ts'
import { APPLICATION_ID, migrateDown } from './sqlite-schema.ts'

/** Downgrades a database by one version of its schema. No other process may have it open. Returns the new version. */
export function takeSchemaBack(path: string): number {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { readOnly: false, timeout: LIMITS.storeBusyMs })
    if (Number(db.prepare('PRAGMA application_id').get()?.application_id) !== APPLICATION_ID)
      throw new Error(`${path} is not a database of croft`)
    db.exec('PRAGMA synchronous = FULL')
    return migrateDown(db)
  } catch (error) {
    throw explained(error, path)
  } finally {
    if (db?.isOpen) db.close()
  }
}
