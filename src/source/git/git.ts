import { posix } from 'node:path'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { setAside, type UnreadPath } from '../../model/unread.ts'
import { IGNORE_FILE } from '../files/ignore-rules.ts'
import type { ParseCache } from '../files/parse-cache.ts'
import type { FileReading } from '../files/read-files.ts'
import { isManifestName, passedOver, SYMBOLIC_LINK } from '../files/walk-files.ts'
import { leadsAbove } from '../kustomize/tree.ts'
import { readHere } from '../read-here.ts'
import type { SourceReader } from '../reader.ts'
import { gitLog } from './git-log.ts'
import { refusedRef } from './git-names.ts'
import { GitFailed, runGit } from './git-run.ts'
import { changedRevision, type Revision, type SourceFile } from './revision.ts'

interface Common {
  readonly signal?: AbortSignal
  readonly settings?: readonly string[]
  readonly sshCommand?: string
}

/** Returns the commit that a branch, tag or commit name refers to. */
export async function resolveCommit(repository: string, ref: string, options: Common = {}): Promise<string> {
  const refused = refusedRef(ref)
  if (refused !== undefined)
    throw new GitFailed('rev-parse', `${JSON.stringify(ref.slice(0, 100))} is refused: ${refused}`)
  const output = await runGit({
    directory: repository,
    arguments: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
    codes: [0, 1],
    ...options,
  })
  const commit = output.toString('utf8').trim()
  if (commit === '') throw new GitFailed('rev-parse', `there is no branch, tag or commit ${ref}`)
  return commit
}

export interface ReadCommitOptions {
  readonly path?: string
  readonly cache?: ParseCache
  readonly reader?: SourceReader
  /** Places that `objectsAt` will be asked for. */
  readonly places?: readonly string[]
}

/**
 * Reads the manifests of a commit straight from the object store: no work tree is touched, so no filter, hook, LFS or
 * link can come into play, and a half-finished checkout cannot be seen.
 */
export async function readCommit(
  repository: string,
  commit: string,
  options: Common & ReadCommitOptions = {},
): Promise<Revision> {
  const { path, cache, reader = readHere, places, ...common } = options
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) throw new GitFailed('ls-tree', 'this is not a commit')
  const folder = (path ?? '').replace(/\/+$/, '')
  const prefix = folder === '' || folder === '.' ? '' : `${folder}/`
  const tree = wanted(await list(repository, commit, prefix, common), prefix)
  const files = tree.tooLarge === undefined ? await contentsOf(repository, tree, common) : []
  const unread = await unreadIn(repository, tree, prefix, common)
  const above = prefix !== '' && files.some(leadsAbove) ? await readAbove(repository, commit, prefix, common) : []
  const ignore = await readFileAt(repository, commit, `${prefix}${IGNORE_FILE}`)
  const reading: FileReading = {
    files,
    ...defined({ ignore }),
    above,
    siblings: await readSibling(repository, commit, prefix, await reader.generatorFiles([...files, ...above]), common),
    links: tree.links.flatMap(({ path }) => (isManifestName(path) ? [path] : [])),
    passed: tree.passed,
    unread,
    commit,
    ...defined({ tooLarge: tree.tooLarge, cache }),
  }
  const revision = await reader.tree(reading, places)
  const found = {
    read: (file: string) => readFileAt(repository, commit, posix.normalize(`${prefix}${file}`)),
    logs: [{ log: gitLog(async () => ({ repository, head: commit, prefix }), readCommit) }],
  }
  return changedRevision(revision, (one) => ({ ...one, ...found }))
}

