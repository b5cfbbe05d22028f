import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Kind } from '../kinds/kind.ts'
import { findKind } from '../kinds/registry.ts'
import { LIMITS } from '../lib/limits.ts'
import { readOwnFile } from '../lib/own-file.ts'
import type { Policy } from '../model/declaration.ts'
import type { ParseCache } from './files/parse-cache.ts'
import type { JudgedObject } from './judge.ts'

/** Beside the build: a hash of all of it. */
export const BUILD_STAMP = 'build-stamp'

/** Judged files of earlier runs, in a directory of the user. */
export interface DiskCache extends ParseCache {
  /** Writes new entries. A cache that cannot be written is no error. */
  save(): void
}

type CachedObjects = readonly JudgedObject[]

interface Remembered {
  readonly judged: CachedObjects
  /** The file's bytes, if the object comes from a file. */
  readonly bytes: Uint8Array | undefined
}

/**
 * A judged object in stored form. A kind is code, so only its name is stored; of a text, only its place in the file;
 * parts shared by many objects are stored once, so that they are parsed once.
 */
interface Frozen {
  readonly judged: Omit<JudgedObject, 'kind' | 'document' | 'policy' | Empty> & Partial<Pick<JudgedObject, Empty>>
  readonly line: number
  readonly text?: string
  readonly at?: readonly [number, number]
  /** Places in the two lists of the file. */
  readonly kind?: number
  readonly policy?: number
}

/** Lists that hardly ever hold anything. */
type Empty = 'base' | 'problems' | 'findings'
const EMPTY: readonly Empty[] = ['base', 'problems', 'findings']
const NOTHING: readonly never[] = []

interface FrozenTree {
  readonly kinds: readonly (readonly [apiVersion: string, kind: string])[]
  readonly policies: readonly Policy[]
  readonly files: readonly (readonly [blob: string, readonly Frozen[]])[]
}

interface StoredTree {
  readonly files: ReadonlyMap<string, readonly Frozen[]>
  /** Undefined: this program has no such kind. */
  readonly kinds: readonly (Kind | undefined)[]
  readonly policies: readonly Policy[]
}

const NOTHING_STORED: StoredTree = { files: new Map(), kinds: [], policies: [] }

/**
 * One file for one tree: a thousand small files would cost more to open than to judge again. The file is used only if
 * it belongs to this user and no other user can write it, its hash is right, and this same version of the program wrote
 * it (its sources are part of the hash). Any other file is ignored. It is then as trustworthy as the program.
 */
export function openDiskCache(directory: string, tree: string): DiskCache {
  const path = join(directory, `judged-${sha256(tree).slice(0, 24)}.json`)
  const stamp = programStamp()
  const stored = load(path, stamp)
  const fresh = new Map<string, Remembered>()
  let changed = false
  return {
    get(blob, bytes) {
      const known = fresh.get(blob)
      if (known !== undefined) return known.judged
      const entry = stored.files.get(blob)
      const judged = entry === undefined ? undefined : revive(entry, stored, bytes)
      if (judged !== undefined) fresh.set(blob, { judged, bytes })
      return judged
    },
    put(blob, judged, bytes) {
      changed = true
      fresh.set(blob, { judged, bytes })
    },
    retain(blobs) {
      for (const blob of fresh.keys()) if (!blobs.has(blob)) fresh.delete(blob)
      if (stored.files.size !== fresh.size) changed = true
    },
    save() {
      if (changed) store(path, stamp, fresh)
    },
  }
}

/** Changes whenever the code that judges does. */
function programStamp(): string {
  const built = join(import.meta.dirname, '..', BUILD_STAMP)
  if (existsSync(built)) return readFileSync(built, 'utf8')
  const seen = programFiles().map((file) => {
    const stat = statSync(file)
    return `${file} ${stat.size} ${stat.mtimeMs}`
  })
  return sha256(seen.join('\n'))
}

/** Returns the files that can affect a judgement: all scripts of a build, or all sources of the folders below. */
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

