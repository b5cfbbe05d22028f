import type { Check } from '../../drivers/port.ts'
import { API_VERSION } from './plan-json.ts'
import { many } from './problems.ts'
import { clean, type Style } from './text.ts'

/** One connection with its findings. */
export interface Examination {
  readonly connection: string
  readonly endpoint: string
  readonly checks: readonly Check[]
}

/** `✔`, `!` or `✗`, what was found, and beneath it what to do. */
export function renderExaminations(examinations: readonly Examination[], style: Style): string {
  const blocks = examinations.map(({ connection, endpoint, checks }) => {
    const title = style.paint('bold', `${clean(connection)}  ${clean(endpoint)}`)
    return [title, ...checks.flatMap((check) => checkLines(check, style))].join('\n')
  })
  return `${[...blocks, summary(examinations)].join('\n\n')}\n`
}

function checkLines(check: Check, style: Style): string[] {
  const [sign, paint] = SIGNS[check.level]
  return [
    `  ${style.paint(paint, sign)} ${clean(check.found)}`,
    ...(check.details ?? []).map((line) => `      ${style.paint('dim', clean(line))}`),
    ...(check.fix ?? []).map((line) => `      ${style.paint('cyan', '→')} ${clean(line)}`),
  ]
}

const SIGNS = {
  ok: ['✔', 'green'],
  warning: ['!', 'yellow'],
  wrong: ['✗', 'red'],
} as const

function summary(examinations: readonly Examination[]): string {
  const checks = examinations.flatMap((one) => one.checks)
  const wrong = checks.filter(({ level }) => level === 'wrong').length
  const warnings = checks.filter(({ level }) => level === 'warning').length
  if (wrong === 0 && warnings === 0) return 'All is well.'
  const parts = [wrong > 0 ? `${wrong} wrong` : '', warnings > 0 ? many(warnings, 'warning') : '']
  return `${parts.filter((part) => part !== '').join(', ')}.`
}

export function examinationsJson(examinations: readonly Examination[]): unknown {
  const healthy = !examinations.some(({ checks }) => checks.some(({ level }) => level === 'wrong'))
  return { apiVersion: API_VERSION, kind: 'Examination', healthy, connections: examinations }
}

/** The commands for each connection. With one connection they can be given to a shell as they are. */
export function renderRoles(
  roles: readonly { readonly connection: string; readonly commands: readonly string[] }[],
): string {
  const blocks = roles.map(({ connection, commands }) => {
    const heading = `# For the connection ${clean(connection)}, as root on one of its hosts:`
    return [heading, ...commands.map((line) => clean(line, Number.POSITIVE_INFINITY))].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}
