import { z } from 'zod'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')

/** The range of each field of a cron line, and its names. */
const FIELDS: readonly { readonly from: number; readonly to: number; readonly words: readonly string[] }[] = [
  { from: 0, to: 59, words: [] },
  { from: 0, to: 23, words: [] },
  { from: 1, to: 31, words: [] },
  { from: 1, to: 12, words: MONTHS },
  { from: 0, to: 7, words: DAYS },
]

/** Five fields as in cron. */
export const schedule = z.string().max(200).refine(isSchedule, {
  error: 'five fields as in cron: minute, hour, day of the month, month, day of the week, like "0 */6 * * *"',
})

function isSchedule(text: string): boolean {
  const fields = text.split(' ')
  return (
    fields.length === FIELDS.length && fields.every((field, at) => field.split(',').every((one) => isPart(one, at)))
  )
}

function isPart(text: string, at: number): boolean {
  const match = /^(?:\*|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/([1-9][0-9]?))?$/i.exec(text)
  if (match === null) return false
  const [, first, last] = match
  if (first === undefined) return true
  const [from, to] = [numberOf(first, at), numberOf(last ?? first, at)]
  return from !== undefined && to !== undefined && from <= to
}

function numberOf(text: string, at: number): number | undefined {
  const field = FIELDS[at]
  if (field === undefined) return undefined
  const word = field.words.indexOf(text.toLowerCase())
  const value = word >= 0 ? word + field.from : /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= field.from && value <= field.to ? value : undefined
}
