import type { HostCommand } from './host-command.ts'
import { textAt } from './host-state.ts'

/** Lines of a file are taken back: croft's program for that, as far as its effects go. */
export const editHost: HostCommand = ({ box, words }) => {
  const [what = '', path = '', ours = '', end = '', before = '', created = ''] = words
  const { files } = box.machine
  if (files.read(path) === undefined) return {}
  const lines = textAt(box, path).replace(/\n$/, '').split('\n')
  if (what === 'words') {
    files.write(
      path,
      lines.map((line) => `${line.startsWith(ours) ? withWords(line, ours, end, before) : line}\n`).join(''),
    )
    return {}
  }
  const [from, to] = what === 'block' ? [lines.indexOf(ours), lines.indexOf(end)] : placeOf(lines, what, ours)
  const whole = before === '' ? [] : what === 'block' ? [ours, ...before.split('\n'), end] : [before]
  if (from >= 0 && to >= from) lines.splice(from, to - from + 1, ...whole)
  else if (before !== '' && !lines.includes(before)) lines.push(...whole)
  const left = lines.filter((line) => line !== '')
  if (left.length === 0 && created === 'new') files.remove(path)
  else files.write(path, lines.map((line) => `${line}\n`).join(''))
  return {}
}

function placeOf(lines: readonly string[], what: string, ours: string): readonly [number, number] {
  const at = lines.findIndex((line) => (what === 'line' ? line === ours : line.split(/\s+/)[1] === ours))
  return [at, at]
}

/** The line without these words and with those. */
function withWords(line: string, prefix: string, gone: string, back: string): string {
  const text = line.slice(prefix.length)
  const quote = text.startsWith('"') ? '"' : ''
  const words = `${text.replaceAll('"', '')} ${back}`.split(' ').filter((word) => !gone.split(' ').includes(word))
  return `${prefix}${quote}${[...new Set(words)].join(' ')}${quote}`
}
