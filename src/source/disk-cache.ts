import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { findKind } from '../kinds/registry.ts'
import { LIMITS } from '../lib/limits.ts'
import type { ParseCache } from './files/parse-cache.ts'
import type { JudgedObject } from './judge.ts'

/** What was judged in earlier runs, from a directory of the user's own. */
export interface DiskCache extends ParseCache {
  /** Writes what is new. A cache that cannot be written is no error. */
  save(): void
}

type CachedObjects = readonly JudgedObject[]

/**
 * One file for one tree: a thousand small files would cost more to open than to judge again. The file is used only if
 * it belongs to this user and nobody else can write it, its hash is right, and it was written by this very program (whose
 * sources are part of the hash); anything else is as if it were not there. It is then as trustworthy as the program.
 */
export function openDiskCache(directory: string, tree: string): DiskCache {
  const path = join(directory, `judged-${sha256(tree).slice(0, 24)}.json`)
  const stamp = programStamp()
  const stored = load(path, stamp)
  const fresh = new Map<string, CachedObjects>()
  let changed = false
  return {
    get(blob) {
      const known = fresh.get(blob)
      if (known !== undefined) return known
      const entry = stored.get(blob)
      const revived = entry === undefined ? undefined : revive(entry)
      if (revived !== undefined) fresh.set(blob, revived)
      return revived
    },
    put(blob, judged) {
      changed = true
      fresh.set(blob, judged)
    },
    retain(blobs) {
      for (const blob of fresh.keys()) if (!blobs.has(blob)) fresh.delete(blob)
      if (stored.size !== fresh.size) changed = true
    },
    save() {
      if (changed) store(path, stamp, fresh)
    },
  }
}

/** Changes whenever the code that judges does. */
function programStamp(): string {
  const seen = programFiles().map((file) => {
    const stat = statSync(file)
    return `${file} ${stat.size} ${stat.mtimeMs}`
  })
  return sha256(seen.join('\n'))
}

/** Every file that can have a say in a judgement: of what was built each, of the sources whatever this folder may know. */
export function programFiles(): readonly string[] {
  const sources = join(import.meta.dirname, '..')
  if (existsSync(join(sources, 'main.js')))
    return readdirSync(sources)
      .filter((name) => /\.c?js$/.test(name))
      .map((name) => join(sources, name))
  return ['source', 'kinds', 'cloudinit', 'k3s', 'proxmox', 'model', 'lib'].flatMap((folder) =>
    readdirSync(join(sources, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(sources, folder, name),
    ),
  )
}

function load(path: string, stamp: string): ReadonlyMap<string, readonly unknown[]> {
  const empty = new Map<string, readonly unknown[]>()
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return empty
  }
  try {
    const stat = fstatSync(fd)
    const mine = process.getuid === undefined || stat.uid === process.getuid()
    if (!stat.isFile() || !mine || (stat.mode & 0o022) !== 0 || stat.size > LIMITS.cacheBytes) return empty
    const text = readFileSync(fd, 'utf8')
    const body = text.slice(65)
    if (text[64] !== '\n' || sha256(stamp + body) !== text.slice(0, 64)) return empty
    return new Map(JSON.parse(body) as [string, readonly unknown[]][])
  } catch {
    return empty
  } finally {
    closeSync(fd)
  }
}

function store(path: string, stamp: string, entries: ReadonlyMap<string, CachedObjects>): void {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const body = JSON.stringify([...entries].map(([blob, judged]) => [blob, judged.map(frozen)]))
    if (body.length > LIMITS.cacheBytes) return
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if ((statSync(dirname(path)).mode & 0o022) !== 0) return
    writeFileSync(temporary, `${sha256(stamp + body)}\n${body}`, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
    forgetOldest(dirname(path))
  } catch {
    // What could not be written completely must not stay; what could not even be begun left nothing.
    try {
      rmSync(temporary, { force: true })
    } catch {}
  }
}

/** Directories come and go, and each leaves a file here: only the newest are kept. */
function forgetOldest(directory: string): void {
  const files = readdirSync(directory).filter((name) => /^judged-[0-9a-f]{24}\.json$/.test(name))
  if (files.length <= LIMITS.cachedTrees) return
  const byAge = files
    .map((name) => ({ name, atMs: statSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => b.atMs - a.atMs)
  for (const { name } of byAge.slice(LIMITS.cachedTrees)) rmSync(join(directory, name), { force: true })
}

/** A kind is code: only its name can be stored. */
function frozen(judged: JudgedObject): unknown {
  const { kind, ...rest } = judged
  return kind === undefined ? rest : { ...rest, kindId: [kind.apiVersion, kind.kind] }
}

function revive(entry: readonly unknown[]): CachedObjects | undefined {
  const judged: JudgedObject[] = []
  for (const item of entry as readonly (JudgedObject & { kindId?: [string, string] })[]) {
    const { kindId, ...rest } = item
    const kind = kindId === undefined ? undefined : findKind(...kindId)
    if (kindId !== undefined && kind === undefined) return undefined
    judged.push((kind === undefined ? rest : { ...rest, kind }) as JudgedObject)
  }
  return judged
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
