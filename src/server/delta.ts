import { eachInSteps, type Steps } from '../lib/in-turns.ts'
import type { Page, Row } from './api/schemas.ts'
import { shownJson } from './shown-json.ts'

/** The parts of the page that are sent whole when anything in them changes. Rows are sent one by one. */
export const SECTIONS = [
  'sources',
  'problems',
  'connections',
  'hosts',
  'clusters',
  'power',
  'drifts',
  'checks',
  'pass',
  'ready',
] as const
type Section = (typeof SECTIONS)[number]

export interface Delta extends Partial<Pick<Page, Section>> {
  readonly version: number
  readonly atMs: number
  readonly rows?: readonly Row[]
  readonly gone?: readonly string[]
}

/** A page in a form that is cheap to compare with the next. */
export interface Pictured {
  readonly page: Page
  readonly sections: Readonly<Record<Section, string>>
  readonly rows: ReadonlyMap<string, string>
}

export function* picture(page: Page): Steps<Pictured> {
  const sections = yield* eachInSteps(SECTIONS, (name) => [name, shownJson(page[name] ?? null)] as const)
  const rows = yield* eachInSteps(page.rows, (row) => [row.key, shownJson(row)] as const)
  return { page, sections: Object.fromEntries(sections) as Record<Section, string>, rows: new Map(rows) }
}

/** Returns the changes for a listener who has `before`. Undefined: none. */
export function deltaOf(before: Pictured, after: Pictured): Delta | undefined {
  const changed = SECTIONS.filter((name) => before.sections[name] !== after.sections[name])
  const rows = after.page.rows.filter((row) => before.rows.get(row.key) !== after.rows.get(row.key))
  const gone = [...before.rows.keys()].filter((key) => !after.rows.has(key))
  if (changed.length === 0 && rows.length === 0 && gone.length === 0) return undefined
  return {
    version: after.page.version,
    atMs: after.page.atMs,
    ...(Object.fromEntries(changed.map((name) => [name, after.page[name]])) as Partial<Pick<Page, Section>>),
    ...(rows.length === 0 ? {} : { rows }),
    ...(gone.length === 0 ? {} : { gone }),
  }
}