/** Returns what is not read as manifests: links, submodules, templates by their name. */
async function unreadIn(
  repository: string,
  {
    links,
    submodules,
    templates,
    paths,
  }: Pick<ReturnType<typeof wanted>, 'links' | 'submodules' | 'templates' | 'paths'>,
  prefix: string,
  common: Common,
): Promise<readonly UnreadPath[]> {
  const contents = await readBlobs(repository, [...links, ...templates], common)
  const textOf = (blob: string) => contents.get(blob)?.toString('utf8') ?? ''
  // Reports whether a link can hide a file: not if it only names a non-manifest.
  const mayHide = ({ path, blob }: Blob) =>
    isManifestName(path) || !paths.has(posix.relative(prefix, posix.join(prefix, posix.dirname(path), textOf(blob))))
  return [
    ...links.filter(mayHide).map(({ path, blob }) => ({ path, why: SYMBOLIC_LINK, mark: blob })),
    ...submodules.map(({ path, blob }) => ({ path, why: 'a submodule', mark: blob })),
    ...templates.map(({ path, blob, note }) => setAside(path, note, textOf(blob))),
  ]
}

/** Reads files that overlays name above the followed directory: `../../base`. Returns none beyond the limits. */
async function readAbove(
  repository: string,
  commit: string,
  prefix: string,
  common: Common,
): Promise<readonly SourceFile[]> {
  const tree = wanted(await list(repository, commit, '', common), '')
  if (tree.tooLarge !== undefined) return []
  const outside = { ...tree, blobs: tree.blobs.filter((entry) => !entry.path.startsWith(prefix)), refused: [] }
  const files = await contentsOf(repository, outside, common)
  return files.map((file) => ({ ...file, path: posix.relative(prefix, file.path) }))
}

/** Reads the inputs of generators, if they exist and are within the limits. */
async function readSibling(
  repository: string,
  commit: string,
  prefix: string,
  paths: readonly string[],
  common: Common,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const whole = new Map(paths.map((path) => [posix.normalize(`${prefix}${path}`), path]))
  if (whole.size === 0) return new Map()
  const listing = (await list(repository, commit, '', common)).split('\0')
  const entries: Blob[] = []
  let total = 0
  for (const entry of listing) {
    const [, blob = '', size = '', path = ''] = /^100(?:644|755) blob ([0-9a-f]+) +([0-9]+)\t(.*)$/s.exec(entry) ?? []
    const named = whole.get(path)
    total += named === undefined ? 0 : Number(size)
    if (named !== undefined && Number(size) <= LIMITS.fileBytes && total <= LIMITS.treeBytes)
      entries.push({ path: named, blob })
  }
  const contents = await readBlobs(repository, entries, common)
  return new Map(entries.map(({ path, blob }) => [path, contents.get(blob) ?? new Uint8Array()]))
}

async function list(repository: string, commit: string, prefix: string, common: Common): Promise<string> {
  const scope = prefix === '' ? [] : ['--', prefix]
  const flags = ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit, ...scope]
  const output = await runGit({ directory: repository, arguments: ['--literal-pathspecs', ...flags], ...common })
  return output.toString('utf8')
}

