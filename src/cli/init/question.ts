import { note } from '../output.ts'
import { clean } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, UsageError } from '../verb.ts'

/** A setting that init needs: from a flag, a question, or an observation. */
export interface InitQuestion<T> {
  /** `--bridge` */
  readonly flag: string
  /** The flag's value. */
  readonly given: unknown
  /** `Bridge for the machines` */
  readonly words: string
  /** The default: taken if a person only presses Enter, or if there is no terminal. */
  readonly proposed?: string | undefined
  read(text: string): ReadAnswer<T>
}

export type ReadAnswer<T> = { readonly is: T } | { readonly problem: string }

const MOST_TRIES = 5

/**
 * Returns an answer that `read` accepts. A wrong flag is refused at once; a person sees the problem and is asked again.
 * Without a terminal and a default, the error names the flag.
 */
export async function answerTo<T>(runtime: Runtime, question: InitQuestion<T>, mayAsk: boolean): Promise<T> {
  const { flag, given, words, proposed } = question
  if (typeof given === 'string') {
    const answer = question.read(given)
    if ('problem' in answer) throw new UsageError(`${flag} ${given}: ${answer.problem}.`)
    return answer.is
  }
  if (!mayAsk) {
    if (proposed === undefined) throw new UsageError(`${words}: add ${flag}. Nobody is at the terminal to ask.`)
    const answer = question.read(proposed)
    if ('problem' in answer) throw new UsageError(`${words}: ${answer.problem}. Choose another with ${flag}.`)
    return answer.is
  }
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const typed = await runtime.ask(`${words}${proposed === undefined ? '' : ` (${clean(proposed)})`}: `)
    if (typed === undefined) break
    const answer = question.read(typed === '' ? (proposed ?? '') : typed)
    if ('is' in answer) return answer.is
    note(runtime, `  ${answer.problem}.`)
  }
  throw new CliError('Not everything is written yet. Run croft init again to go on where it stands.')
}

/** Accepts one of these names. */
export function oneOf(names: readonly string[], what: string): (text: string) => ReadAnswer<string> {
  return (text) => {
    if (names.includes(text)) return { is: text }
    const there = names.length === 0 ? 'there is none' : `there is ${names.join(', ')}`
    return { problem: `every host must have ${what}; ${there}` }
  }
}
