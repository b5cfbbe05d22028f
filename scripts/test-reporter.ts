import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** One line of JSON for each thing that the runner needs to know about a test file. */
export type ReportLine =
  | { readonly type: 'began'; readonly name: string }
  | { readonly type: 'passed'; readonly name: string }
  | { readonly type: 'skipped'; readonly name: string; readonly reason: string }
  | {
      readonly type: 'failed'
      readonly name: string
      readonly file?: string
      readonly line: number
      readonly error: string
    }
  | { readonly type: 'note'; readonly text: string }
  /** All tests of the file have ended. Without it the process died, or called process.exit, on the way. */
  | { readonly type: 'ended' }

/** The runner's own totals come as diagnostics too; we count ourselves. */
const CLOSING_COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

/** Loaded by node's test runner (`--test-reporter`) in the process of the test file. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const line = reportLine(event)
    if (line !== undefined) yield `${JSON.stringify(line)}\n`
  }
}

function reportLine(event: TestEvent): ReportLine | undefined {
  switch (event.type) {
    case 'test:pass':
    case 'test:fail': {
      const { name, skip, todo, details } = event.data
      // A suite is a heading: its tests are counted, and a failure of one is reported there.
      if (details.type === 'suite' && !suiteItselfFailed(event)) return undefined
      if (skip !== undefined && skip !== false) return { type: 'skipped', name, reason: reasonOf(skip) }
      if (todo !== undefined && todo !== false) return { type: 'skipped', name, reason: `todo: ${reasonOf(todo)}` }
      if (event.type === 'test:pass') return { type: 'passed', name }
      const { file, line = 0 } = event.data
      const place = file === undefined ? {} : { file: relative(process.cwd(), file) }
      return { type: 'failed', name, ...place, line, error: errorText(event.data.details.error) }
    }
    case 'test:dequeue':
      return event.data.type === 'test' ? { type: 'began', name: event.data.name } : undefined
    case 'test:diagnostic':
      return CLOSING_COUNT.test(event.data.message) ? undefined : { type: 'note', text: event.data.message }
    case 'test:summary':
      return { type: 'ended' }
    default:
      return undefined
  }
}

/** A hook or the body of the suite threw, rather than one of its tests. */
function suiteItselfFailed(event: TestEvent): boolean {
  return event.type === 'test:fail' && failureType(event.data.details.error) !== 'subtestsFailed'
}

function failureType(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'failureType' in error ? error.failureType : undefined
}

/** The runner wraps what a test threw; the cause is what a person wants to read. */
function errorText(error: Error): string {
  const cause = error.cause ?? error
  const text = typeof cause === 'string' ? cause : inspect(cause, { depth: 5, colors: false })
  return text.replace(/^ +at .*\(node:.*\n/gm, '')
}

function reasonOf(value: boolean | string): string {
  return typeof value === 'string' ? value : 'no reason given'
}
