import { defined } from '../../lib/defined.ts'
import type { CommitView, SourceView } from '../../model/estate-view.ts'
import type { CroftEvent } from '../../model/record.ts'
import type { Chapter, Span } from './schemas.ts'

/**
 * Groups events by the commit that caused them, newest first, and shows where the time went: the push, each step, and
 * the wait until Ready. Pure.
 */
export function tellTimeline(
  events: readonly CroftEvent[],
  commits: readonly CommitView[],
  sources: readonly SourceView[] = [],
): readonly Chapter[] {
  const about = new Map<string, Omit<CommitView, 'seenMs'> & { readonly seenMs?: number }>()
  for (const { name, commit, subject, author, committedMs } of sources) {
    if (commit !== undefined)
      about.set(commit, {
        source: name,
        commit,
        subject: subject ?? '',
        author: author ?? '',
        committedMs: committedMs ?? 0,
      })
  }
  const waiting = new Set<string>()
  for (const { name, waiting: waits } of sources) {
    if (waits === undefined) continue
    const { commit, subject = '', author = '' } = waits
    waiting.add(commit)
    about.set(commit, { source: name, commit, subject, author, committedMs: 0 })
  }
  for (const commit of commits) about.set(commit.commit, commit)
  const groups = byCause(events)
  // List a commit without changes too: it shows that the push arrived.
  for (const commit of commits) if (!groups.has(commit.commit)) groups.set(commit.commit, [])
  const chapters: Chapter[] = []
  for (const [commit, group] of groups) {
    const sorted = group.toSorted((a, b) => a.seq - b.seq)
    const known = commit === undefined ? undefined : about.get(commit)
    const firstMs = sorted[0]?.atMs ?? known?.seenMs ?? known?.committedMs
    if (firstMs === undefined) continue
    const beganMs = known === undefined || known.committedMs === 0 ? firstMs : Math.min(known.committedMs, firstMs)
    chapters.push({
      ...defined({ commit, source: known?.source }),
      ...(known === undefined || known.subject === '' ? {} : { subject: known.subject }),
      ...(known === undefined || known.author === '' ? {} : { author: known.author }),
      ...(known === undefined || known.committedMs === 0 ? {} : { committedMs: known.committedMs }),
      firstMs: beganMs,
      lastMs: sorted.at(-1)?.atMs ?? firstMs,
      ...(commit !== undefined && waiting.has(commit) ? { waits: true as const } : {}),
      warnings: sorted.filter(({ type }) => type === 'Warning').length,
      spans: spansOf(sorted, ...askedAt(sorted, known?.committedMs)),
      events: sorted,
    })
  }
  return chapters.toSorted((a, b) => b.lastMs - a.lastMs)
}

/**
 * Returns when croft could start: at the commit or, if its plan waited for approval, at the approval. The hours before
 * it do not count.
 */
function askedAt(events: readonly CroftEvent[], committedMs = 0): readonly [number | undefined, string] {
  const waited = events.findLastIndex(({ reason, key }) => reason === 'PlanWaits' && key === undefined)
  const inForce = waited === -1 ? undefined : events.slice(waited).find(({ reason }) => reason === 'Revision')
  if (inForce !== undefined) return [inForce.atMs, 'approval to first step']
  return [committedMs === 0 ? undefined : committedMs, 'commit to first step']
}

/**
 * Groups events by the causing revision. Files of a directory have no commit: an event of a resource after such a
 * revision belongs to it.
 */
function byCause(events: readonly CroftEvent[]): Map<string | undefined, CroftEvent[]> {
  let files: string | undefined
  return Map.groupBy(
    events.toSorted((a, b) => a.seq - b.seq),
    ({ commit, key }) => {
      if (commit?.startsWith('files-') === true) files = commit
      return commit ?? (key === undefined ? undefined : files)
    },
  )
}

/** Effects with their beginnings and ends. Events must be in their order. */
export function spansOf(
  events: readonly CroftEvent[],
  askedMs: number | undefined,
  wayThere = 'commit to first step',
): readonly Span[] {
  const spans: Span[] = []
  for (const [key, own] of Map.groupBy(events, (event) => event.key)) {
    if (key === undefined) continue
    const open = new Map<string, number>()
    let lastDoneMs: number | undefined
    let began = false
    const begin = (atMs: number) => {
      if (!began && askedMs !== undefined && askedMs < atMs)
        spans.push({ key, label: wayThere, fromMs: askedMs, toMs: atMs, kind: 'seen', failed: false })
      began = true
    }
    for (const { reason, message, atMs, type } of own) {
      if (reason === 'Started') {
        begin(atMs)
        open.set(message, atMs)
      } else if (reason === 'Done') {
        begin(atMs)
        spans.push({ key, label: message, fromMs: open.get(message) ?? atMs, toMs: atMs, kind: 'step', failed: false })
        open.delete(message)
        lastDoneMs = atMs
      } else if (reason === 'Ready' && lastDoneMs !== undefined) {
        if (atMs > lastDoneMs)
          spans.push({ key, label: 'until ready', fromMs: lastDoneMs, toMs: atMs, kind: 'settle', failed: false })
        lastDoneMs = undefined
      } else if (type === 'Warning') {
        const label = [...open.keys()].find((step) => message.startsWith(step))
        const fromMs = label === undefined ? undefined : open.get(label)
        if (label === undefined || fromMs === undefined) continue
        spans.push({ key, label, fromMs, toMs: atMs, kind: 'step', failed: true })
        open.delete(label)
      }
    }
    for (const [label, fromMs] of open) spans.push({ key, label, fromMs, kind: 'step', failed: false })
  }
  return spans.toSorted((a, b) => a.fromMs - b.fromMs || (a.key < b.key ? -1 : 1))
}
