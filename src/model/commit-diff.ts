import type { ResourceKey } from './declaration.ts'

/** A commit's changes in the files of its source, for display. Without secrets. */
export interface CommitDiff {
  readonly source: string
  readonly commit: string
  /** The revision before it. */
  readonly before: string
  readonly files: readonly FileDiff[]
  /** Number of changed files above the limit, which are not listed. */
  readonly more: number
}

export interface FileDiff {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
  /** Why its lines are not here, or not all of them. */
  readonly note?: string
  /** The keys that the file declares, before or after. */
  readonly keys: readonly ResourceKey[]
  readonly lines: readonly DiffLine[]
}

export interface DiffLine {
  /** `…` replaces lines that are the same. */
  readonly sign: '+' | '-' | ' ' | '…'
  readonly text: string
  /** Line number in the new file, or for a removed line in the old one. */
  readonly line?: number
}

/** A file that differs between two commits, with its text on both sides. */
export interface ChangedFile {
  readonly path: string
  /** Absent: it does not exist on this side. */
  readonly before?: string
  readonly after?: string
  /** Why the text is not here. */
  readonly unread?: 'too large' | 'binary'
}
