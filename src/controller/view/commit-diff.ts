import { LIMITS } from '../../lib/limits.ts'
import { type LineEdit, lineDiff } from '../../lib/line-diff.ts'
import type { ChangedFile, CommitDiff, DiffLine, FileDiff } from '../../model/commit-diff.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { CommitView } from '../../model/estate-view.ts'
import { maskManifest } from '../../model/masked/masked-manifest.ts'
import type { SourceState } from '../sources/source-state.ts'
import { clean } from './drifts.ts'

/** The requested change, with the declarations of its files. */
interface ChangeOfCommit {
  readonly source: string
  readonly commit: string
  readonly before: string
  /** Returns the keys that a file declares. */
  keysIn(path: string): readonly ResourceKey[]
}

/**
 * Returns the change of a commit: a waiting or broken one against the current one, a followed one against its
 * predecessor. Refuses other commits: the mirror holds branches that croft does not follow. Pure.
 */
export function changeOfCommit(
  { source: { name }, revision, waiting, trouble }: SourceState,
  commits: readonly CommitView[],
  commit: string,
): ChangeOfCommit | undefined {
  const own = commits.filter(({ source }) => source === name).map((one) => one.commit)
  const isNext = commit === waiting?.revision.id || commit === trouble?.commit
  const before = isNext ? revision?.id : own.includes(commit) ? own[own.indexOf(commit) + 1] : undefined
  if (before === undefined || before === commit) return undefined
  const declared = [revision, ...(isNext ? [waiting?.revision] : [])].flatMap((one) => one?.declarations ?? [])
  const keysIn = (path: string) => [
    ...new Set(declared.filter(({ origin }) => origin.file === path).map(({ key }) => key)),
  ]
  return { source: name, commit, before, keysIn }
}

/**
 * Returns the diff of a commit for people. Masks both sides whole before comparing: a single line of a secret with
 * several lines does not show that it is one. Pure.
 */
export function commitDiff(change: ChangeOfCommit, changed: readonly ChangedFile[]): CommitDiff {
  let left: number = LIMITS.diff.lines
  const files = changed.slice(0, LIMITS.diff.files).map((file): FileDiff => {
    const { path } = file
    const secret = whyNotShown(file)
    const all = secret === undefined ? shownLines(file) : []
    const lines = all.slice(0, left)
    left -= lines.length
    const note =
      secret ?? (lines.length < all.length ? `${all.length - lines.length} more lines are not shown` : undefined)
    return {
      path: clean(path).slice(0, LIMITS.pathBytes),
      change: file.before === undefined ? 'added' : file.after === undefined ? 'removed' : 'changed',
      keys: change.keysIn(path),
      lines,
      ...(note === undefined ? {} : { note }),
    }
  })
  const { source, commit, before } = change
  return { source, commit, before, files, more: Math.max(0, changed.length - LIMITS.diff.files) }
}

const MANIFEST = /\.(?:ya?ml|json)$/i
/** Marks of SOPS: its encrypted values, and its metadata. */
const SOPS = /ENC\[[A-Z0-9_]+,data:|^["']?sops["']?\s*:|"sops"\s*:/m
/** Matches anywhere, in flow mappings and JSON too: hide one file too many rather than one too few. */
const SECRET_KIND = /\bkind["']?\s*:\s*["']?Secret(?:List)?(?![A-Za-z0-9])/
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----|AGE-SECRET-KEY-1/

/** Returns why a file's lines are hidden. Checks both sides, because an encrypted file may have been plain before. */
function whyNotShown({ path, unread, before = '', after = '' }: ChangedFile): string | undefined {
  if (unread === 'binary') return 'it is not text'
  if (unread === 'too large') return `it is larger than ${LIMITS.diff.fileBytes / 1024} KiB`
  const either = (pattern: RegExp) => pattern.test(before) || pattern.test(after)
  if (either(SOPS)) return 'it is encrypted with SOPS: its lines are not shown'
  if (either(SECRET_KIND)) return 'it has a Secret: its lines are not shown'
  if (either(PRIVATE_KEY)) return 'it has a private key: its lines are not shown'
  // Only manifests can be masked: in other files, secrets cannot be told from other text.
  if (!MANIFEST.test(path)) return 'it is not a manifest: its lines are not shown'
  return undefined
}

function shownLines({ before, after }: ChangedFile): readonly DiffLine[] {
  const edits = lineDiff(linesOf(before), linesOf(after))
  const near = nearEdits(edits)
  const shown: DiffLine[] = []
  edits.forEach(({ sign, text, line }, index) => {
    if (near[index] === true) shown.push({ sign, line, text: clean(text).slice(0, LIMITS.diff.lineLength) })
    else if (shown.at(-1)?.sign !== '…') shown.push({ sign: '…', text: '' })
  })
  // Only masked values have changed.
  return shown.every(({ sign }) => sign === '…')
    ? [{ sign: '…', text: 'only values that are not shown have changed' }]
    : shown
}

function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return []
  return maskManifest(text.replaceAll('\r\n', '\n').replace(/\n$/, '')).split('\n')
}

/** Returns which lines are changed, or within a few lines of a change. */
function nearEdits(edits: readonly LineEdit[]): readonly boolean[] {
  const near = edits.map(() => false)
  edits.forEach(({ sign }, index) => {
    if (sign === ' ') return
    for (let at = index - LIMITS.diff.context; at <= index + LIMITS.diff.context; at++)
      if (at >= 0 && at < near.length) near[at] = true
  })
  return near
}
