import { ApiError, failed } from '../../api-error.ts'
import { listOf, type Thing } from '../shelf.ts'
import { complaintOfHours } from './notification-calendar.ts'
import { complaintOfPattern } from './notification-patterns.ts'

const SEVERITIES = /^(info|notice|warning|error|unknown)$/

/** Says no to what a matcher could never match by: its texts are read before anything is looked up. */
export function readMatcher(thing: Thing): void {
  for (const text of listOf(thing['match-severity'])) {
    for (const severity of words(text)) {
      if (!SEVERITIES.test(severity)) throw failed(`error: invalid severity ${severity}`)
    }
  }
  for (const text of listOf(thing['match-field'])) checkField(text)
  for (const text of listOf(thing['match-calendar'])) checkCalendar(text)
}

/** Says no to targets that are not there. What is kept is written as it was read: without blanks between words. */
export function checkMatcher(thing: Thing, exists: (target: string) => boolean): Thing {
  for (const target of listOf(thing.target)) {
    if (!exists(target)) throw new ApiError(404, `endpoint '${target}' does not exist`)
  }
  const kept = { ...thing }
  if (thing['match-severity'] !== undefined)
    kept['match-severity'] = listOf(thing['match-severity']).map((text) => words(text).join(','))
  if (thing['match-field'] !== undefined)
    kept['match-field'] = listOf(thing['match-field']).map((text) =>
      text.replace(/^(exact:[^=]*=)(.*)$/s, (_, before: string, values: string) => before + words(values).join(',')),
    )
  return kept
}

function words(text: string): string[] {
  return text.split(',').map((word) => word.trim())
}

function checkField(text: string): void {
  const [, how, pattern = ''] = /^(exact|regex):[A-Za-z0-9_][\w.-]*=(.*)$/.exec(text) ?? []
  if (how === undefined) throw failed(`error: could not apply filter: invalid match-field statement: ${text}`)
  const fault = how === 'regex' ? complaintOfPattern(pattern) : undefined
  if (fault !== undefined) throw failed(`error: could not apply filter: invalid regex: ${fault}`)
}

function checkCalendar(text: string): void {
  const fault = complaintOfHours(text)
  if (fault !== undefined) throw failed(`error: could not parse schedule: ${fault}`)
}