async function contentsOf(
  repository: string,
  { blobs, refused }: Pick<ReturnType<typeof wanted>, 'blobs' | 'refused'>,
  common: Common,
): Promise<readonly SourceFile[]> {
  const contents = await readBlobs(repository, blobs, common)
  const files: readonly SourceFile[] = blobs.map((entry) => ({
    ...entry,
    bytes: contents.get(entry.blob) ?? new Uint8Array(),
  }))
  return [...files, ...refused].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Reads one file of a commit as text. Returns undefined for a link, a directory or a missing file. */
async function readFileAt(repository: string, commit: string, path: string): Promise<string | undefined> {
  if (path.split('/').some((segment) => segment === '..' || segment === '')) return undefined
  const entry = await runGit({
    directory: repository,
    arguments: ['--literal-pathspecs', 'ls-tree', '-z', '-l', '--full-tree', '--end-of-options', commit, '--', path],
  })
  const match = /^100(?:644|755) blob ([0-9a-f]+) +([0-9]+)\t/.exec(entry.toString('utf8'))
  if (match === null || Number(match[2]) > LIMITS.fileBytes) return undefined
  const bytes = await runGit({ directory: repository, arguments: ['cat-file', 'blob', match[1] ?? ''] })
  return bytes.toString('utf8')
}

interface Blob {
  readonly path: string
  readonly blob: string
}

/** Selects the entries of a listing to read. The listing has sizes, so that a blob over the limit is never loaded. */
function wanted(listing: string, prefix: string) {
  const blobs: Blob[] = []
  const refused: SourceFile[] = []
  const links: Blob[] = []
  const submodules: Blob[] = []
  const templates: (Blob & { readonly note: string })[] = []
  const paths = new Set<string>()
  const passed = new Map<string, string>()
  let bytes = 0
  for (const entry of listing.split('\0')) {
    const match = /^([0-7]{6}) ([a-z]+) ([0-9a-f]+) +([0-9]+|-)\t(.*)$/s.exec(entry)
    const [, mode, type, blob = '', size, whole = ''] = match ?? []
    const path = whole.slice(prefix.length)
    const segments = path.split('/')
    if (match === null) continue
    const hidden = segments.findIndex((segment) => segment.startsWith('.') || segment === 'node_modules')
    const shown = hidden < 0 ? segments.length - 1 : hidden
    const note = passedOver(segments[shown] ?? '', shown < segments.length - 1)
    if (note !== undefined) passed.set(segments.slice(0, shown + 1).join('/'), note)
    paths.add(path)
    // A name that begins with a dot is hidden on purpose; one below such a directory is another program's.
    if (note !== undefined && shown === segments.length - 1 && type === 'blob' && Number(size) <= LIMITS.fileBytes)
      templates.push({ path, blob, note })
    if (hidden >= 0) continue
    if (mode === '160000') submodules.push({ path, blob })
    else if (mode === '120000') links.push({ path, blob })
    if (mode === '120000' || !isManifestName(path)) continue
    if (type !== 'blob') continue
    else if (Buffer.byteLength(path) > LIMITS.pathBytes) {
      refused.push({
        path,
        refused: { code: 'path-too-long', message: `the path is longer than ${LIMITS.pathBytes} bytes` },
      })
    } else if (Number(size) > LIMITS.fileBytes) {
      const message = `the file has ${size} bytes; at most ${LIMITS.fileBytes}`
      refused.push({ path, refused: { code: 'too-large', message, hint: 'split it' } })
    } else {
      blobs.push({ path, blob })
      bytes += Number(size)
    }
  }
  const tooLarge =
    blobs.length > LIMITS.files
      ? `more than ${LIMITS.files} manifest files`
      : bytes > LIMITS.treeBytes
        ? `more than ${LIMITS.treeBytes} bytes of manifests`
        : undefined
  return {
    blobs,
    refused,
    links,
    submodules,
    templates,
    paths,
    passed: [...passed].map(([path, note]) => ({ path, note })),
    tooLarge,
  }
}

/** All blobs in one call. The answer is `<hash> blob <size>`, a line end, the bytes, a line end, for each. */
export async function readBlobs(
  repository: string,
  entries: readonly Blob[],
  common: Common,
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>()
  const hashes = [...new Set(entries.map((entry) => entry.blob))]
  if (hashes.length === 0) return contents
  const output = await runGit({
    directory: repository,
    arguments: ['cat-file', '--batch'],
    input: `${hashes.join('\n')}\n`,
    ...common,
  })
  let at = 0
  for (const hash of hashes) {
    const end = output.indexOf(10, at)
    const [found, type, size] = output.toString('latin1', at, end).split(' ')
    if (end < 0 || found !== hash || type !== 'blob')
      throw new GitFailed('cat-file', `${hash} is missing from the repository`)
    contents.set(hash, output.subarray(end + 1, end + 1 + Number(size)))
    at = end + 2 + Number(size)
  }
  return contents
}
