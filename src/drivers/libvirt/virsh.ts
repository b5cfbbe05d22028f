import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Random } from '../../lib/random.ts'
import { type Ran, type Shell, ShellFailure } from '../../lib/shell.ts'
import type { Outcome, Refusal } from '../../model/step.ts'
import { ObservationFailed } from '../port.ts'
import { translate } from './virsh-errors.ts'

/** virsh on the host, one process per observation, one per write. */
export interface Virsh {
  /**
   * Runs all questions in one process, since starting virsh and opening its connection costs more than a hundred
   * answers. Each answer is the output, empty where virsh says that the thing does not exist. Any other error goes to
   * `unread`, or is thrown: it proves nothing about what exists.
   */
  ask(
    questions: readonly (readonly string[])[],
    doing: string,
    signal: AbortSignal,
    unread?: (at: number, refusal: Refusal) => void,
  ): Promise<readonly string[]>
  /** The same for questions whose error is an answer: an agent that is silent, a snapshot that nothing stands on. */
  hear(questions: readonly (readonly string[])[], doing: string, signal: AbortSignal): Promise<readonly string[]>
  /** Runs one command that must answer. Undefined: virsh says that the thing does not exist. */
  read(words: readonly string[], doing: string, signal: AbortSignal): Promise<string | undefined>
  /** Runs one writing command. `says` is virsh's answer on success. */
  write(
    words: readonly string[],
    options: { readonly doing: string; readonly says: RegExp; readonly input?: string | Uint8Array },
    signal: AbortSignal,
  ): Promise<Outcome>
  /** Runs any other program on the host. */
  run(argv: readonly string[], doing: string, signal: AbortSignal): Promise<Ran>
}

export function createVirsh(shell: Shell, uri: string, random: Random): Virsh {
  // In English, as the table of errors expects.
  const virsh = ['env', 'LC_ALL=C', 'virsh', '-c', uri]

  const look = async (argv: readonly string[], doing: string, signal: AbortSignal, input?: string): Promise<Ran> => {
    try {
      return await shell.run(argv, { signal, ...(input === undefined ? {} : { input }) })
    } catch (error) {
      if (!(error instanceof ShellFailure)) throw error
      throw new ObservationFailed(refusalOf(error, doing))
    }
  }

  const batch = async (questions: readonly (readonly string[])[], doing: string, signal: AbortSignal) => {
    const mark = `croft-${Math.floor(random.next() * 2 ** 48).toString(36)}`
    const lines = [
      // virsh's banner comes before this line.
      `echo "${mark}" "begin"`,
      ...questions.flatMap((words, at) => [words.map(quoted).join(' '), `echo "${mark}" "${at}"`]),
    ]
    const ran = await look(virsh, doing, signal, `${lines.join('\n')}\n`)
    const answers = splitAnswers(ran.stdout, mark, questions.length)
    if (answers === undefined) throw new ObservationFailed(unanswered(ran, doing))
    return { answers, failed: /^error:/m.test(ran.stderr) }
  }

  const read: Virsh['read'] = async (words, doing, signal) => {
    const ran = await look([...virsh, ...words], doing, signal)
    if (ran.code === 0) return ran.stdout
    const refusal = translate({ text: `${ran.stderr}\n${ran.stdout}`, doing })
    if (refusal.reason === 'NotFound' || refusal.reason === 'NotSupported') return undefined
    throw new ObservationFailed(refusal)
  }

  /** Errors come on a stream of their own, without a word of what they are about: what stayed empty is asked again alone. */
  const again = async (
    words: readonly string[],
    doing: string,
    signal: AbortSignal,
    unread: ((refusal: Refusal) => void) | undefined,
  ): Promise<string> => {
    try {
      return ((await read(words, doing, signal)) ?? '').trim()
    } catch (error) {
      const isOne = error instanceof ObservationFailed && error.refusal.connectionWide !== true
      if (!isOne || unread === undefined) throw error
      unread(error.refusal)
      return ''
    }
  }

  return {
    async ask(questions, doing, signal, unread) {
      if (questions.length === 0) return []
      const { answers, failed } = await batch(questions, doing, signal)
      if (!failed) return answers
      const sure: string[] = []
      for (const [at, answer] of answers.entries()) {
        const tell = unread === undefined ? undefined : (refusal: Refusal) => unread(at, refusal)
        sure.push(answer === '' ? await again(questions[at] ?? [], doing, signal, tell) : answer)
      }
      return sure
    },
    async hear(questions, doing, signal) {
      return questions.length === 0 ? [] : (await batch(questions, doing, signal)).answers
    },
    read,
    async write(words, { doing, says, input }, signal) {
      if (signal.aborted) return { result: 'not-sent', message: `could not ${doing}: it was called off` }
      let ran: Ran
      try {
        const argv = [...virsh, ...words]
        ran =
          input === undefined
            ? await shell.run(argv, { signal })
            : await shell.run(['sh', '-c', THROUGH_A_PIPE, 'croft', ...argv], { signal, input })
      } catch (error) {
        if (!(error instanceof ShellFailure)) throw error
        return outcomeOf(error, doing)
      }
      if (ran.code === 0 && says.test(ran.stdout)) return { result: 'done' }
      if (ran.code !== 0 && /^error:|not found|denied/m.test(ran.stderr))
        return { result: 'refused', refusal: translate({ text: ran.stderr, doing }) }
      return { result: 'unclear', message: `could not tell whether it did ${doing}: virsh did not say so` }
    },
    run: (argv, doing, signal) => look(argv, doing, signal),
  }
}

