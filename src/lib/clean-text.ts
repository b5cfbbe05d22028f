import { LIMITS } from './limits.ts'

const ESCAPE_SEQUENCE = /\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
// Control characters, and the invisible ones that turn the direction of the text around on a terminal.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const CONTROLS = new RegExp(CONTROL.source, 'g')

/** Text that may reach a terminal: one line, no control characters, not longer than `most`. */
export function cleanText(text: string, most: number = LIMITS.foreignTextLength): string {
  const cut = text.length > most * 4 ? text.slice(0, most * 4) : text
  const clean = CONTROL.test(cut) ? cut.replace(ESCAPE_SEQUENCE, '').replace(CONTROLS, ' ').trim() : cut
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean
}
