import { styleText } from 'node:util'
import { LIMITS } from '../../lib/limits.ts'

/**
 * The last gate before a terminal. Names, descriptions and error texts come from systems that may lie or be taken
 * over: an escape sequence in a guest's name must not move the cursor, set the window title or hide a line.
 */
export function clean(text: string, max: number = LIMITS.foreignTextLength): string {
  return escapeControls(bounded(text, max))
}

/** Cleans text like `clean`, but keeps line breaks: for excerpts and descriptions. */
export function cleanLines(text: string, max: number = LIMITS.foreignTextLength): string {
  return bounded(text, max)
    .split(/\r?\n/)
    .map((line) => escapeControls(line))
    .join('\n')
}

/** Any value on one line: strings as they are, everything else as JSON. */
export function cleanValue(value: unknown, max: number = LIMITS.shownValueLength): string {
  if (value === undefined || value === null) return '(none)'
  if (typeof value === 'string') return value === '' ? '""' : clean(value, max)
  return clean(JSON.stringify(value) ?? typeof value, max)
}

// Bounded before anything else looks at it: a name of 10 MB must not cost a regular expression over 10 MB.
function bounded(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed()
  return `${text.slice(0, max).toWellFormed()}… (${text.length - max} more characters)`
}

// Remove whole sequences first, so that `\x1b[31mred` becomes `red` and not `\x1b[31mred`.
const SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g

// The rest of C0, DEL, C1, the line separators, and the marks that reverse the direction of text.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function escapeControls(text: string): string {
  return text.replace(SEQUENCES, '').replace(CONTROLS, escaped)
}

function escaped(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\t') return ' '
  if (character === '\r') return '\\r'
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}

export type Paint = 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'gray' | 'bold' | 'dim'

/** How text is decorated. Renderers get one and never query the terminal. */
export interface Style {
  readonly colour: boolean
  paint(paint: Paint | readonly Paint[], text: string): string
}

export const PLAIN: Style = { colour: false, paint: (_paint, text) => text }

export const COLOURED: Style = {
  colour: true,
  paint: (paint, text) => styleText(typeof paint === 'string' ? paint : [...paint], text, { validateStream: false }),
}

/** FORCE_COLOR decides when it is set, then NO_COLOR, then whether a person is looking. */
export function styleFor(env: Readonly<Record<string, string | undefined>>, isTty: boolean): Style {
  const force = env.FORCE_COLOR
  if (force !== undefined) return force === '0' || force === 'false' ? PLAIN : COLOURED
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return PLAIN
  if (env.TERM === 'dumb') return PLAIN
  return isTty ? COLOURED : PLAIN
}
