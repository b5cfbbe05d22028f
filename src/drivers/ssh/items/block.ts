import type { ObservedFile } from '../ask.ts'
import type { Command } from '../command.ts'
import { editBack } from '../edit.ts'
import { change, type ItemRules } from '../item.ts'
import { textOf, unreadable } from './line.ts'

/** Several lines in a file that others write too, between two marker lines. */
export const block: ItemRules<'block'> = {
  type: 'block',
  queues: ({ spec }) => [`single/file${spec.path}`],
  asks: ({ spec }) => [{ ask: 'file', path: spec.path }],
  diff({ spec }, seen) {
    const there = textOf(seen.file(spec.path))
    if (there === undefined) return [unreadable(spec.path, seen.file(spec.path))]
    const wanted = spec.absent === true ? undefined : spec.content
    if (withBlock(there, spec.block, wanted) === there) return []
    return [change('block', blockIn(there, spec.block) ?? null, wanted ?? null)]
  },
  commands({ spec }, seen) {
    const seenFile = seen.file(spec.path)
    const content = withBlock(textOf(seenFile) ?? '', spec.block, spec.absent === true ? undefined : spec.content)
    const { mode, owner, group } = seenFile.kind === 'file' ? seenFile : { mode: 0o644, owner: 'root', group: 'root' }
    return [{ do: 'put', path: spec.path, content, mode, owner, group }]
  },
  undo: ({ spec }, seen) => blockBack(spec.path, spec.block, seen.file(spec.path)),
}

const begin = (name: string) => `# croft begins: ${name}`
const end = (name: string) => `# croft ends: ${name}`

/** Restores the former block, or removes it; the rest of the file stays. */
export function blockBack(path: string, name: string, seen: ObservedFile): readonly Command[] | undefined {
  const there = textOf(seen)
  if (there === undefined) return undefined
  const before = blockIn(there, name) ?? ''
  return [editBack({ what: 'block', path, ours: begin(name), end: end(name), before, created: seen.kind === 'absent' })]
}

export function blockIn(text: string, name: string): string | undefined {
  const lines = text.split('\n')
  const [from, to] = placeIn(lines, name)
  return from < 0 ? undefined : lines.slice(from + 1, to).join('\n')
}

/**
 * Returns its first and last line, or -1 if it is absent. A first line without a last one is torn, and the text after
 * it is foreign: so a block starts at the nearest first line before its end.
 */
function placeIn(lines: readonly string[], name: string): readonly [number, number] {
  for (const [to, line] of lines.entries()) {
    const from = line === end(name) ? lines.lastIndexOf(begin(name), to) : -1
    if (from >= 0) return [from, to]
  }
  return [-1, -1]
}

/** Returns the text with the block in its place, or at the end if it has none; without it if there is no content. */
export function withBlock(text: string, name: string, content: string | undefined): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const [from, to] = placeIn(lines, name)
  const whole = content === undefined ? [] : [begin(name), ...content.replace(/\n$/, '').split('\n'), end(name)]
  if (from >= 0) {
    const before = lines.splice(from, to - from + 1, ...whole)
    if (before.join('\n') === whole.join('\n')) return text
  } else if (content === undefined) return text
  else lines.push(...whole)
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
