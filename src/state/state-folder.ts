import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { yamlLibrary } from '../lib/yaml-library.ts'
import { walkFiles } from '../source/files/walk-files.ts'

const NOTE = 'estate.json'
const UID = /^[0-9a-f]{16}$/
/** A manifest larger than this names no estate. */
const MOST_BYTES = 1_048_576

/** A state folder's note: its estate, and where the directory was at the last write. */
interface Note {
  readonly uid: string
  readonly directory: string
}

/**
 * Returns the folder with the database of a directory. It is found by the path and, after a rename or a move, by the
 * uid of the Estate: a folder of that estate whose directory is gone. A copy beside the original gets a separate
 * folder: the records of one checkout are no proof for another that may be behind.
 */
export function stateFolder(home: string, identity: string): string {
  const own = path.join(home, 'croft', named(identity))
  const note = noteIn(own)
  if (existsSync(own) && (note === undefined || isAt(note, identity))) return own
  const uid = uidIn(identity)
  if (uid === undefined) return own
  const [found] = foldersOf(home, uid)
    .filter((folder) => isAt(noteIn(folder), identity) || isGone(noteIn(folder)))
    .toSorted((a, b) => Number(isAt(noteIn(b), identity)) - Number(isAt(noteIn(a), identity)) || newest(b) - newest(a))
  if (found !== undefined) return found
  // Another directory now has this path, and the folder belongs to the moved one.
  return existsSync(own) ? path.join(home, 'croft', named(`${identity}\n${uid}`)) : own
}

/** Folders of the same estate that hold a vault: what clusters are made of is the same for every checkout. */
export function vaultsOf(home: string, identity: string): readonly string[] {
  const uid = uidIn(identity)
  if (uid === undefined) return []
  return foldersOf(home, uid)
    .map((folder) => path.join(folder, 'vault'))
    .filter(hasVault)
}

export function hasVault(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0
}

/** Returns folders with a database but without a note: from before estates had a uid, or of a directory without one. */
export function foldersWithoutNote(all: string): readonly string[] {
  if (!existsSync(all)) return []
  return readdirSync(all)
    .map((name) => path.join(all, name))
    .filter((folder) => existsSync(path.join(folder, 'croft.db')) && noteIn(folder) === undefined)
}

/** Notes whose folder it is, so that it is found again wherever the directory goes. */
export function noteEstate(database: string, directory: string): void {
  const uid = uidIn(directory)
  const folder = path.dirname(database)
  if (uid === undefined || !existsSync(folder)) return
  const before = noteIn(folder)
  if (before?.uid === uid && before.directory === directory) return
  writeFileSync(path.join(folder, NOTE), `${JSON.stringify({ uid, directory } satisfies Note)}\n`)
}

function named(identity: string): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, 16)
}

function foldersOf(home: string, uid: string): readonly string[] {
  const all = path.join(home, 'croft')
  if (!existsSync(all)) return []
  return readdirSync(all)
    .map((name) => path.join(all, name))
    .filter((folder) => noteIn(folder)?.uid === uid)
}

function noteIn(folder: string): Note | undefined {
  try {
    const { uid, directory } = JSON.parse(readFileSync(path.join(folder, NOTE), 'utf8')) as Partial<Note>
    return typeof uid === 'string' && typeof directory === 'string' ? { uid, directory } : undefined
  } catch {
    return undefined
  }
}

function isAt(note: Note | undefined, directory: string): boolean {
  return note?.directory === directory
}

function isGone(note: Note | undefined): boolean {
  return note !== undefined && !existsSync(note.directory)
}

function newest(folder: string): number {
  return statSync(path.join(folder, NOTE), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Returns the uid in the Estate of a directory, read without everything else that the directory declares. */
function uidIn(directory: string): string | undefined {
  if (!path.isAbsolute(directory) || statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    return undefined
  // `croft init` writes this one; only without it are all manifests read.
  return uidInFile(path.join(directory, 'estate.yaml')) ?? uidInTree(directory)
}

function uidInFile(file: string): string | undefined {
  const seen = statSync(file, { throwIfNoEntry: false })
  return seen?.isFile() === true && seen.size <= MOST_BYTES ? uidInText(readFileSync(file, 'utf8')) : undefined
}

/** An Estate may be in any file of the tree. */
function uidInTree(directory: string): string | undefined {
  for (const bytes of manifestsBelow(directory)) {
    const uid = bytes.length > MOST_BYTES ? undefined : uidInText(Buffer.from(bytes).toString('utf8'))
    if (uid !== undefined) return uid
  }
  return undefined
}

/** A tree that cannot be read names no estate here; the command that reads it says why. */
function manifestsBelow(directory: string): readonly Uint8Array[] {
  try {
    return walkFiles(directory).files.flatMap((file) => ('bytes' in file ? [file.bytes] : []))
  } catch {
    return []
  }
}

function uidInText(text: string): string | undefined {
  // Most manifests hold no Estate: they are not parsed for it.
  if (!text.includes('Estate')) return undefined
  for (const document of yamlLibrary().parseAllDocuments(text, { logLevel: 'silent' })) {
    if (document.errors.length > 0 || document.get('kind') !== 'Estate') continue
    const uid: unknown = document.getIn(['spec', 'uid'])
    if (typeof uid === 'string' && UID.test(uid)) return uid
  }
  return undefined
}
