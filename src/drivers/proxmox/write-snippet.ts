import { createHash } from 'node:crypto'
import type { Shell } from '../../lib/shell.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome } from '../../model/verdict.ts'
import { translate } from './api-errors.ts'
import { cleanText } from './foreign.ts'

/** Writes a text to where its storage keeps such files, unless it stands there already. */
export async function writeSnippet(shell: Shell, step: Step, text: string, signal: AbortSignal): Promise<Outcome> {
  const id = decodeURIComponent(step.call.path.split('/').at(-1) ?? '')
  const asked = await shell.run(['pvesm', 'path', id], { signal })
  const file = asked.stdout.trim()
  const name = id.slice(id.indexOf(':') + 1)
  // Whatever answers there is not asked for a place to write to: only for the folder before the name.
  if (asked.code !== 0 || !file.startsWith('/') || !file.endsWith(`/${name}`) || /[\0\n]|\/\.\.\//.test(file)) {
    const said = cleanText(asked.stderr.trim() === '' ? file : asked.stderr.trim()) || `code ${asked.code}`
    return { result: 'refused', refusal: translate({ text: said, doing: step.summary, host: step.host }) }
  }
  const there = await shell.readFile(file, signal)
  if (there !== undefined && createHash('sha256').update(there).digest('hex') === step.call.params.sha256)
    return { result: 'done' }
  await shell.writeFile(file, text, { mode: Number.parseInt(step.call.params.mode ?? '0644', 8), signal })
  return { result: 'done' }
}
