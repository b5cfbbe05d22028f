import { cleanText } from '../../lib/clean-text.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { Outcome } from '../../model/step.ts'

export async function run(shell: Shell, argv: readonly string[], signal: AbortSignal): Promise<Outcome> {
  try {
    const { code, stderr } = await shell.run(argv, { signal })
    if (code === 0) return { result: 'done' }
    const message = cleanText(`${argv[0] ?? ''} ended with ${code}: ${stderr.slice(0, 500)}`)
    return { result: 'refused', refusal: { reason: 'CommandFailed', meaning: 'backoff', message } }
  } catch (error) {
    if (error instanceof ShellFailure && error.ran === 'no') return { result: 'not-sent', message: error.message }
    return { result: 'unclear', message: wordsOf(error) }
  }
}

export function stalled(message: string): Outcome {
  return { result: 'refused', refusal: { reason: 'CannotSwitch', meaning: 'stalled', message } }
}

export function wordsOf(error: unknown): string {
  return cleanText(error instanceof Error ? error.message : String(error))
}
