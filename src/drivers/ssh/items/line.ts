import type { ObservedFile } from '../ask.ts'
import { editBack } from '../edit.ts'
import { change, type ItemRules } from '../item.ts'

/** One line in a file that others write too. */
export const line: ItemRules<'line'> = {
  type: 'line',
  queues: ({ spec }) => [`single/file${spec.path}`],
  asks: ({ spec }) => [{ ask: 'file', path: spec.path }],
  diff({ spec }, seen) {
    const there = textOf(seen.file(spec.path))
    if (there === undefined) return [unreadable(spec.path, seen.file(spec.path))]
    const wanted = withLine(there, spec)
    if (wanted === there) return []
    const old = there.split('\n').filter((one) => matches(one, spec))
    return [change('line', old.length === 0 ? null : old.join('\n'), spec.absent === true ? null : spec.line)]
  },
  commands({ spec }, seen) {
    const seenFile = seen.file(spec.path)
    const content = withLine(textOf(seenFile) ?? '', spec)
    const { mode, owner, group } = seenFile.kind === 'file' ? seenFile : { mode: 0o644, owner: 'root', group: 'root' }
    return [{ do: 'put', path: spec.path, content, mode, owner, group }]
  },
  undo({ spec }, seen) {
    const there = textOf(seen.file(spec.path))
    if (there === undefined) return undefined
    // Our line replaced all of them.
    const before = there
      .split('\n')
      .filter((one) => matches(one, spec))
      .join('\n')
    const created = seen.file(spec.path).kind === 'absent'
    return [editBack({ what: 'line', path: spec.path, ours: spec.line, before, created })]
  },
}

type LineSpec = Parameters<(typeof line)['asks']>[0]['spec']

export function textOf(seen: ObservedFile): string | undefined {
  return seen.kind === 'absent' ? '' : seen.content
}

export function unreadable(path: string, { kind, target }: ObservedFile) {
  const blocked =
    kind === 'link'
      ? { message: `${path} is a link to ${target}`, allow: 'name that file, or remove the link' }
      : { message: `${path} is not a text file of at most 128 KiB`, allow: 'declare the whole file instead' }
  return { ...change('content', '(not text)', '(text)'), blocked }
}

function matches(text: string, { line: wanted, match }: LineSpec): boolean {
  return text === wanted || (match !== undefined && text.trimStart().startsWith(match))
}

/** Returns the text with the line in place of the first match, without the others; at the end without a match. */
export function withLine(text: string, spec: LineSpec): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const first = lines.findIndex((one) => matches(one, spec))
  const kept = lines.filter((one, index) => index === first || !matches(one, spec))
  if (spec.absent === true) {
    if (first < 0) return text
    kept.splice(first, 1)
  } else if (first >= 0) {
    // The file is right with or without a newline at its end.
    if (lines[first] === spec.line && kept.length === lines.length) return text
    kept[first] = spec.line
  } else kept.push(spec.line)
  return kept.length === 0 ? '' : `${kept.join('\n')}\n`
}
