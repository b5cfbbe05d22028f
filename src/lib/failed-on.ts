import { cleanText } from './clean-text.ts'

/** An exception while croft worked on some objects. The caller sets these aside and goes on with the rest. */
export class FailedOn extends Error {
  readonly keys: readonly string[]

  constructor(keys: readonly string[], cause: unknown) {
    super(causeOf(cause), { cause })
    this.name = 'FailedOn'
    this.keys = keys
  }
}

const final = new WeakSet<object>()

/** Marks an exception after which the process must not go on: the store is broken, or another controller has it. */
export function markFinal<T>(error: T): T {
  if (typeof error === 'object' && error !== null) final.add(error)
  return error
}

export function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && final.has(error)
}

/** Runs `work`. What it throws, now or later, names the objects that it was about. */
export function about<T>(keys: readonly string[], work: () => T): T {
  try {
    const done = work()
    if (!(done instanceof Promise)) return done
    return done.catch((error: unknown) => {
      throw blamed(keys, error)
    }) as T
  } catch (error) {
    throw blamed(keys, error)
  }
}

function blamed(keys: readonly string[], error: unknown): unknown {
  const isMeant = error instanceof FailedOn || isFinal(error) || (error instanceof Error && error.name === 'AbortError')
  return isMeant ? error : new FailedOn(keys, error)
}

/** Returns an error in one line for people. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return cleanText(String(error))
  return cleanText(
    error.name === 'Error' || error.name === 'FailedOn' ? error.message : `${error.name}: ${error.message}`,
  )
}

/** The code of a problem that croft itself is to blame for. */
export const FAILED = 'failed'

/** The problem with an object that croft failed on, without its place. */
export function failedOn(what: string, error: unknown) {
  return {
    code: FAILED,
    message: `croft failed on ${what} and leaves it as it is: ${causeOf(error)}`,
    hint: 'report this as a defect of croft; everything else goes on',
  }
}
