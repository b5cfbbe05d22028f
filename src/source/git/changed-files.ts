import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ChangedFile } from '../../model/commit-diff.ts'
import { readBlobs } from './git.ts'
import { GitFailed, runGit } from './git-run.ts'

interface ChangedBlob {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The files below a folder that differ between two commits; the text of the first ones, as far as they are small. */
export async function changedFiles(
  repository: string,
  [from, to]: readonly [string, string],
  { path = '', signal }: { readonly path?: string; readonly signal?: AbortSignal } = {},
): Promise<readonly ChangedFile[]> {
  for (const commit of [from, to])
    if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) throw new GitFailed('diff-tree', 'this is not a commit')
  const folder = path.replace(/\/+$/, '')
  const prefix = folder === '' || folder === '.' ? '' : `${folder}/`
  const flags = ['-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--end-of-options', from, to]
  const listing = await runGit({
    directory: repository,
    arguments: ['--literal-pathspecs', 'diff-tree', ...flags, ...(prefix === '' ? [] : ['--', prefix])],
    ...defined({ signal }),
  })
  const entries = changedEntries(listing.toString('utf8'), prefix)
  const wanted = entries.slice(0, LIMITS.diff.files)
  const small = await smallOnes(
    repository,
    wanted.flatMap(({ before, after }) => [before ?? [], after ?? []].flat()),
    signal,
  )
  const blobs = [...small].map((blob) => ({ path: '', blob }))
  const texts = await readBlobs(repository, blobs, { ...defined({ signal }) })
  return entries.map((entry) => withText(entry, texts))
}

/** `:100644 100644 <before> <after> M`, then the path, each ended by a NUL. Links and submodules are no files of ours. */
function changedEntries(listing: string, prefix: string): readonly ChangedBlob[] {
  const words = listing.split('\0')
  const entries: ChangedBlob[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*$/.exec(words[at] ?? '')
    const [, oldMode = '', newMode = '', before = '', after = ''] = match ?? []
    const side = (mode: string, blob: string) => (/^100(?:644|755)$/.test(mode) ? blob : undefined)
    const path = (words[at + 1] ?? '').slice(prefix.length)
    const entry = { path, before: side(oldMode, before), after: side(newMode, after) }
    if (entry.before !== undefined || entry.after !== undefined) entries.push(entry)
  }
  return entries
}

/** Sizes are asked before anything is read. */
async function smallOnes(
  repository: string,
  blobs: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  if (blobs.length === 0) return new Set()
  const output = await runGit({
    directory: repository,
    arguments: ['cat-file', '--batch-check'],
    input: `${blobs.join('\n')}\n`,
    ...defined({ signal }),
  })
  const small = output
    .toString('utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, type, size]) => type === 'blob' && Number(size) <= LIMITS.diff.fileBytes)
  return new Set(small.flatMap(([hash]) => hash ?? []))
}

function withText({ path, before, after }: ChangedBlob, texts: ReadonlyMap<string, Buffer>): ChangedFile {
  const bytes = [before, after].flatMap((blob) => (blob === undefined ? [] : [texts.get(blob)]))
  const unread = bytes.includes(undefined)
    ? 'too large'
    : bytes.some((one) => one?.includes(0) === true)
      ? 'binary'
      : undefined
  // An existing but unread side is an empty text, so that the answer still shows which sides exist.
  const textOf = (blob: string | undefined) =>
    blob === undefined ? undefined : unread === undefined ? (texts.get(blob)?.toString('utf8') ?? '') : ''
  return { path, ...defined({ before: textOf(before), after: textOf(after), unread }) }
}
