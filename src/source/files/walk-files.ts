import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs'
import { defined } from '../../lib/defined.ts'
import { atOnce, type Steps } from '../../lib/in-turns.ts'
import { LIMITS } from '../../lib/limits.ts'
import { setAside, type UnreadPath } from '../../model/unread.ts'

/** A file of the tree: its bytes, or why they were not read. */
export type WalkedFile = { readonly path: string } & (
  | { readonly bytes: Uint8Array }
  | { readonly refused: { readonly code: string; readonly message: string; readonly hint?: string } }
)

export interface Walked {
  readonly files: readonly WalkedFile[]
  /** Symbolic links to what might have been a manifest: never followed. */
  readonly links: readonly string[]
  /** Names that were skipped although the author may have meant them to be read. */
  readonly passed: readonly PassedName[]
  /** Links, and templates by their name. */
  readonly unread: readonly UnreadPath[]
  /** Set if the tree exceeds the limits: then it is ignored. */
  readonly tooLarge?: string
}

/** A name that is not read, and why. */
export interface PassedName {
  readonly path: string
  readonly note: string
}

export const SYMBOLIC_LINK = 'a symbolic link'

const MANIFEST = /\.(?:yaml|yml|json)$/i
const TEMPLATE = /\.(?:yaml|yml|json)\.(?:j2|jinja2?|tmpl|tpl|gotmpl|erb|template)$/i

/** Returns why a name is skipped; undefined if it is read, or if it is clearly no manifest. */
export function passedOver(name: string, isDirectory: boolean): string | undefined {
  if (TEMPLATE.test(name)) return 'a template by its name, no manifest before it is rendered'
  if (!name.startsWith('.') || name === '.git') return undefined
  return isDirectory || MANIFEST.test(name) ? 'hidden by its name, which begins with a dot' : undefined
}

export function isManifestName(name: string): boolean {
  // The one name without an ending that kustomize reads.
  return MANIFEST.test(name) || /(?:^|\/)Kustomization$/.test(name)
}

/**
 * Reads every manifest below a directory. Each directory is opened without following links and everything in it is
 * opened through that open directory, so that a link that is put in place between the look and the read leads nowhere.
 * `between` is called at that very moment, for the tests that put one there. `also`: names of further files that count.
 */
export function walkFiles(root: string, onEntry: (path: string) => void = () => {}, also?: RegExp): Walked {
  return atOnce(walking(root, onEntry, also))
}

/** Walks a tree in steps, one file each: reading all of them may take long. */
export function* walking(root: string, onEntry: (path: string) => void = () => {}, also?: RegExp): Steps<Walked> {
  const isWanted = (name: string) => isManifestName(name) || also?.test(name) === true
  const state = {
    files: [] as WalkedFile[],
    links: [] as string[],
    passed: [] as PassedName[],
    unread: [] as UnreadPath[],
    entries: 0,
    bytes: 0,
    onEntry,
    isWanted,
  }
  const tooLarge = yield* walkDirectory(root, '', 0, state)
  return defined({ files: state.files, links: state.links, passed: state.passed, unread: state.unread, tooLarge })
}

interface State {
  readonly files: WalkedFile[]
  readonly links: string[]
  readonly passed: PassedName[]
  readonly unread: UnreadPath[]
  entries: number
  bytes: number
  readonly onEntry: (path: string) => void
  readonly isWanted: (name: string) => boolean
}

function* walkDirectory(openPath: string, shown: string, depth: number, state: State): Steps<string | undefined> {
  if (depth > LIMITS.directoryDepth) return `directories are more than ${LIMITS.directoryDepth} levels deep at ${shown}`
  // The root itself may be a link: the person who named it chose it.
  const noFollow = depth === 0 ? 0 : constants.O_NOFOLLOW
  let fd: number
  try {
    fd = openSync(openPath, constants.O_RDONLY | constants.O_DIRECTORY | noFollow)
  } catch (error) {
    if (depth === 0) throw error
    state.files.push(refused(shown, 'unreadable', `the directory cannot be opened (${codeOf(error)})`, hintOf(error)))
    return undefined
  }
  try {
    const base = process.platform === 'linux' ? `/proc/self/fd/${fd}` : openPath
    const entries = readdirSync(base, { withFileTypes: true })
    state.entries += entries.length
    if (state.entries > LIMITS.directoryEntries) return `more than ${LIMITS.directoryEntries} entries`
    // In one order on every machine, so that the same tree gives the same revision and the same messages.
    entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = shown === '' ? entry.name : `${shown}/${entry.name}`
      const note = passedOver(entry.name, entry.isDirectory())
      if (note !== undefined) {
        state.passed.push({ path, note })
        if (entry.isFile()) state.unread.push(setAsideFile(readFile(`${base}/${entry.name}`, path, state), note))
      }
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      yield
      state.onEntry(path)
      if (entry.isDirectory()) {
        const stopped = yield* walkDirectory(`${base}/${entry.name}`, path, depth + 1, state)
        if (stopped !== undefined) return stopped
      } else if (entry.isSymbolicLink()) {
        const wanted = state.isWanted(entry.name)
        if (wanted) state.links.push(path)
        if (wanted || isDirectory(`${base}/${entry.name}`))
          state.unread.push({ path, why: SYMBOLIC_LINK, mark: readlinkSync(`${base}/${entry.name}`) })
      } else if (state.isWanted(entry.name)) {
        if (state.files.length >= LIMITS.files) return `more than ${LIMITS.files} manifest files`
        else state.files.push(readFile(`${base}/${entry.name}`, path, state))
        if (state.bytes > LIMITS.treeBytes) return `more than ${LIMITS.treeBytes} bytes of manifests`
      }
    }
    return undefined
  } finally {
    closeSync(fd)
  }
}

function setAsideFile(file: WalkedFile, why: string): UnreadPath {
  if ('refused' in file) return { path: file.path, why, mark: file.refused.code }
  return setAside(file.path, why, new TextDecoder().decode(file.bytes))
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function readFile(openPath: string, path: string, state: State): WalkedFile {
  if (Buffer.byteLength(path) > LIMITS.pathBytes) {
    return refused(path, 'path-too-long', `the path is longer than ${LIMITS.pathBytes} bytes`)
  }
  let fd: number
  try {
    // Non-blocking, so that a pipe under the name of a manifest is refused instead of waited for.
    fd = openSync(openPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    return refused(path, 'unreadable', `the file cannot be opened (${codeOf(error)})`, hintOf(error))
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return refused(path, 'unreadable', 'this is not a regular file')
    if (stat.size > LIMITS.fileBytes) {
      return refused(path, 'too-large', `the file has ${stat.size} bytes; at most ${LIMITS.fileBytes}`, 'split it')
    }
    const bytes = Buffer.allocUnsafe(stat.size)
    let length = 0
    while (length < stat.size) {
      const read = readSync(fd, bytes, length, stat.size - length, null)
      if (read === 0) break
      length += read
    }
    state.bytes += length
    return { path, bytes: bytes.subarray(0, length) }
  } catch (error) {
    return refused(path, 'unreadable', `the file cannot be read (${codeOf(error)})`)
  } finally {
    closeSync(fd)
  }
}

function refused(path: string, code: string, message: string, hint?: string): WalkedFile {
  return { path, refused: { code, message, ...(hint === undefined ? {} : { hint }) } }
}

function hintOf(error: unknown): string | undefined {
  return codeOf(error) === 'EACCES' ? 'give the user that runs croft the right to read it' : undefined
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