/** virsh opens /dev/stdin by name, which fails with a shell's socket. */
const THROUGH_A_PIPE = 'cat | "$@"'

/** Returns the outcome of a write without an answer. */
export function outcomeOf(error: ShellFailure, doing: string): Outcome {
  const message = `could not ${doing}: ${cleanText(error.message)}`
  if (error.ran === 'maybe') return { result: 'unclear', message }
  const refusal = refusalOf(error, doing)
  return refusal.meaning === 'stalled' ? { result: 'refused', refusal } : { result: 'not-sent', message }
}

const NOT_LET_IN: Readonly<Record<string, string>> = { denied: 'Unauthorized', 'host-key': 'HostKeyMismatch' }

export function refusalOf(error: ShellFailure, doing: string): Refusal {
  const reason = NOT_LET_IN[error.code]
  return {
    reason: reason ?? 'Unreachable',
    meaning: reason === undefined ? 'backoff' : 'stalled',
    message: `could not ${doing}: ${cleanText(error.message)}`,
    connectionWide: true,
  }
}

function unanswered(ran: Ran, doing: string): Refusal {
  const refusal = translate({ text: ran.stderr, doing })
  // Without any answer, all of the connection is unknown.
  return { ...refusal, connectionWide: true }
}

/** Quotes a word for virsh's command line. */
function quoted(word: string): string {
  if (/^[A-Za-z0-9_./:@=+-]+$/.test(word)) return word
  return `"${word.replace(/[\n\r\0]/g, ' ').replace(/["\\]/g, '\\$&')}"`
}

/**
 * Returns the answers between the marks. virsh echoes its prompt and each input line; those lines hold the mark in
 * quotes, the answer to `echo` does not.
 */
function splitAnswers(output: string, mark: string, count: number): readonly string[] | undefined {
  if (output.length > LIMITS.commandOutputBytes) return undefined
  const answers: string[] = []
  const begin = output.indexOf(`${mark} begin`)
  if (begin === -1) return undefined
  let from = begin + `${mark} begin`.length
  for (let at = 0; at < count; at++) {
    const end = output.indexOf(`${mark} ${at}`, from)
    if (end === -1) return undefined
    answers.push(
      output
        .slice(from, end)
        .split('\n')
        .filter((line) => !/^virsh [#>] /.test(line))
        .join('\n')
        .trim(),
    )
    from = end + `${mark} ${at}`.length
  }
  return answers
}
