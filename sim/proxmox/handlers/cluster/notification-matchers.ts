import { ApiError, failed } from '../../api-error.ts'
import type { Call } from '../../call.ts'
import { listOf, type Thing } from '../shelf.ts'

const SEVERITIES = /^(info|notice|warning|error|unknown)$/
const DAY = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*((\.\.|-)(mon|tue|wed|thu|fri|sat|sun)[a-z]*)?$/i

/** Says no to what a matcher could never match by, and to targets that are not there. */
export function checkMatcher(_call: Call, thing: Thing, exists: (target: string) => boolean): void {
  for (const text of listOf(thing['match-severity'])) {
    for (const severity of text.split(',')) {
      if (!SEVERITIES.test(severity.trim())) throw failed(`error: invalid severity ${severity}`)
    }
  }
  for (const text of listOf(thing['match-field'])) checkField(text)
  for (const text of listOf(thing['match-calendar'])) checkCalendar(text)
  for (const target of listOf(thing.target)) {
    if (!exists(target)) throw new ApiError(404, `endpoint '${target}' does not exist`)
  }
}

function checkField(text: string): void {
  const [, how, pattern = ''] = /^(exact|regex):[^=]+=(.*)$/s.exec(text) ?? []
  if (how === undefined) throw failed(`error: could not apply filter: invalid match-field statement: ${text}`)
  if (how === 'exact' || isRegex(pattern)) return
  const mark = `${' '.repeat(4 + Math.max(0, pattern.indexOf('(')))}^`
  throw failed(
    `error: could not apply filter: invalid regex: regex parse error:\n    ${pattern}\n${mark}\nerror: unclosed group`,
  )
}

function isRegex(pattern: string): boolean {
  try {
    new RegExp(pattern)
    return true
  } catch {
    return false
  }
}

function checkCalendar(text: string): void {
  const [first = ''] = text.trim().split(/\s+/)
  const right = /^\d/.test(first) || first.split(',').every((part) => DAY.test(part))
  if (!right) {
    throw failed(`error: could not parse schedule: unable to parse daily duration at '${first}' - Context("weekday")`)
  }
}