function load(path: string, stamp: string): StoredTree {
  const bytes = readOwnFile(path, LIMITS.cacheBytes)?.bytes
  const body = bytes?.subarray(65)
  // Hash the raw bytes: converting megabytes to text and back would be slow.
  if (bytes?.[64] !== 10 || body === undefined || sha256(stamp, body) !== bytes.toString('latin1', 0, 64))
    return NOTHING_STORED
  try {
    const { kinds, policies, files } = JSON.parse(body.toString('utf8')) as FrozenTree
    return { files: new Map(files), kinds: kinds.map((id) => findKind(...id)), policies }
  } catch {
    return NOTHING_STORED
  }
}

function store(path: string, stamp: string, entries: ReadonlyMap<string, Remembered>): void {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const body = JSON.stringify(frozenTree(entries))
    if (body.length > LIMITS.cacheBytes) return
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if ((statSync(dirname(path)).mode & 0o022) !== 0) return
    writeFileSync(temporary, `${sha256(stamp, body)}\n${body}`, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
    forgetOldest(dirname(path))
  } catch {
    // Remove a partly written temporary file. If the write never started, there is none to remove.
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

function frozenTree(entries: ReadonlyMap<string, Remembered>): FrozenTree {
  const kinds = createPlaces<readonly [string, string]>()
  const policies = createPlaces<Policy>()
  const files = [...entries].map(([blob, { judged, bytes }]) => {
    const file = bytes === undefined ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let from = 0
    const frozen = judged.map((one): Frozen => {
      const { kind, document, ...rest } = one
      const { policy, ...judged } = 'policy' in rest ? rest : { ...rest, policy: undefined }
      const text = Buffer.from(document.text)
      const start = file?.indexOf(text, from) ?? -1
      if (start !== -1) from = start
      return {
        judged: withoutEmpty(judged),
        line: document.line,
        ...(start === -1 ? { text: document.text } : { at: [start, start + text.length] as const }),
        ...(kind === undefined ? {} : { kind: kinds.of([kind.apiVersion, kind.kind]) }),
        ...(policy === undefined ? {} : { policy: policies.of(policy) }),
      }
    })
    return [blob, frozen] as const
  })
  return { kinds: kinds.all, policies: policies.all, files }
}

function withoutEmpty(judged: Omit<JudgedObject, 'kind' | 'document' | 'policy'>): Frozen['judged'] {
  const left: Partial<Record<keyof JudgedObject, unknown>> = { ...judged }
  for (const name of EMPTY) if (judged[name].length === 0) delete left[name]
  return left as Frozen['judged']
}

/** A list that stores equal values once. */
function createPlaces<T>() {
  const all: T[] = []
  const known = new Map<string, number>()
  return {
    all,
    of(one: T): number {
      const text = JSON.stringify(one)
      const place = known.get(text) ?? all.push(one) - 1
      known.set(text, place)
      return place
    },
  }
}

/** Completes the parsed entry in place: no other code holds it. A plan of 1,000 machines does this for each. */
function revive(
  entry: readonly Frozen[],
  stored: StoredTree,
  bytes: Uint8Array | undefined,
): CachedObjects | undefined {
  const revived: JudgedObject[] = []
  for (const { judged, line, text, at, kind, policy } of entry) {
    const found = kind === undefined ? undefined : stored.kinds[kind]
    if (kind !== undefined && found === undefined) return undefined
    if (at !== undefined && bytes === undefined) return undefined
    const made = judged as { -readonly [K in keyof JudgedObject]: JudgedObject[K] } & { policy?: Policy }
    for (const name of EMPTY) made[name] ??= NOTHING
    made.document = at === undefined || bytes === undefined ? { line, text: text ?? '' } : inFile(line, at, bytes)
    if (found !== undefined) made.kind = found
    if (policy !== undefined) made.policy = stored.policies[policy] as Policy
    revived.push(made as JudgedObject)
  }
  return revived
}

/** Reads the text only for a problem. */
function inFile(line: number, at: readonly [number, number], bytes: Uint8Array): JudgedObject['document'] {
  return {
    line,
    get text() {
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', ...at)
    },
  }
}

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
