import type { PlanEntry } from '../../../model/plan.ts'
import type { Change } from '../../../model/resource.ts'

import { closing, existingState } from '../../load.ts'
import { styleOf } from '../../output.ts'
import { renderPlan } from '../../render/plan.ts'
import { blindExit } from '../../render/plan-summary.ts'
import { clean, type Style } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { EXIT, type ExitCode, type Options } from '../../verb.ts'
import type { NamedHost } from './find.ts'

/** What would change on one host, with the lines of every file. Exit 2 when something would. */
export async function diff(runtime: Runtime, host: NamedHost, options: Options): Promise<ExitCode> {
  const { loaded, real, declaration } = host
  const connection = `host/${declaration.name}`
  const estate = {
    ...loaded.estate,
    connections: loaded.estate.connections.filter(({ name }) => name === connection),
    resources: loaded.estate.resources.filter((one) => one.connection === connection),
  }
  if (estate.resources.length === 0) {
    runtime.out.write(`No HostConfig is for ${declaration.name}.\n`)
    return EXIT.ok
  }
  await using store = await existingState(runtime, real, options)
  await using engine = closing(await runtime.openEngine(store.it, { directory: real }))
  const plan = await engine.it.plan(estate, runtime.signal)
  const blind = blindExit(plan)
  const style = styleOf(runtime, runtime.out)
  if (blind !== undefined) {
    runtime.out.write(renderPlan(plan, style))
    return blind
  }
  const differing = plan.entries.filter(({ action }) => action.do !== 'nothing')
  runtime.out.write(differing.map((entry) => renderEntry(entry, style)).join(''))
  const count = `${differing.length} of ${plan.entries.length} items of ${declaration.name} differ.\n`
  runtime.out.write(
    differing.length === 0 ? `${declaration.name} is as declared: ${plan.entries.length} items.\n` : count,
  )
  return differing.length === 0 ? EXIT.ok : EXIT.differs
}

function renderEntry({ externalId, key, action }: PlanEntry, style: Style): string {
  const head = `${style.paint('bold', clean(externalId ?? key))}\n`
  if (action.do === 'refuse' || action.do === 'hold')
    return `${head}  ${style.paint('yellow', `${action.do === 'hold' ? 'held' : 'refused'}: ${clean(action.reason)}`)}\n  to allow: ${clean(action.allow)}\n`
  if (action.do === 'wait') return `${head}  ${clean(action.message)}\n`
  if (action.do === 'delete') return `${head}  ${clean(action.steps[0]?.summary ?? 'taken back')}\n`
  return `${head}${('changes' in action ? action.changes : []).map((one) => renderChange(one, style)).join('')}`
}

function renderChange({ path, from, to, effect, secret }: Change, style: Style): string {
  const after = effect === 'restart' ? ' (after a restart)' : ''
  if (secret === true) return `  ${clean(path)}: *** → ***${after}\n`
  if (typeof to === 'string' && (to.includes('\n') || (typeof from === 'string' && from.includes('\n')))) {
    const lines = lineDiff(typeof from === 'string' ? from : '', to)
    return `  ${clean(path)}:${after}\n${lines.map((line) => `    ${style.paint(line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim', clean(line))}\n`).join('')}`
  }
  return `  ${clean(path)}: ${show(from)} → ${show(to)}${after}\n`
}

function show(value: unknown): string {
  return value === null || value === undefined
    ? '(nothing)'
    : clean(typeof value === 'string' ? value : JSON.stringify(value))
}

/** More lines than this are compared at both ends only: the table would grow with the square. */
const MOST_LINES = 2_000

/** `-old`, `+new` and up to two lines around them, in order. */
function lineDiff(from: string, to: string): readonly string[] {
  const [a, b] = [linesOf(from), linesOf(to)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const before = a.slice(Math.max(0, start - 2), start).map((line) => ` ${line}`)
  const after = a.slice(a.length - end, a.length - end + 2).map((line) => ` ${line}`)
  return [...before, ...middle, ...after]
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** By the longest common run of lines. */
function compare(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length * b.length > MOST_LINES * MOST_LINES)
    return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)]
  const width = b.length + 1
  const table = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0)
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i]}`)
      i++
      j++
    } else if (j >= b.length || (i < a.length && (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0)))
      lines.push(`-${a[i++]}`)
    else lines.push(`+${b[j++]}`)
  }
  return lines
}
