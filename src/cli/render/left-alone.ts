import type { LeftAloneDocument } from '../runtime.ts'
import { many } from './problems.ts'

const SHOWN = 12

/** What was read and belongs to somebody else, by kind, most first: nothing is left out without a word. */
export function renderLeftAlone(documents: readonly LeftAloneDocument[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { apiVersion, kind, note } of documents) {
    const what = kind === '' ? (note ?? 'not a manifest') : `${kind} (${apiVersion})`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  const lines = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([what, n]) => `  ${n} × ${what}`)
  const more = lines.length - SHOWN
  return more > 0 ? [...lines.slice(0, SHOWN), `  and ${many(more, 'more kind')}; -o json lists every document`] : lines
}
