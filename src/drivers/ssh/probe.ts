import { LIMITS } from '../../lib/limits.ts'
import { askKey, type HostAnswer, type HostQuestion } from './ask.ts'

/** A host's answers. */
export interface Probed {
  readonly answers: ReadonlyMap<string, HostAnswer>
  /** The texts of croft's marks on the host. */
  readonly marks: readonly string[]
  /** `id` changes at every start of the host; `cpus`; `load`; `memory` and `free` in KiB; `sensors`, one per line. */
  readonly host: Readonly<Record<string, string>>
}

const MARKS = 0
const BOOT = 1
const FIRST = 2

/** Returns the questions in the probe's form, without duplicates. */
export function probeInput(asks: readonly HostQuestion[]): { readonly text: string; readonly keys: readonly string[] } {
  const lines = new Map<string, string[]>()
  for (const ask of asks) {
    const key = askKey(ask)
    const words = wordsOf(ask)
    const before = lines.get(key)
    // If two items expect different content of one file, its content is always returned.
    const same = before === undefined || before.join(' ') === words.join(' ')
    lines.set(key, same ? words : wordsOf(ask.ask === 'file' ? { ask: 'file', path: ask.path } : ask))
  }
  const numbered = [...lines.values()].map((words, index) => `${index + FIRST} ${words.join(' ')}\n`)
  return { text: `${MARKS} marks\n${BOOT} boot\n${numbered.join('')}`, keys: [...lines.keys()] }
}

function wordsOf(ask: HostQuestion): string[] {
  switch (ask.ask) {
    case 'file':
      return ['file', word(ask.path), word(ask.sha256 ?? 'none')]
    case 'package':
    case 'unit':
    case 'module':
      return [ask.ask, word(ask.name)]
    case 'sysctl':
      return ['sysctl', word(ask.key)]
    case 'run':
      return ['run', ...ask.argv.map(word)]
  }
}

/** Encodes any text as one word for croft's programs on a host. NUL cannot be in a word and is dropped. */
export function word(text: string): string {
  let coded = '='
  for (const byte of Buffer.from(text.replaceAll('\0', ''), 'utf8')) {
    const char = String.fromCharCode(byte)
    coded += /[A-Za-z0-9_./:=@%+,-]/.test(char) ? char : `\\0${byte.toString(8).padStart(3, '0')}`
  }
  return coded
}

/** Returns undefined if the answer was cut off or is malformed. */
export function readProbe(output: string, keys: readonly string[]): Probed | undefined {
  if (!output.endsWith('\nend\n') && output !== 'end\n') return undefined
  const found = new Map<number, Record<string, string>>()
  const marks: string[] = []
  const host: Record<string, string> = {}
  for (const line of output.split('\n')) {
    const match = /^([0-9]+) ([a-z0-9]+) ?(.*)$/.exec(line)
    if (match === null) continue
    const [, number = '', name = '', raw = ''] = match
    const value = raw.startsWith(':') ? decoded(raw.slice(1)) : raw
    if (value === undefined) continue
    if (Number(number) === MARKS) {
      if (marks.length < LIMITS.itemsPerHost) marks.push(value)
    } else if (Number(number) === BOOT) host[name] = value
    else {
      const answer = found.get(Number(number)) ?? {}
      answer[name] = value
      found.set(Number(number), answer)
    }
  }
  return { answers: new Map(keys.map((key, index) => [key, found.get(index + FIRST) ?? {}])), marks, host }
}

/** Only text: content that is not UTF-8 can be neither compared nor shown. */
function decoded(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    return undefined
  }
}
