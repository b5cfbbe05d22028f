import { type LineEdit, lineDiff } from '../../../lib/line-diff.ts'
import { changedEstate } from '../../../model/estate.ts'
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

/** Shows the changes of one host, with the lines of each file. Exits with 2 if there are any. */
export async function diff(runtime: Runtime, host: NamedHost, options: Options): Promise<ExitCode> {
  const { loaded, real, declaration } = host
  const connection = `host/${declaration.name}`
  const estate = changedEstate(loaded.estate, (whole) => ({
    ...whole,
    connections: whole.connections.filter(({ name }) => name === connection),
    resources: whole.resources.filter((one) => one.connection === connection),
  }))
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
    const lines = changedLines(typeof from === 'string' ? from : '', to)
    return `  ${clean(path)}:${after}\n${lines.map((line) => `    ${style.paint(line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim', clean(line))}\n`).join('')}`
  }
  return `  ${clean(path)}: ${show(from)} → ${show(to)}${after}\n`
}

function show(value: unknown): string {
  return value === null || value === undefined
    ? '(nothing)'
    : clean(typeof value === 'string' ? value : JSON.stringify(value))
}

/** `-old`, `+new` and up to two lines around them, in order. */
function changedLines(from: string, to: string): readonly string[] {
  const edits = lineDiff(linesOf(from), linesOf(to))
  const isEdit = ({ sign }: LineEdit) => sign !== ' '
  const last = edits.findLastIndex(isEdit)
  // The files may differ only in the line break at their end, which is not a line.
  const first = last === -1 ? edits.length : edits.findIndex(isEdit)
  return edits
    .slice(Math.max(0, first - 2), last === -1 ? undefined : last + 3)
    .map(({ sign, text }) => `${sign}${text}`)
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
