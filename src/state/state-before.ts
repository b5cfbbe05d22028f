import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { shellWord } from '../lib/shell-quoted.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { StateAccess } from './state-file.ts'
import { foldersWithoutNote } from './state-folder.ts'

/** More folders than this on one computer are not looked through. */
const MOST_FOLDERS = 50

/**
 * Looks for the history of a directory that was moved before its state folder had a note. Searches folders without a
 * note for records of the present declarations, and tells a person the command that brings one back: such a folder does
 * not name its directory, so none is taken automatically. Writes nothing.
 */
export async function stateFromBefore(
  runtime: Pick<StateAccess, 'openStore'>,
  file: string,
  { resources }: Estate,
): Promise<readonly string[]> {
  if (existsSync(file) || path.basename(file) !== 'croft.db' || resources.length === 0) return []
  const found: string[] = []
  const own = path.dirname(file)
  for (const folder of foldersWithoutNote(path.dirname(own)).slice(0, MOST_FOLDERS)) {
    const known = new Set((await recordsIn(runtime, folder)).map(({ key, uid }) => `${key} ${uid}`))
    const shared = resources.filter(({ key, uid }) => known.has(`${key} ${uid}`)).length
    if (shared === 0) continue
    found.push(
      `This directory has no history yet, and ${folder} has the history of a directory from before estates had a uid: it knows ${shared} of the ${resources.length} things declared here. If this is that directory, moved or renamed, bring its history here: mv ${shellWord(folder)} ${shellWord(own)}`,
    )
  }
  return found
}

/** Reads a copy, because opening a database may migrate it. */
async function recordsIn(runtime: Pick<StateAccess, 'openStore'>, folder: string): Promise<readonly ResourceRecord[]> {
  const copy = mkdtempSync(path.join(tmpdir(), 'croft-before-'))
  try {
    for (const name of ['croft.db', 'croft.db-wal'])
      if (existsSync(path.join(folder, name))) cpSync(path.join(folder, name), path.join(copy, name))
    const store = await runtime.openStore(path.join(copy, 'croft.db'))
    try {
      return await store.records()
    } finally {
      await store.close()
    }
  } catch {
    // Skip a database that is damaged, of a newer croft, or unreadable.
    return []
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
